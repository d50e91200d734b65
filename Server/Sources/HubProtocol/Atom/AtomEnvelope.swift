import RichPushModel

/// What Atom puts around the content of an entry, and around entries (Reference/AzureNotificationHubs.md#2-1 and #2-5).
struct AtomEnvelope {
    var url: String
    var title: String
    var published: Timestamp
    var updated: Timestamp
    /// The entity tag, a small integer; `nil` for entries that have none.
    var tag: String?

    /// An entry on its own or, `inFeed`, as part of a feed, which has declared the namespace already.
    func write(to writer: inout XMLWriter, inFeed: Bool = false, content: (inout XMLWriter) -> Void) {
        // In pieces as large as possible: what stands in every entry is put together once.
        writer.raw("<entry")
        if let tag {
            writer.raw(" a:etag=\"W/&quot;")
            writer.attribute(tag)
            writer.raw("&quot;\"")
        }
        if !inFeed { writer.raw(Self.atom) }
        if tag != nil { writer.raw(Self.metadata) }
        writer.raw("><id>")
        writer.content(url)
        writer.raw("</id><title type=\"text\">")
        writer.content(title)
        writer.raw("</title><published>")
        writer.raw(DateText.seconds(published))
        writer.raw("</published><updated>")
        writer.raw(DateText.seconds(updated))
        writer.raw("</updated>")
        writer.empty("link", ["rel": "self", "href": url])
        writer.raw("<content type=\"application/xml\">")
        content(&writer)
        writer.raw("</content></entry>")
    }

    private static let atom = " xmlns=\"\(Namespace.atom)\""
    private static let metadata = " xmlns:a=\"\(Namespace.metadata)\""

    /// A feed around entries.
    static func feed(
        title: String, url: String, updated: Timestamp, to writer: inout XMLWriter, entries: (inout XMLWriter) -> Void
    ) {
        writer.open("feed", ["xmlns": Namespace.atom])
        writer.element("title", title, ["type": "text"])
        writer.element("id", url)
        writer.element("updated", DateText.seconds(updated))
        writer.empty("link", ["rel": "self", "href": url])
        entries(&writer)
        writer.close("feed")
    }

    /// An entry in a request, which has nothing but its content.
    static func request(to writer: inout XMLWriter, content: (inout XMLWriter) -> Void) {
        writer.open("entry", ["xmlns": Namespace.atom])
        writer.open("content", ["type": "application/xml"])
        content(&writer)
        writer.close("content")
        writer.close("entry")
    }
}
