import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

/// Tags between the wire, where they are texts, and the hub.
enum WireTags {
    /// Reads the tags of a client; the hub counts them. Throws `invalid-field` with the place. The two special forms are told to clients, so they come
    /// back when a client stores what it read; they mean nothing, because the server alone gives them.
    static func read(_ texts: [String]) throws(ServiceError) -> [Tag] { try parsed(texts).tags }

    /// The same with the two special forms apart.
    static func parsed(_ texts: [String]) throws(ServiceError) -> RegistrationTags {
        do throws(RegistrationTagsError) {
            return try RegistrationTags(texts, limit: .max)
        } catch {
            throw ServiceError(.invalidField, error.description)
        }
    }

    /// What a client sees: the record's own tags as given, and those that address it.
    ///
    /// - Parameter omitsOddAddresses: leaves out what a client would take for a mistake, with which it drops every tag of the
    ///   list (Reference/AzureNotificationHubs.md#0-3).
    static func all(of record: DeviceRecord, omitsOddAddresses: Bool = false) -> [String] {
        // A registration is addressed by its tags alone.
        guard record.kind == .installation else { return record.tags.map(\.text) }
        let addresses = record.matchingTags.subtracting(record.tags).filter { !omitsOddAddresses || $0.hasPlainAddress }
        return record.tags.map(\.text) + addresses.map(\.text).sorted()
    }
}
