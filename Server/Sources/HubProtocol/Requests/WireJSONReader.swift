/// Reads one JSON document (RFC 8259), strictly, with bounds.
struct WireJSONReader {
    private let bytes: [UInt8]
    private var index = 0
    private var values = 0

    static let maximumDepth = 32
    static let maximumValues = 50_000

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The whole text as one value; a byte order mark in front is skipped.
    mutating func document() throws(HubRequestFault) -> WireJSON {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        let value = try value(depth: 0)
        skipBlanks()
        guard index == bytes.count else { throw fault("there is more text after the JSON value") }
        return value
    }

    private mutating func value(depth: Int) throws(HubRequestFault) -> WireJSON {
        values += 1
        guard depth <= Self.maximumDepth else { throw fault("the JSON is nested deeper than \(Self.maximumDepth)") }
        guard values <= Self.maximumValues else { throw fault("the JSON has more than \(Self.maximumValues) values") }
        skipBlanks()
        guard let byte = peek else { throw fault("the JSON ends too early") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        case _ where take("true"): return .bool(true)
        case _ where take("false"): return .bool(false)
        case _ where take("null"): return .null
        default: throw fault("a JSON value is expected")
        }
    }

    private mutating func object(depth: Int) throws(HubRequestFault) -> WireJSON {
        index += 1
        var members: [WireJSON.Member] = []
        skipBlanks()
        if take("}") { return .object(members) }
        repeat {
            skipBlanks()
            guard peek == UInt8(ascii: "\"") else { throw fault("a member's name in quotes is expected") }
            let name = try string()
            skipBlanks()
            guard take(":") else { throw fault("a colon is expected") }
            members.append(WireJSON.Member(name, try value(depth: depth + 1)))
            skipBlanks()
        } while take(",")
        guard take("}") else { throw fault("a comma or } is expected") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(HubRequestFault) -> WireJSON {
        index += 1
        var elements: [WireJSON] = []
        skipBlanks()
        if take("]") { return .array(elements) }
        repeat {
            elements.append(try value(depth: depth + 1))
            skipBlanks()
        } while take(",")
        guard take("]") else { throw fault("a comma or ] is expected") }
        return .array(elements)
    }

    private mutating func number() throws(HubRequestFault) -> String {
        let start = index
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        guard index - start <= 64 else { throw fault("the number has too many digits") }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func digits() throws(HubRequestFault) {
        let start = index
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        if index == start { throw fault("a digit is expected") }
    }

    private mutating func string() throws(HubRequestFault) -> String {
        index += 1
        var result: [UInt8] = []
        while let byte = peek {
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: result, as: UTF8.self) else { throw fault("the text is not UTF-8") }
                return text
            case UInt8(ascii: "\\"): result += Array(String(try escape()).utf8)
            case 0..<0x20: throw fault("a control character must be escaped")
            default: result.append(byte)
            }
        }
        throw fault("a closing quote is missing")
    }

    private mutating func escape() throws(HubRequestFault) -> Unicode.Scalar {
        guard let byte = peek else { throw fault("the JSON ends too early") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw fault("the escape is unknown")
        }
    }

    private mutating func unicodeEscape() throws(HubRequestFault) -> Unicode.Scalar {
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        // Not a scalar alone, so half of a surrogate pair.
        guard first < 0xDC00, take("\\u") else { throw fault("half of a surrogate pair stands alone") }
        let second = try hexadecimal()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw fault("half of a surrogate pair stands alone") }
        return scalar
    }

    private mutating func hexadecimal() throws(HubRequestFault) -> UInt32 {
        guard index + 4 <= bytes.count else { throw fault("four hexadecimal digits are expected") }
        var number: UInt32 = 0
        for byte in bytes[index..<index + 4] {
            guard let digit = PercentCoding.hexadecimal(byte) else { throw fault("four hexadecimal digits are expected") }
            number = number << 4 | UInt32(digit)
        }
        index += 4
        return number
    }

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func take(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard index + count <= bytes.count else { return false }
        let isSame = word.withUTF8Buffer { buffer in buffer.indices.allSatisfy { bytes[index + $0] == buffer[$0] } }
        if isSame { index += count }
        return isSame
    }

    private mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { index += 1 }
    }

    private func fault(_ reason: String) -> HubRequestFault { HubRequestFault(at: "byte \(index + 1)", reason) }
}
