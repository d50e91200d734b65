import ServiceErrors

/// Reads JSON once (RFC 8259) before any decoder sees it, and refuses what decoders disagree about or break on: nesting beyond
/// the limit, a name twice in one object, half surrogates, `NaN`, anything after the value.
///
/// Names that occur twice are refused rather than tolerated, because the value that was checked and the value that is used
/// could be two. Errors name the byte, never what stands there.
public struct JSONScanner {
    /// How the complaint ends about what many readers take: they use one of the two.
    package static let sameNameTwice = "an object has the same name twice"

    private let bytes: [UInt8]
    private let depthLimit: Int
    private let known: Set<String>?
    private var position = 0
    /// The names on the way to the value that is read.
    private var path: [String] = []

    private init(_ bytes: [UInt8], depthLimit: Int, known: Set<String>?) {
        self.bytes = bytes
        self.depthLimit = depthLimit
        self.known = known
    }

    /// Checks `bytes` and says what kind of value they are. With `known`, the first field whose path is not among them ends the reading: paths are kept only as far as
    /// the caller knows them, else a small body with one long name around many short ones would fill the memory.
    ///
    /// Throws `malformed-json`, and `invalid-field` for an unknown field and for a number that fits neither 64 bits nor a double.
    public static func scan(
        _ bytes: [UInt8], depthLimit: Int, known: Set<String>? = nil
    ) throws(ServiceError) -> JSONKind {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw ServiceError(.malformedJSON, "the body is not UTF-8") }
        var scanner = JSONScanner(bytes, depthLimit: depthLimit, known: known)
        scanner.skipBlanks()
        let kind = try scanner.value(depth: 0)
        scanner.skipBlanks()
        guard scanner.position == bytes.count else { throw scanner.fault("the end of the body was expected") }
        return kind
    }

    private mutating func value(depth: Int) throws(ServiceError) -> JSONKind {
        switch peek {
        case UInt8(ascii: "{"):
            try object(depth: depth + 1)
            return .object
        case UInt8(ascii: "["):
            try list(depth: depth + 1)
            return .list
        case UInt8(ascii: "\""):
            _ = try string()
            return .string
        case UInt8(ascii: "t"):
            try word("true")
            return .boolean
        case UInt8(ascii: "f"):
            try word("false")
            return .boolean
        case UInt8(ascii: "n"):
            try word("null")
            return .null
        default:
            try number()
            return .number
        }
    }

    private mutating func object(depth: Int) throws(ServiceError) {
        try enter(depth)
        var names: Set<String> = []
        skipBlanks()
        if take(UInt8(ascii: "}")) { return }
        repeat {
            skipBlanks()
            guard peek == UInt8(ascii: "\"") else { throw fault("a name in quotes was expected") }
            let name = try string()
            guard names.insert(name).inserted else { throw fault(Self.sameNameTwice) }
            path.append(name)
            try checkField()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw fault("a colon was expected") }
            skipBlanks()
            _ = try value(depth: depth)
            path.removeLast()
            skipBlanks()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw fault("a comma or a closing brace was expected") }
    }

    private func checkField() throws(ServiceError) {
        guard let known else { return }
        let field = path.joined(separator: ".")
        guard known.contains(field) else { throw ServiceError(.invalidField, "field '\(JSONFields.shown(field))' is not known") }
    }

    private mutating func list(depth: Int) throws(ServiceError) {
        try enter(depth)
        skipBlanks()
        if take(UInt8(ascii: "]")) { return }
        repeat {
            skipBlanks()
            _ = try value(depth: depth)
            skipBlanks()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw fault("a comma or a closing bracket was expected") }
    }

    private mutating func enter(_ depth: Int) throws(ServiceError) {
        guard depth <= depthLimit else { throw fault("objects and lists are nested more than \(depthLimit) deep") }
        position += 1
    }

    private mutating func word(_ text: StaticString) throws(ServiceError) {
        for index in 0..<text.utf8CodeUnitCount where !take(text.utf8Start[index]) { throw fault("a value was expected") }
    }

    private mutating func number() throws(ServiceError) {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) {
            guard digits() else { throw fault("a value was expected") }
        }
        var isWhole = true
        if take(UInt8(ascii: ".")) {
            isWhole = false
            guard digits() else { throw fault("a digit was expected") }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isWhole = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() else { throw fault("a digit was expected") }
        }
        // Decoders answer to numbers beyond their types with errors that name no field, or with infinity.
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard isWhole ? Int64(text) != nil : Double(text)?.isFinite == true else {
            throw ServiceError(.invalidField, "\(JSONFields.place(path.joined(separator: "."))): the number is out of range")
        }
    }

    private mutating func digits() -> Bool {
        let start = position
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position > start
    }
}

extension JSONScanner {
    /// Reads a string in quotes and returns what it says.
    private mutating func string() throws(ServiceError) -> String {
        position += 1
        var units: [UInt16] = []
        var plain = position
        var text = ""
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                text += try decoded(&units, before: plain < position) + String(decoding: bytes[plain..<position], as: UTF8.self)
                position += 1
                if byte == UInt8(ascii: "\"") { return text + (try decoded(&units, before: true)) }
                units.append(try escape())
                plain = position
            case 0..<0x20: throw fault("a control character stands in a string")
            default: position += 1
            }
        }
        throw fault("a closing quote was expected")
    }

    /// The text of the escapes collected so far. Pairs of surrogates are decoded together, so they wait for `complete`.
    private func decoded(_ units: inout [UInt16], before complete: Bool) throws(ServiceError) -> String {
        guard complete, !units.isEmpty else { return "" }
        guard let text = String(validating: units, as: UTF16.self) else { throw fault("half of a surrogate pair stands alone") }
        units.removeAll()
        return text
    }

    private mutating func escape() throws(ServiceError) -> UInt16 {
        guard let byte = peek else { throw fault("an escape was expected") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UInt16(byte)
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "u"):
            let end = position + 4
            guard end <= bytes.count, bytes[position..<end].allSatisfy(Self.isHexDigit),
                let unit = UInt16(String(decoding: bytes[position..<end], as: UTF8.self), radix: 16)
            else { throw fault("four hexadecimal digits were expected") }
            position = end
            return unit
        default: throw fault("a string has an unknown escape")
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    private func fault(_ expectation: String) -> ServiceError {
        ServiceError(.malformedJSON, "at byte \(position): \(expectation)")
    }
}
