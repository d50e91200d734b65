import RichPushModel
import WireText

/// What a reader takes from an entry: its content and the few elements around it that say something.
struct AtomContent {
    /// The element in `content`.
    var element: XMLElement
    var title: String?
    var published: Timestamp?
    var updated: Timestamp?

    /// Takes an entry apart.
    init(_ entry: XMLElement) throws(HubDocumentError) {
        guard entry.isNamed("entry", in: Namespace.atom) else {
            throw .unexpectedElement(entry.name, expected: "entry", entry.position)
        }
        guard let content = entry.child("content", in: Namespace.atom) else {
            throw .missing("content", in: "entry", entry.position)
        }
        guard let element = content.children.first else { throw .missing("description", in: "content", content.position) }
        self.element = element
        title = entry.value("title", in: Namespace.atom)
        // The dates of an envelope are nobody's input: an unreadable one is none.
        published = entry.value("published", in: Namespace.atom).flatMap(DateText.read)
        updated = entry.value("updated", in: Namespace.atom).flatMap(DateText.read)
    }

    /// The content of the one entry of a document.
    static func entry(_ bytes: [UInt8], limits: XMLLimits) throws(HubDocumentError) -> AtomContent {
        try AtomContent(try XMLReader.root(bytes, limits: limits))
    }

    /// The contents of all entries of a feed.
    static func feed(_ bytes: [UInt8], limits: XMLLimits) throws(HubDocumentError) -> [AtomContent] {
        let root = try XMLReader.root("feed", in: Namespace.atom, bytes, limits: limits)
        var contents: [AtomContent] = []
        for entry in root.children("entry", in: Namespace.atom) { contents.append(try AtomContent(entry)) }
        return contents
    }
}
