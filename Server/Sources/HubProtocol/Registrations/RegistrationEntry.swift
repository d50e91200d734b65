import RichPushModel

/// A stored registration with what Atom says of it: the answer to create, upsert, update and get
/// (Reference/AzureNotificationHubs.md#2-1).
public struct RegistrationEntry: Hashable, Sendable {
    public var description: RegistrationDescription
    public var published: Timestamp
    public var updated: Timestamp

    /// Creates an entry. The description needs its id and its entity tag.
    public init(_ description: RegistrationDescription, published: Timestamp, updated: Timestamp) {
        self.description = description
        self.published = published
        self.updated = updated
    }

    /// The body of the answer.
    ///
    /// - Parameter omitsSingleHeader: leaves out a collection of exactly one header, at which the JavaScript client throws
    ///   (Reference/AzureNotificationHubs.md#2-1). A server that can tell that client from others may pass `false` for those.
    public func answer(at location: LocationHeader, omitsSingleHeader: Bool = true) -> String {
        var writer = XMLWriter()
        write(to: &writer, at: location, inFeed: false, omitsSingleHeader)
        return writer.text
    }

    /// The body of a list: a feed of entries (Reference/AzureNotificationHubs.md#2-5).
    ///
    /// - Parameter selfURL: where the list itself lies if that is another place than the entries', as with lists by tag.
    public static func feed(
        _ entries: [RegistrationEntry], at location: LocationHeader, selfURL: String? = nil, updated: Timestamp,
        omitsSingleHeader: Bool = true
    ) -> String {
        var writer = XMLWriter()
        AtomEnvelope.feed(title: "Registrations", url: selfURL ?? location.collection, updated: updated, to: &writer) { writer in
            for entry in entries { entry.write(to: &writer, at: location, inFeed: true, omitsSingleHeader) }
        }
        return writer.text
    }

    private func write(to writer: inout XMLWriter, at location: LocationHeader, inFeed: Bool, _ omitsSingleHeader: Bool) {
        let id = description.registrationID ?? ""
        let envelope = AtomEnvelope(
            url: location.member(id), title: id, published: published, updated: updated, tag: description.etag)
        envelope.write(to: &writer, inFeed: inFeed) {
            description.write(to: &$0, form: .named, omitsSingleHeader: omitsSingleHeader)
        }
    }
}
