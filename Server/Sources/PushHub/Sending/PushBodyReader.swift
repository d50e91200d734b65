import ServiceErrors
import WireText

/// Reads the body of a push for APNs once and says where it breaks a rule. The bytes themselves go out as they came, so what is read
/// here is what a phone will read: nothing is corrected and nothing foreign let through. A name may occur twice outside `aps`, where
/// the hub reads nothing.
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

    private var cursor: JSONCursor

    /// The members of `aps`, `nil` where there is none. Throws `malformed-json`.
    static func aps(in bytes: [UInt8]) throws(ServiceError) -> [String: Value]? {
        do throws(JSONFault) {
            var reader = PushBodyReader(cursor: try JSONCursor(validating: bytes, depthLimit: maximumDepth))
            return try reader.body()
        } catch {
            throw ServiceError(.malformedJSON, "the body of a push \(words(for: error.problem)) (at byte \(error.start + 1))")
        }
    }

    private mutating func body() throws(JSONFault) -> [String: Value]? {
        cursor.skipBlanks()
        guard cursor.kind == .object else { throw cursor.fault(.rule("must be one JSON object")) }
        var aps: [String: Value]?
        var isFirst = true
        while let name = try cursor.nextName(&isFirst) {
            if name == "aps" {
                guard aps == nil else { throw cursor.fault(.rule("names aps twice")) }
                guard cursor.kind == .object else { throw cursor.fault(.rule("has an aps that is no object")) }
                aps = try members()
            } else {
                try cursor.skipValue()
            }
        }
        try cursor.end()
        return aps
    }

    private mutating func members() throws(JSONFault) -> [String: Value] {
        var members: [String: Value] = [:]
        var isFirst = true
        while let name = try cursor.nextName(&isFirst) {
            let value = try value()
            guard members.updateValue(value, forKey: name) == nil else {
                throw cursor.fault(.rule("names a member of aps twice"))
            }
        }
        return members
    }

    private mutating func value() throws(JSONFault) -> Value {
        let (start, kind) = (cursor.position, cursor.kind)
        try cursor.skipValue()
        let text = start..<cursor.position
        switch kind {
        case .string: return .text(isEmpty: text.count == 2)
        case .object:
            let content = cursor.bytes[text].dropFirst().dropLast()
            return .object(isEmpty: content.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D })
        case .null: return .null
        case .number: return Double(cursor.text(text)) == 1 ? .one : .other
        case .list, .boolean, nil: return .other
        }
    }

    private static func words(for problem: JSONFault.Problem) -> String {
        switch problem {
        case .notUTF8: "is not UTF-8"
        case .tooDeep(let limit): "is nested deeper than \(limit)"
        case .value: "lacks a value"
        case .name: "lacks a name in quotes"
        case .colon: "lacks a colon"
        case .commaOrBrace: "lacks a comma or a closing brace"
        case .commaOrBracket: "lacks a comma or a closing bracket"
        case .digit: "has a malformed number"
        case .duplicateName: "names a member twice"
        case .unterminatedString: "has a text without an end"
        case .controlCharacter: "has a control character in a text"
        case .unterminatedEscape, .unknownEscape: "has an unknown escape"
        case .malformedUnicodeEscape: "has a malformed escape"
        case .loneSurrogate: "has half a character"
        case .end: "must be one JSON object and nothing behind it"
        case .rule(let words): words
        }
    }
}
