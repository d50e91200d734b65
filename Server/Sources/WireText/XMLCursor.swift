/// A place in valid UTF-8 bytes, and the small steps from there.
public struct XMLCursor {
    public let bytes: [UInt8]
    /// The byte here, counted from the beginning.
    public private(set) var offset = 0
    /// The last place whose line and column were counted: positions only grow, so counting is linear altogether.
    private var mark = (offset: 0, position: XMLPosition(line: 1, column: 1))

    /// A cursor at the beginning.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Whether nothing is left.
    public var isAtEnd: Bool { offset >= bytes.count }

    /// The byte here; 0, which no document contains, at the end.
    public var byte: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    var isAtSpace: Bool { Self.isSpace(byte) }

    /// Whether a start tag begins here.
    var isAtName: Bool { byte == UInt8(ascii: "<") && offset + 1 < bytes.count && XMLName.canStart(bytes[offset + 1]) }

    /// Whether a text comes next.
    public func isAt(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { word in
            guard offset + word.count <= bytes.count else { return false }
            for index in 0..<word.count where bytes[offset + index] != word[index] { return false }
            return true
        }
    }

    /// Goes on by so many bytes, at most to the end.
    public mutating func advance(_ count: Int) { offset = min(offset + count, bytes.count) }

    /// Passes a text if it comes next.
    public mutating func take(_ text: StaticString) -> Bool {
        guard isAt(text) else { return false }
        advance(text.utf8CodeUnitCount)
        return true
    }

    /// Passes a quotation mark of either kind if one comes next.
    public mutating func takeQuote() -> UInt8? {
        let quote = byte
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        offset += 1
        return quote
    }

    /// Passes white space; false when there is none.
    @discardableResult
    public mutating func skipSpace() -> Bool {
        let start = offset
        while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 }
        return offset > start
    }

    /// Goes behind the next occurrence of the text; every character on the way must be allowed.
    mutating func skip(through text: StaticString) throws(XMLFault) {
        while !isAt(text) {
            guard !isAtEnd else { throw fault(.unexpectedEnd) }
            try checkCharacter()
            offset += 1
        }
        advance(text.utf8CodeUnitCount)
    }

    /// The text up to a byte, which is passed.
    mutating func read(until end: UInt8) throws(XMLFault) -> String {
        let start = offset
        while byte != end {
            guard !isAtEnd else { throw fault(.unexpectedEnd) }
            try checkCharacter()
            offset += 1
        }
        defer { offset += 1 }
        return text(from: start)
    }

    /// A name with its prefix.
    mutating func readName() throws(XMLFault) -> String {
        let start = offset
        guard XMLName.canStart(byte) else { throw fault(.expected("a name")) }
        while offset < bytes.count, XMLName.canContinue(bytes[offset]) { offset += 1 }
        let name = text(from: start)
        guard XMLName.isValid(name) else { throw fault(.expected("a valid name")) }
        return name
    }

    /// Refuses what is no character of XML: control characters, U+FFFE and U+FFFF. Surrogates are refused with the encoding.
    func checkCharacter() throws(XMLFault) {
        let byte = byte
        if byte < 0x20 {
            guard byte == 0x09 || byte == 0x0A || byte == 0x0D else { throw fault(.invalidCharacter) }
        } else if byte == 0xEF, offset + 2 < bytes.count, bytes[offset + 1] == 0xBF, bytes[offset + 2] >= 0xBE {
            throw fault(.invalidCharacter)
        }
    }

    func text(from start: Int) -> String { String(decoding: bytes[start..<offset], as: UTF8.self) }

    func bytes(from start: Int) -> ArraySlice<UInt8> { bytes[start..<offset] }

    /// The character that a reference stands for, by what is between its `&` and `;`: one of the five names of XML itself, or a number.
    /// `nil` for any other name, and for a number that is no character of XML.
    public static func scalar(ofReference name: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let text = String(decoding: name, as: UTF8.self)
        switch text {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        let isHexadecimal = text.hasPrefix("#x")
        let digits = text.utf8.dropFirst(isHexadecimal ? 2 : 1)
        // A sign would pass for part of the number.
        guard text.hasPrefix("#"), digits.first.flatMap(Hexadecimal.value) != nil,
            let scalar = UInt32(Substring(digits), radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
        else { return nil }
        return isCharacter(scalar) ? scalar : nil
    }

    /// Whether XML can carry a character at all (XML 1.0, 2.2).
    public static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }

    /// The fault at this place.
    func fault(_ problem: XMLFault.Problem) -> XMLFault {
        var copy = self
        return XMLFault(problem, at: copy.position())
    }

    /// Line and column of this place.
    mutating func position() -> XMLPosition {
        for byte in bytes[mark.offset..<offset] {
            if byte == 0x0A {
                mark.position = XMLPosition(line: mark.position.line + 1, column: 1)
            } else if byte & 0xC0 != 0x80 {
                mark.position.column += 1
            }
        }
        mark.offset = offset
        return mark.position
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
}

/// What XML 1.0 calls a name, with at most one colon as namespaces demand.
public enum XMLName {
    /// Whether a byte may start a name; bytes beyond ASCII are checked with the whole name.
    public static func canStart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), 0x80...0xFF: true
        default: false
        }
    }

    /// Whether a byte may stand inside a name.
    public static func canContinue(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"): true
        default: canStart(byte)
        }
    }

    /// Whether a text that consists of such bytes is a name.
    static func isValid(_ name: String) -> Bool {
        var colons = 0
        var afterColon = true
        for scalar in name.unicodeScalars {
            if scalar == ":" {
                guard !afterColon else { return false }
                colons += 1
                afterColon = true
            } else {
                guard scalar.isASCII ? (!afterColon || canStart(UInt8(scalar.value))) : allows(scalar, first: afterColon) else {
                    return false
                }
                afterColon = false
            }
        }
        return colons <= 1 && !afterColon
    }

    /// The prefix, empty when there is none, and the rest.
    static func split(_ name: String) -> (prefix: String, local: String) {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return ("", name) }
        return (String(name[..<colon]), String(name[name.utf8.index(after: colon)...]))
    }

    /// XML 1.0, productions 4 and 4a, without ASCII.
    private static func allows(_ scalar: Unicode.Scalar, first: Bool) -> Bool {
        switch scalar.value {
        case 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF, 0x200C...0x200D, 0x2070...0x218F,
            0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD, 0x10000...0xEFFFF:
            true
        case 0xB7, 0x300...0x36F, 0x203F...0x2040: !first
        default: false
        }
    }
}

