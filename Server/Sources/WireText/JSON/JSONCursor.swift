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
        guard bytes[position...].starts(with: word.utf8) else { throw fault(.value) }
        position += word.utf8.count
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
