/// Writes a document on one line, to the byte: .NET stops at white space after `<content …>`
/// (Reference/AzureNotificationHubs.md#0-1), so there is none between elements, and no prefix that a caller does not spell out
/// (Reference/AzureNotificationHubs.md#0-4).
struct XMLWriter {
    private(set) var text = ""
    /// Whether line ends inside values are written as character references, so that the document stays one line of a file.
    private let isSingleLine: Bool

    init(isSingleLine: Bool = false) {
        self.isSingleLine = isSingleLine
        // What one registration takes.
        text.reserveCapacity(1_280)
    }

    /// A start tag; attributes in the given order.
    mutating func open(_ name: String, _ attributes: KeyValuePairs<String, String> = [:]) {
        tag(name, attributes, end: ">")
    }

    /// An end tag.
    mutating func close(_ name: String) {
        text += "</"
        text += name
        text += ">"
    }

    /// An element without content, `<name …/>`.
    mutating func empty(_ name: String, _ attributes: KeyValuePairs<String, String> = [:]) { tag(name, attributes, end: "/>") }

    /// An element with text; none when there is no value.
    mutating func element(_ name: String, _ value: String?, _ attributes: KeyValuePairs<String, String> = [:]) {
        guard let value else { return }
        open(name, attributes)
        escape(value, isAttribute: false)
        close(name)
    }

    /// An element with text in a CDATA section. A text with line ends that the section would not keep
    /// is escaped instead.
    mutating func literal(_ name: String, _ value: String?) {
        guard let value else { return }
        guard !value.utf8.contains(where: { $0 == 0x0D || ($0 == 0x0A && isSingleLine) }) else { return element(name, value) }
        open(name)
        text += "<![CDATA["
        var brackets = 0
        for scalar in value.unicodeScalars {
            // `]]>` would end the section: it is divided between two.
            if scalar == ">", brackets >= 2 { text += "]]><![CDATA[" }
            brackets = scalar == "]" ? brackets + 1 : 0
            text.unicodeScalars.append(XMLWriter.isAllowed(scalar) ? scalar : "\u{FFFD}")
        }
        text += "]]>"
        close(name)
    }

    /// The text of an element that was written as `raw`.
    mutating func content(_ value: String) { escape(value, isAttribute: false) }

    /// The value of an attribute that was written as `raw`.
    mutating func attribute(_ value: String) { escape(value, isAttribute: true) }

    /// Text that is XML already.
    mutating func raw(_ markup: String) { text += markup }

    private mutating func tag(_ name: String, _ attributes: KeyValuePairs<String, String>, end: String) {
        // Piece by piece: a text that is only put together to be added costs more than all of them.
        text += "<"
        text += name
        for (attribute, value) in attributes {
            text += " "
            text += attribute
            text += "=\""
            escape(value, isAttribute: true)
            text += "\""
        }
        text += end
    }

    /// Characters that XML cannot carry become U+FFFD: a document that no client can read would lose more.
    private mutating func escape(_ value: String, isAttribute: Bool) {
        guard Self.needsLook(value) else {
            text += value
            return
        }
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"" where isAttribute: text += "&quot;"
            case "\r": text += "&#xD;"
            case "\n" where isAttribute || isSingleLine: text += "&#xA;"
            case "\t" where isAttribute: text += "&#x9;"
            default: text.unicodeScalars.append(Self.isAllowed(scalar) ? scalar : "\u{FFFD}")
            }
        }
    }

    private static func needsLook(_ value: String) -> Bool {
        for byte in value.utf8 where needsLook(byte) { return true }
        return false
    }

    /// Bytes that may have to be written otherwise; 0xEF begins U+FFFE and U+FFFF.
    private static func needsLook(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), 0xEF: true
        default: false
        }
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20
            ? (scalar.value != 0xFFFE && scalar.value != 0xFFFF) : scalar == "\t" || scalar == "\n" || scalar == "\r"
    }
}
