import RichPushModel

/// What Atom puts around the content of an entry, and around entries (Azure reference 2.1 and 2.5).
struct AtomEnvelope {
    var url: String
    var title: String
    var published: Timestamp
    var updated: Timestamp
    /// The entity tag, a small integer; `nil` for entries that have none.
    var tag: String?

    /// An entry on its own or, `inFeed`, as part of a feed, which has declared the namespace already.
    func write(to writer: inout XMLWriter, inFeed: Bool = false, content: (inout XMLWriter) -> Void) {
        switch (tag.map { "W/\"\($0)\"" }, inFeed) {
        case (let tag?, false): writer.open("entry", ["a:etag": tag, "xmlns": Namespace.atom, "xmlns:a": Namespace.metadata])
        case (let tag?, true): writer.open("entry", ["a:etag": tag, "xmlns:a": Namespace.metadata])
        case (nil, false): writer.open("entry", ["xmlns": Namespace.atom])
        case (nil, true): writer.open("entry")
        }
        writer.element("id", url)
        writer.element("title", title, ["type": "text"])
        writer.element("published", DateText.seconds(published))
        writer.element("updated", DateText.seconds(updated))
        writer.empty("link", ["rel": "self", "href": url])
        writer.open("content", ["type": "application/xml"])
        content(&writer)
        writer.close("content")
        writer.close("entry")
    }

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
