import WireText

/// An expression, read once: one term, or several that are joined (Reference/AzureNotificationHubs.md#4-2).
struct TemplateExpression: Hashable, Sendable {
    enum Term: Hashable, Sendable {
        case literal(String)
        case property(Property)
    }

    /// A place that a property fills.
    struct Property: Hashable, Sendable {
        /// What becomes of the value.
        enum Form: Hashable, Sendable {
            /// `$(name)`
            case whole
            /// `$(name, n)`
            case cut(Int)
            /// `.(name, n)`
            case dotted(Int)
            /// `%(name)`
            case encoded
            /// `#(name)`
            case bare
        }

        /// The name in lower case; names compare without regard to case.
        let name: String
        let form: Form
        /// What stands in for a property that the send lacks.
        let fallback: String?
    }

    let terms: [Term]

    /// The only term, if it is `#(name)`: that form is never joined with others.
    var bareProperty: Property? {
        guard terms.count == 1, case .property(let property) = terms[0], property.form == .bare else { return nil }
        return property
    }

    /// Writes the value into `buffer`, escaped for the place where it stands.
    ///
    /// A property that is missing and has no fallback counts as empty. What comes out is never read as an expression again.
    func render(
        _ properties: TemplateProperties, into buffer: inout RenderingBuffer
    ) throws(TemplateRenderingError) {
        for term in terms {
            switch term {
            case .literal(let text): try buffer.append(escaping: text[...])
            case .property(let property):
                guard let value = property.value(in: properties) else { continue }
                try property.render(value, into: &buffer)
            }
        }
    }
}

extension TemplateExpression.Property {
    func value(in properties: TemplateProperties) -> String? { properties[folded: name] ?? fallback }

    /// The value of `#(name)`: the text of a JSON number or boolean, `nil` for anything else.
    func bareValue(in properties: TemplateProperties) -> String? {
        guard let value = value(in: properties), JSONCursor.isNumberOrBoolean(value) else { return nil }
        return value
    }

    /// Lengths count extended grapheme clusters (user-perceived characters), so that a cut never leaves half a flag or a
    /// letter without its accent. The service's own unit is not documented (Reference/AzureNotificationHubs.md#4-2).
    fileprivate func render(
        _ value: String, into buffer: inout RenderingBuffer
    ) throws(TemplateRenderingError) {
        switch form {
        case .whole: try buffer.append(escaping: value[...])
        case .cut(let length): try buffer.append(escaping: value.prefix(length))
        case .dotted(let length): try render(value, dottedAt: length, into: &buffer)
        case .encoded: try buffer.append(percentEncoding: value)
        case .bare: if JSONCursor.isNumberOrBoolean(value) { try buffer.append(escaping: value[...]) }
        }
    }

    /// The dots count: the result never has more than `length` characters.
    private func render(
        _ value: String, dottedAt length: Int, into buffer: inout RenderingBuffer
    ) throws(TemplateRenderingError) {
        let end = value.index(value.startIndex, offsetBy: length, limitedBy: value.endIndex) ?? value.endIndex
        guard end < value.endIndex else { return try buffer.append(escaping: value[...]) }
        let dots = min(3, length)
        try buffer.append(escaping: value[..<value.index(end, offsetBy: -dots)])
        try buffer.append(escaping: "...".prefix(dots))
    }
}

/// Collects the bytes of a filled template and stops at the limit, so that a small template with a large property in many places
/// costs no more than the limit.
struct RenderingBuffer {
    /// Where values are written.
    enum Escaping: Hashable, Sendable {
        /// Within the quotes of a JSON string.
        case json
        /// In an XML attribute or text.
        case xml
        case none
    }

    private(set) var bytes: [UInt8] = []
    private let escaping: Escaping
    private let limit: Int

    init(escaping: Escaping, limit: Int, expected: Int) {
        self.escaping = escaping
        self.limit = limit
        bytes.reserveCapacity(min(limit, expected))
    }

    /// Appends what is written as it is.
    mutating func append(_ run: some Collection<UInt8>) throws(TemplateRenderingError) {
        guard run.count <= limit - bytes.count else { throw .tooLarge(limit: limit) }
        bytes.append(contentsOf: run)
    }

    mutating func append(_ byte: UInt8) throws(TemplateRenderingError) {
        guard bytes.count < limit else { throw .tooLarge(limit: limit) }
        bytes.append(byte)
    }

    /// Appends a value, escaped for where it stands.
    mutating func append(escaping text: Substring) throws(TemplateRenderingError) {
        switch escaping {
        case .none: try append(text.utf8)
        case .json: for byte in text.utf8 { try append(json: byte) }
        case .xml: for scalar in text.unicodeScalars { try append(xml: scalar) }
        }
    }

    /// Appends a value as a component of a URI (RFC 3986): all but unreserved characters as `%` and two digits. Its result
    /// needs no escaping anywhere.
    mutating func append(percentEncoding text: String) throws(TemplateRenderingError) {
        try append(PercentEncoding.encode(text).utf8)
    }

    private mutating func append(json byte: UInt8) throws(TemplateRenderingError) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): try append([UInt8(ascii: "\\"), byte])
        case 0x08: try append("\\b".utf8)
        case 0x09: try append("\\t".utf8)
        case 0x0A: try append("\\n".utf8)
        case 0x0C: try append("\\f".utf8)
        case 0x0D: try append("\\r".utf8)
        case 0..<0x20: try append("\\u00\(Hexadecimal.text(of: CollectionOfOne(byte), uppercase: true))".utf8)
        default: try append(byte)
        }
    }

    /// Line ends are written as numbers, because a reader would change them otherwise (XML 1.0, 2.11 and 3.3.3). Characters that
    /// XML cannot carry become the replacement character.
    private mutating func append(xml scalar: Unicode.Scalar) throws(TemplateRenderingError) {
        switch scalar {
        case "&": try append("&amp;".utf8)
        case "<": try append("&lt;".utf8)
        case ">": try append("&gt;".utf8)
        case "\"": try append("&quot;".utf8)
        case "'": try append("&apos;".utf8)
        case "\t": try append("&#9;".utf8)
        case "\n": try append("&#10;".utf8)
        case "\r": try append("&#13;".utf8)
        case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": try append("\u{FFFD}".utf8)
        default: try append(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }
}
