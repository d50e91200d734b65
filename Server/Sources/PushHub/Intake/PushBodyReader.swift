import ServiceErrors

/// Reads the body of a push for APNs once, byte by byte (RFC 8259), and says where it breaks a rule. The bytes themselves go out
/// as they came, so what is read here is what a phone will read: nothing is mended and nothing foreign let through.
struct PushBodyReader {
    /// What a value is, as far as anybody asks.
    enum Value: Hashable {
        case text(isEmpty: Bool)
        case object(isEmpty: Bool)
        case null
        case one
        /// Any other number, a list, `true` or `false`.
        case other
    }

    /// Objects and lists within each other.
    private static let maximumDepth = 128

    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The members of `aps`, `nil` where there is none. Throws `malformed-json`.
    mutating func aps() throws(ServiceError) -> [String: Value]? {
        do { _ = try UTF8Span(validating: bytes.span) } catch {
            throw fault("is not UTF-8", at: error.byteOffsets.lowerBound)
        }
        skipBlanks()
        guard peek == UInt8(ascii: "{") else { throw fault("must be one JSON object") }
        var aps: [String: Value]?
        try object(depth: 1) { reader, name throws(ServiceError) in
            guard name == "aps" else { return _ = try reader.value(depth: 1) }
            guard aps == nil else { throw reader.fault("names aps twice") }
            guard reader.peek == UInt8(ascii: "{") else { throw reader.fault("has an aps that is no object") }
            var members: [String: Value] = [:]
            try reader.object(depth: 2) { reader, name throws(ServiceError) in
                let value = try reader.value(depth: 2)
                guard members.updateValue(value, forKey: name) == nil else { throw reader.fault("names a member of aps twice") }
            }
            aps = members
        }
        skipBlanks()
        guard index == bytes.count else { throw fault("must be one JSON object and nothing behind it") }
        return aps
    }

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private func fault(_ words: String, at place: Int? = nil) -> ServiceError {
        ServiceError(.malformedJSON, "the body of a push \(words) (at byte \((place ?? index) + 1))")
    }

    private mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    /// Reads an object; `member` is called before each value and reads it.
    private mutating func object(
        depth: Int, _ member: (inout PushBodyReader, String) throws(ServiceError) -> Void
    ) throws(ServiceError) {
        index += 1
        skipBlanks()
        if take("}") { return }
        repeat {
            skipBlanks()
            guard peek == UInt8(ascii: "\"") else { throw fault("lacks a name in quotes") }
            let name = try string()
            skipBlanks()
            guard take(":") else { throw fault("lacks a colon") }
            skipBlanks()
            try member(&self, name)
            skipBlanks()
        } while take(",")
        guard take("}") else { throw fault("lacks a comma or a closing brace") }
    }

    private mutating func value(depth: Int) throws(ServiceError) -> Value {
        guard depth < Self.maximumDepth else { throw fault("is nested deeper than \(Self.maximumDepth)") }
        switch peek {
        case UInt8(ascii: "\""): return .text(isEmpty: try string().isEmpty)
        case UInt8(ascii: "{"):
            var isEmpty = true
            try object(depth: depth + 1) { reader, _ throws(ServiceError) in
                isEmpty = false
                _ = try reader.value(depth: depth + 1)
            }
            return .object(isEmpty: isEmpty)
        case UInt8(ascii: "["): return try list(depth: depth + 1)
        case UInt8(ascii: "t"): return try word("true", .other)
        case UInt8(ascii: "f"): return try word("false", .other)
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func list(depth: Int) throws(ServiceError) -> Value {
        index += 1
        skipBlanks()
        if take("]") { return .other }
        repeat {
            skipBlanks()
            _ = try value(depth: depth)
            skipBlanks()
        } while take(",")
        guard take("]") else { throw fault("lacks a comma or a closing bracket") }
        return .other
    }

    private mutating func word(_ text: String, _ value: Value) throws(ServiceError) -> Value {
        guard bytes[index...].starts(with: text.utf8) else { throw fault("lacks a value") }
        index += text.utf8.count
        return value
    }
}

extension PushBodyReader {
    private mutating func number() throws(ServiceError) -> Value {
        let start = index
        _ = take("-")
        if !take("0") {
            guard digits() else { throw fault("lacks a value", at: start) }
        }
        if take("."), !digits() { throw fault("has a malformed number", at: start) }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            guard digits() else { throw fault("has a malformed number", at: start) }
        }
        return Double(String(decoding: bytes[start..<index], as: UTF8.self)) == 1 ? .one : .other
    }

    private mutating func digits() -> Bool {
        let start = index
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        return index > start
    }

    /// Reads a string in quotes and returns what it says.
    private mutating func string() throws(ServiceError) -> String {
        let quote = index
        index += 1
        var text: [UInt8] = []
        while let byte = peek {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): text += try escape().utf8
            case 0..<0x20: throw fault("has a control character in a text", at: index - 1)
            default: text.append(byte)
            }
        }
        throw fault("has a text without an end", at: quote)
    }

    /// What a backslash, which was read, stands for.
    private mutating func escape() throws(ServiceError) -> String {
        let start = index - 1
        let byte = peek
        index += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw fault("has an unknown escape", at: start)
        }
        var units = [try codeUnit(from: start)]
        if UTF16.isLeadSurrogate(units[0]), take("\\"), take("u") { units.append(try codeUnit(from: start)) }
        guard let text = String(validating: units, as: UTF16.self) else { throw fault("has half a character", at: start) }
        return text
    }

    private mutating func codeUnit(from start: Int) throws(ServiceError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault("has a malformed escape", at: start)
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }
}
