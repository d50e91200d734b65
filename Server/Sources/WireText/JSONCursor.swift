/// Walks over JSON (RFC 8259) once, strictly, and builds nothing: what the bytes mean is its user's matter.
///
/// Whether a name may occur twice in an object, and which names are the same, differs between the users; `duplicateName` is their
/// fault for it.
public struct JSONCursor {
    public let bytes: [UInt8]
    /// The byte that comes next.
    public var position = 0
    private let depthLimit: Int
    private var depth = 0
    private var name = 0..<0

    /// A cursor for bytes that must be UTF-8. Objects and lists may be nested `depthLimit` deep.
    public init(validating bytes: [UInt8], depthLimit: Int) throws(JSONFault) {
        do { _ = try UTF8Span(validating: bytes.span) } catch {
            throw JSONFault(.notUTF8, from: error.byteOffsets.lowerBound, at: error.byteOffsets.lowerBound)
        }
        self.bytes = bytes
        self.depthLimit = depthLimit
    }

    /// A cursor for a text.
    public init(_ text: String, depthLimit: Int = .max) {
        bytes = Array(text.utf8)
        self.depthLimit = depthLimit
    }

    /// The byte that comes next; `nil` at the end.
    public var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// The kind of the value that begins here, by its first byte; `nil` when none does.
    public var kind: JSONKind? {
        guard let byte = peek else { return nil }
        return switch byte {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .list
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
        case UInt8(ascii: "n"): .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): .number
        default: nil
        }
    }

    /// Passes a character if it comes next.
    public mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Passes blanks and line ends.
    public mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    /// Passes blanks, behind which the text must end.
    public mutating func end() throws(JSONFault) {
        skipBlanks()
        guard peek == nil else { throw fault(.end) }
    }

    /// A fault at this place.
    public func fault(_ problem: JSONFault.Problem, from start: Int? = nil) -> JSONFault {
        JSONFault(problem, from: start ?? position, at: position)
    }

    /// The fault of the name that was read last, when it must not occur again.
    public var duplicateName: JSONFault { JSONFault(.duplicateName, from: name.lowerBound, at: name.upperBound) }

    /// The next name of an object, up to its value; `nil` behind the closing brace. `isFirst` is true at the opening brace, and becomes
    /// false.
    public mutating func nextName(_ isFirst: inout Bool) throws(JSONFault) -> String? {
        guard try next(&isFirst, closing: "}", .commaOrBrace) else { return nil }
        guard peek == UInt8(ascii: "\"") else { throw fault(.name) }
        let start = position
        let text = try string()
        name = start..<position
        skipBlanks()
        guard take(":") else { throw fault(.colon) }
        skipBlanks()
        return text
    }

    /// Whether an element of a list comes next; false behind the closing bracket. `isFirst` is true at the opening bracket, and becomes
    /// false.
    public mutating func nextElement(_ isFirst: inout Bool) throws(JSONFault) -> Bool {
        try next(&isFirst, closing: "]", .commaOrBracket)
    }

    private mutating func next(
        _ isFirst: inout Bool, closing: Unicode.Scalar, _ problem: JSONFault.Problem
    ) throws(JSONFault) -> Bool {
        let opens = isFirst
        isFirst = false
        if opens {
            guard depth < depthLimit else { throw fault(.tooDeep(limit: depthLimit)) }
            depth += 1
            position += 1
        }
        skipBlanks()
        if take(closing) {
            depth -= 1
            return false
        }
        if !opens {
            guard take(",") else { throw fault(problem) }
            skipBlanks()
        }
        return true
    }

    /// Passes a value, whatever is in it.
    public mutating func skipValue() throws(JSONFault) {
        var isFirst = true
        switch kind {
        case .object: while try nextName(&isFirst) != nil { try skipValue() }
        case .list: while try nextElement(&isFirst) { try skipValue() }
        case .string: try skipString()
        default: try skipPlainValue()
        }
    }

    /// Passes a number, `true`, `false` or `null`.
    public mutating func skipPlainValue() throws(JSONFault) {
        switch kind {
        case .boolean: try skip(peek == UInt8(ascii: "t") ? "true" : "false")
        case .null: try skip("null")
        default: _ = try number()
        }
    }

    private mutating func skip(_ word: String) throws(JSONFault) {
        let start = position
        for byte in word.utf8 {
            guard peek == byte else { throw fault(.value, from: start) }
            position += 1
        }
    }

    /// Reads a number and returns where it stands.
    public mutating func number() throws(JSONFault) -> Range<Int> {
        let start = position
        _ = take("-")
        if !take("0") {
            guard skipDigits() else { throw fault(.value, from: start) }
        }
        if take(".") {
            guard skipDigits() else { throw fault(.digit, from: start) }
        }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard skipDigits() else { throw fault(.digit, from: start) }
        }
        return start..<position
    }

    private mutating func skipDigits() -> Bool {
        let start = position
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position > start
    }

    /// The bytes of a range as text.
    public func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Reads a string in quotes and returns what it says.
    public mutating func string() throws(JSONFault) -> String {
        let (content, isPlain) = try content()
        guard !isPlain else { return text(content) }
        var text: [UInt8] = []
        try walk(content) { scalar, _ in text += String(scalar).utf8 }
        return String(decoding: text, as: UTF8.self)
    }

    /// Passes a string in quotes.
    public mutating func skipString() throws(JSONFault) { _ = try content() }

    /// Reads a string in quotes, gives each character of what it says with the byte at which that begins, and returns the byte of the
    /// closing quote.
    public mutating func string(_ character: (Unicode.Scalar, Int) -> Void) throws(JSONFault) -> Int {
        let (content, _) = try content()
        try walk(content, character)
        return content.upperBound
    }

    /// Passes a string; returns what is between its quotes, and whether that has no escapes.
    private mutating func content() throws(JSONFault) -> (content: Range<Int>, isPlain: Bool) {
        let quote = position
        position += 1
        var isPlain = true
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return (quote + 1..<position - 1, isPlain)
            case UInt8(ascii: "\\"):
                isPlain = false
                _ = try escape()
            case 0..<0x20: throw fault(.controlCharacter)
            default: position += 1
            }
        }
        throw fault(.unterminatedString, from: quote)
    }

    /// The characters of a content that was passed before.
    private mutating func walk(_ content: Range<Int>, _ character: (Unicode.Scalar, Int) -> Void) throws(JSONFault) {
        let end = position
        position = content.lowerBound
        while position < content.upperBound {
            let start = position
            character(bytes[position] == UInt8(ascii: "\\") ? try escape() : scalar(), start)
        }
        position = end
    }

    /// Reads a character as it stands. The bytes are well formed.
    private mutating func scalar() -> Unicode.Scalar {
        let lead = bytes[position]
        let count = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
        var value = count == 1 ? UInt32(lead) : UInt32(lead) & (0x7F >> UInt32(count))
        for byte in bytes[position...].dropFirst().prefix(count - 1) { value = value << 6 | UInt32(byte & 0x3F) }
        position += count
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    /// Reads a backslash and what follows it.
    private mutating func escape() throws(JSONFault) -> Unicode.Scalar {
        let start = position
        position += 1
        guard let letter = peek else { throw fault(.unterminatedEscape, from: start) }
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape(from: start)
        default: throw fault(.unknownEscape, from: start)
        }
    }

    /// Four digits, or two groups of them that make one character.
    private mutating func unicodeEscape(from start: Int) throws(JSONFault) -> Unicode.Scalar {
        let first = try codeUnit(from: start)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), bytes[position...].starts(with: "\\u".utf8) else {
            throw fault(.loneSurrogate, from: start)
        }
        position += 2
        let second = try codeUnit(from: start)
        guard UTF16.isTrailSurrogate(second) else { throw fault(.loneSurrogate, from: start) }
        return Unicode.Scalar(0x10000 + (UInt32(first) & 0x3FF) << 10 + UInt32(second) & 0x3FF) ?? "\u{FFFD}"
    }

    private mutating func codeUnit(from start: Int) throws(JSONFault) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = peek.flatMap(Hexadecimal.value) else { throw fault(.malformedUnicodeEscape, from: start) }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }
}

