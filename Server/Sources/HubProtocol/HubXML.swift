import RichPushModel
import WireText

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
        // No code reads the dates of a request's envelope: an unreadable one is ignored.
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

/// The namespaces of the protocol (Reference/AzureNotificationHubs.md#2-0).
enum Namespace {
    static let atom = "http://www.w3.org/2005/Atom"
    static let serviceBus = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    static let schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"
    static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
    static let arrays = "http://schemas.microsoft.com/2003/10/Serialization/Arrays"
}

extension XMLReader {
    /// Reads a document for a reader of this module.
    static func root(_ bytes: [UInt8], limits: XMLLimits) throws(HubDocumentError) -> XMLElement {
        do { return try document(bytes, limits: limits) } catch { throw .malformed(error) }
    }

    /// The same, where the outermost element has a name.
    static func root(
        _ name: String, in namespace: String = Namespace.serviceBus, _ bytes: [UInt8], limits: XMLLimits
    ) throws(HubDocumentError) -> XMLElement {
        let root = try root(bytes, limits: limits)
        guard root.isNamed(name, in: namespace) else { throw .unexpectedElement(root.name, expected: name, root.position) }
        return root
    }
}

extension XMLElement {
    /// The text of a child that must be there and must not be empty.
    func required(_ name: String, in namespace: String = Namespace.serviceBus) throws(HubDocumentError) -> String {
        guard let value = value(name, in: namespace) else { throw .missing(name, in: self.name, position) }
        return value
    }

    /// The whole number in a child, `nil` when there is no child.
    func integer(_ name: String) throws(HubDocumentError) -> Int? {
        guard let text = value(name) else { return nil }
        guard let number = Int(text) else {
            throw .invalid(name, rule: "it is a whole number", child(name)?.position ?? position)
        }
        return number
    }

    /// The moment in a child, `nil` when there is no child.
    func moment(_ name: String, in namespace: String = Namespace.serviceBus) throws(HubDocumentError) -> Timestamp? {
        guard let text = value(name, in: namespace) else { return nil }
        guard let moment = DateText.read(text) else {
            throw .invalid(name, rule: "it is a date and time", child(name, in: namespace)?.position ?? position)
        }
        return moment
    }

    /// Whether the element has this name. A missing namespace is forgiven, a foreign one is not.
    func isNamed(_ name: String, in namespace: String) -> Bool {
        self.name == name && (self.namespace == namespace || self.namespace.isEmpty)
    }

    /// The first child of this name, unless it is marked as null (`i:nil`).
    func child(_ name: String, in namespace: String = Namespace.serviceBus) -> XMLElement? {
        children.first { $0.isNamed(name, in: namespace) && !$0.isNull }
    }

    /// The children of this name that are not marked as null.
    func children(_ name: String, in namespace: String = Namespace.serviceBus) -> [XMLElement] {
        children.filter { $0.isNamed(name, in: namespace) && !$0.isNull }
    }

    /// The text of the first child of this name without the blanks at its ends; `nil` when there is none or it is empty.
    func value(_ name: String, in namespace: String = Namespace.serviceBus) -> String? {
        guard let text = child(name, in: namespace)?.trimmed, !text.isEmpty else { return nil }
        return text
    }

    /// The text without the white space at its ends, which pretty-printing clients put there
    /// (Reference/AzureNotificationHubs.md#2-1).
    var trimmed: String { text.trimmingBlanks }

    /// Whether the element says that it has no value, `i:nil="true"`.
    var isNull: Bool {
        guard let value = attribute("nil", in: Namespace.schemaInstance) else { return false }
        let word = value.trimmingBlanks
        return word == "true" || word == "1"
    }

    /// The type that the element names in `i:type`, without a prefix.
    var instanceType: String? {
        attribute("type", in: Namespace.schemaInstance).map { value in
            let word = value.trimmingBlanks
            return word.lastIndex(of: ":").map { String(word[word.index(after: $0)...]) } ?? word
        }
    }
}

extension XMLLimits {
    /// For one description, job or hub in a request.
    public static let request = XMLLimits()
    /// For what a hub elsewhere answers: a feed of many entries.
    public static let feed = XMLLimits(bytes: 32 * 1024 * 1024, elements: 500_000)
}

/// Dates in the forms of the XML of the protocol: always UTC with `Z`. `WireTime` reads them all.
enum DateText {
    /// The first moment of the year 9999, from which on a date means never.
    private static let yearOfNever: Int64 = 253_370_764_800_000

    /// `2026-03-01T10:00:00Z`, as Atom has it.
    static func seconds(_ moment: Timestamp) -> String { WireTime(moment).seconds }

    /// `2026-03-01T10:00:00.12Z`, without zeros at the end, as telemetry has it (Reference/AzureNotificationHubs.md#2-9).
    static func shortest(_ moment: Timestamp) -> String {
        var digits = WireTime(moment).description.dropLast()
        while digits.hasSuffix("0") { digits.removeLast() }
        if digits.hasSuffix(".") { digits.removeLast() }
        return digits + "Z"
    }

    /// An expiry, always with three digits (Reference/AzureNotificationHubs.md#0-5): absent is never.
    static func expiry(_ moment: Timestamp?) -> String {
        guard let moment, moment.milliseconds < yearOfNever else { return WireTime.never.description }
        return WireTime(moment).description
    }

    /// The expiry in a child, `nil` for never.
    static func expiry(_ name: String, in element: XMLElement) throws(HubDocumentError) -> Timestamp? {
        guard let moment = try element.moment(name), moment.milliseconds < yearOfNever else { return nil }
        return moment
    }

    /// The moment in a text, `nil` when it is no date.
    static func read(_ text: String) -> Timestamp? { WireTime(text)?.moment }
}
