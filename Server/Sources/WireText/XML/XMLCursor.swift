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
