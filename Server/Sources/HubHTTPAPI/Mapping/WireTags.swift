import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

/// Tags between the wire, where they are texts, and the hub.
enum WireTags {
    /// Reads the tags of a client. Throws `invalid-field` with the place. The two special forms are told to clients, so they come
    /// back when a client stores what it read; they mean nothing, because the server alone gives them.
    static func read(_ texts: [String]) throws(ServiceError) -> [Tag] {
        do throws(RegistrationTagsError) {
            return try RegistrationTags(texts).tags
        } catch {
            throw ServiceError(.invalidField, error.description)
        }
    }

    /// What a client sees: the record's own tags as given, and those that address it.
    static func all(of record: DeviceRecord) -> [String] {
        record.tags.map(\.text) + record.matchingTags.subtracting(record.tags).map(\.text).sorted()
    }
}