/// Brings the bytes of a document to UTF-8: UTF-8 with or without a byte order mark, UTF-16 by its mark or by the first two
/// characters of a declaration. No other encoding is detected, so that markup cannot hide in UTF-7 or EBCDIC.
enum XMLDecoding {
    /// The bytes in UTF-8, valid and without a mark.
    static func utf8(_ bytes: [UInt8]) throws(XMLFault) -> [UInt8] {
        let start = XMLPosition(line: 1, column: 1)
        if bytes.starts(with: [0xFF, 0xFE, 0x00, 0x00]) || bytes.starts(with: [0x00, 0x00, 0xFE, 0xFF]) {
            throw XMLFault(.unsupportedEncoding, at: start)
        }
        if bytes.starts(with: [0xFF, 0xFE]) { return try utf16(bytes.dropFirst(2), bigEndian: false) }
        if bytes.starts(with: [0xFE, 0xFF]) { return try utf16(bytes.dropFirst(2), bigEndian: true) }
        if bytes.starts(with: [0x3C, 0x00]) { return try utf16(bytes[...], bigEndian: false) }
        if bytes.starts(with: [0x00, 0x3C]) { return try utf16(bytes[...], bigEndian: true) }
        let body = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        guard isValid(body) else { throw XMLFault(.invalidBytes, at: start) }
        return Array(body)
    }

    private static func isValid(_ bytes: ArraySlice<UInt8>) -> Bool {
        // The common case costs one look at each byte.
        bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, bigEndian: Bool) throws(XMLFault) -> [UInt8] {
        let start = XMLPosition(line: 1, column: 1)
        guard bytes.count.isMultiple(of: 2) else { throw XMLFault(.invalidBytes, at: start) }
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            units.append(bigEndian ? first << 8 | second : second << 8 | first)
            index += 2
        }
        guard let text = String(validating: units, as: UTF16.self) else { throw XMLFault(.invalidBytes, at: start) }
        return Array(text.utf8)
    }
}
