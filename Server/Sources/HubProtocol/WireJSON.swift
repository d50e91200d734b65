import WireText

/// A JSON value that keeps the order of members and the text of numbers, so that what a client stored comes back as it was.
public indirect enum WireJSON: Hashable, Sendable {
    /// One member of an object.
    public struct Member: Hashable, Sendable {
        public var name: String
        public var value: WireJSON

        public init(_ name: String, _ value: WireJSON) {
            self.name = name
            self.value = value
        }
    }

    case null
    case bool(Bool)
    /// A number as it is written.
    case number(String)
    case string(String)
    case array([WireJSON])
    case object([Member])

    /// Reads one value. Nesting is at most 32 deep, values are at most 50,000; the fault says the byte, counted from 1.
    public init(parsing bytes: some Collection<UInt8>) throws(HubRequestFault) {
        self = try WireJSONReader.document(Array(bytes))
    }

    /// The value of an object's member: the last under the name, without regard to ASCII case; `nil` when it is absent or
    /// `null`, which clients send for absent members (Reference/AzureNotificationHubs.md#5-1).
    public subscript(name: String) -> WireJSON? {
        guard case .object(let members) = self else { return nil }
        let folded = name.lowercased()
        return members.last { ($0.name == name || $0.name.lowercased() == folded) && $0.value != .null }?.value
    }

    /// The value as JSON text without blanks.
    public var text: String {
        var writer = WireJSONWriter()
        writer.write(self)
        return writer.text
    }

    /// A string as it is; a number or a truth as its JSON text; `nil` for anything else.
    var scalarText: String? {
        switch self {
        case .string(let text): text
        case .number(let text): text
        case .bool(let isTrue): isTrue ? "true" : "false"
        case .null, .array, .object: nil
        }
    }
}

/// Reads one JSON document, strictly, with bounds.
///
/// A name may occur twice in one object: the reader keeps both, and `WireJSON` takes the last, as the service does that clients know.
private struct WireJSONReader {
    private var cursor: JSONCursor
    private var values = 0

    static let maximumDepth = 32
    static let maximumValues = 50_000

    /// The whole text as one value; a byte order mark in front is skipped.
    static func document(_ bytes: [UInt8]) throws(HubRequestFault) -> WireJSON {
        do throws(JSONFault) {
            var reader = WireJSONReader(cursor: try JSONCursor(validating: bytes, depthLimit: maximumDepth))
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.cursor.position = 3 }
            reader.cursor.skipBlanks()
            let value = try reader.value()
            try reader.cursor.end()
            return value
        } catch {
            throw HubRequestFault(at: "byte \(error.offset + 1)", sentence(for: error, isAtEnd: error.offset == bytes.count))
        }
    }

    private mutating func value() throws(JSONFault) -> WireJSON {
        values += 1
        guard values <= Self.maximumValues else {
            throw cursor.fault(.rule("the JSON has more than \(Self.maximumValues) values"))
        }
        let start = cursor.position
        var isFirst = true
        switch cursor.kind {
        case .object:
            var members: [WireJSON.Member] = []
            while let name = try cursor.nextName(&isFirst) { members.append(WireJSON.Member(name, try value())) }
            return .object(members)
        case .list:
            var elements: [WireJSON] = []
            while try cursor.nextElement(&isFirst) { elements.append(try value()) }
            return .array(elements)
        case .string: return .string(try cursor.string())
        case .number, nil:
            let digits = try cursor.number()
            guard digits.count <= 64 else { throw cursor.fault(.rule("the number has too many digits")) }
            return .number(cursor.text(digits))
        case .boolean, .null:
            try cursor.skipPlainValue()
            let word = cursor.text(start..<cursor.position)
            return word == "null" ? .null : .bool(word == "true")
        }
    }

    private static func sentence(for fault: JSONFault, isAtEnd: Bool) -> String {
        switch fault.problem {
        case .value where fault.start < fault.offset, .digit: "a digit is expected"
        case .value where isAtEnd, .unterminatedEscape: "the JSON ends too early"
        case .value: "a JSON value is expected"
        case .notUTF8: "the text is not UTF-8"
        case .tooDeep(let limit): "the JSON is nested deeper than \(limit)"
        case .name: "a member's name in quotes is expected"
        case .colon: "a colon is expected"
        case .commaOrBrace: "a comma or } is expected"
        case .commaOrBracket: "a comma or ] is expected"
        case .duplicateName: "the name occurs twice"
        case .unterminatedString: "a closing quote is missing"
        case .controlCharacter: "a control character must be escaped"
        case .unknownEscape: "the escape is unknown"
        case .malformedUnicodeEscape: "four hexadecimal digits are expected"
        case .loneSurrogate: "half of a surrogate pair stands alone"
        case .end: "there is more text after the JSON value"
        case .rule(let words): words
        }
    }
}

/// Writes JSON to the byte: no blanks, `"` `\` and control characters escaped, everything else as UTF-8.
private struct WireJSONWriter {
    private var bytes: [UInt8] = []

    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func write(_ value: WireJSON) {
        switch value {
        case .null: bytes += Array("null".utf8)
        case .bool(let isTrue): bytes += Array((isTrue ? "true" : "false").utf8)
        case .number(let text): bytes += Array(text.utf8)
        case .string(let text): JSONText.append(string: text, to: &bytes)
        case .array(let values): write(values, UInt8(ascii: "["), UInt8(ascii: "]")) { $0.write($1) }
        case .object(let members):
            write(members, UInt8(ascii: "{"), UInt8(ascii: "}")) { writer, member in
                JSONText.append(string: member.name, to: &writer.bytes)
                writer.bytes.append(UInt8(ascii: ":"))
                writer.write(member.value)
            }
        }
    }

    private mutating func write<Element>(
        _ elements: [Element], _ open: UInt8, _ close: UInt8, _ body: (inout WireJSONWriter, Element) -> Void
    ) {
        bytes.append(open)
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            body(&self, element)
        }
        bytes.append(close)
    }
}