/// The kinds of a JSON value.
public enum JSONKind: String, Sendable {
    case object
    case list
    case string
    case number
    case boolean
    case null
}

/// Why a text is not the JSON that its reader takes, and where. Each reader has sentences of its own for its callers.
public struct JSONFault: Error, Hashable, Sendable {
    /// What is wrong.
    public enum Problem: Hashable, Sendable {
        case notUTF8
        case tooDeep(limit: Int)
        /// What is missing, at the place where it should begin.
        case value
        case name
        case colon
        case commaOrBrace
        case commaOrBracket
        /// A digit of a fraction or an exponent.
        case digit
        case duplicateName
        case unterminatedString
        case controlCharacter
        /// The text ends behind a backslash.
        case unterminatedEscape
        case unknownEscape
        case malformedUnicodeEscape
        case loneSurrogate
        /// Something follows the value.
        case end
        /// A rule of the reader that uses the cursor, in its words.
        case rule(String)
    }

    public let problem: Problem
    /// Where the string, escape, number or name begins that is wrong; otherwise the same as `offset`.
    public let start: Int
    /// The byte at which it was noticed.
    public let offset: Int

    init(_ problem: Problem, from start: Int, at offset: Int) {
        self.problem = problem
        self.start = start
        self.offset = offset
    }
}
