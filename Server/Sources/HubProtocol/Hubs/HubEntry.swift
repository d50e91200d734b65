import RichPushModel
import WireText

/// A hub with what Atom says of it; the title is its name (Reference/AzureNotificationHubs.md#2-13).
public struct HubEntry: Hashable, Sendable {
    public var name: String
    public var description: HubDescription
    public var published: Timestamp
    public var updated: Timestamp

    /// Creates an entry.
    public init(name: String, description: HubDescription, published: Timestamp, updated: Timestamp) {
        self.name = name
        self.description = description
        self.published = published
        self.updated = updated
    }

    /// The answer to create, update and get; the location is the hub's own.
    public func answer(at location: LocationHeader) -> String {
        var writer = XMLWriter()
        envelope(location.collection).write(to: &writer) { description.write(to: &$0) }
        return writer.text
    }

    /// The list of hubs; the location is that of the list.
    public static func feed(_ hubs: [HubEntry], at location: LocationHeader, updated: Timestamp) -> String {
        var writer = XMLWriter()
        AtomEnvelope.feed(title: "NotificationHubs", url: location.collection, updated: updated, to: &writer) { writer in
            for hub in hubs {
                hub.envelope(location.member(hub.name)).write(to: &writer, inFeed: true) { hub.description.write(to: &$0) }
            }
        }
        return writer.text
    }

    /// What the service answers with 200 for a hub that does not exist: an empty feed, from which .NET concludes just that
    /// (Reference/AzureNotificationHubs.md#2-13).
    public static func unknownHub(at location: LocationHeader, updated: Timestamp) -> String {
        var writer = XMLWriter()
        AtomEnvelope.feed(title: "Publicly Listed Services", url: location.collection, updated: updated, to: &writer) { _ in }
        return writer.text
    }

    private func envelope(_ url: String) -> AtomEnvelope {
        AtomEnvelope(url: url, title: name, published: published, updated: updated, tag: nil)
    }
}

extension HubDescription {
    /// The body of a request that creates or updates a hub.
    public func request() -> String {
        var writer = XMLWriter()
        AtomEnvelope.request(to: &writer) { write(to: &$0) }
        return writer.text
    }

    /// Reads the entry of a request.
    public static func read(entry bytes: [UInt8], limits: XMLLimits = .request) throws(HubDocumentError) -> HubDescription {
        try HubDescription(try AtomContent.entry(bytes, limits: limits).element)
    }
}

extension HubEntry {
    /// Reads the answer to a get; `nil` when it is the feed that says that there is no such hub.
    public static func read(entry bytes: [UInt8], limits: XMLLimits = .request) throws(HubDocumentError) -> HubEntry? {
        let root = try XMLReader.root(bytes, limits: limits)
        guard !root.isNamed("feed", in: Namespace.atom) else { return nil }
        return try HubEntry(try AtomContent(root))
    }

    /// Reads a list of hubs.
    public static func read(feed bytes: [UInt8], limits: XMLLimits = .feed) throws(HubDocumentError) -> [HubEntry] {
        var hubs: [HubEntry] = []
        for content in try AtomContent.feed(bytes, limits: limits) { hubs.append(try HubEntry(content)) }
        return hubs
    }

    private init(_ content: AtomContent) throws(HubDocumentError) {
        guard let name = content.title else { throw .missing("title", in: "entry", content.element.position) }
        let description = try HubDescription(content.element)
        let published = content.published ?? Timestamp(milliseconds: 0)
        self.init(name: name, description: description, published: published, updated: content.updated ?? published)
    }
}
