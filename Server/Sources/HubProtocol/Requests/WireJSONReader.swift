import WireText

/// Reads one JSON document, strictly, with bounds.
///
/// A name may occur twice in one object: the reader keeps both, and `WireJSON` takes the last, as the service does that clients know.
struct WireJSONReader {
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
