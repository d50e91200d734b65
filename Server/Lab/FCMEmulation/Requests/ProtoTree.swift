import RichPushModel
import WireText

/// A value of JSON as it was written: members in their order, and names as often as they came. Google's reader names both.
indirect enum ProtoTree: Sendable {
    case null
    case flag(Bool)
    /// As it stood.
    case number(String)
    case text(String)
    case list([ProtoTree])
    case object([(name: String, value: ProtoTree)])

    /// Reads a body. Throws `JSONFault`.
    init(_ bytes: [UInt8]) throws(JSONFault) {
        var cursor = try JSONCursor(validating: bytes, depthLimit: 50)
        cursor.skipBlanks()
        self = try Self.value(&cursor)
        try cursor.end()
    }

    private static func value(_ cursor: inout JSONCursor) throws(JSONFault) -> ProtoTree {
        var isFirst = true
        switch cursor.kind {
        case .object:
            var members: [(name: String, value: ProtoTree)] = []
            while let name = try cursor.nextName(&isFirst) { members.append((name, try value(&cursor))) }
            return .object(members)
        case .list:
            var elements: [ProtoTree] = []
            while try cursor.nextElement(&isFirst) { elements.append(try value(&cursor)) }
            return .list(elements)
        case .string: return .text(try cursor.string())
        case .boolean:
            let isTrue = cursor.peek == UInt8(ascii: "t")
            try cursor.skipPlainValue()
            return .flag(isTrue)
        case .null:
            try cursor.skipPlainValue()
            return .null
        case .number, nil: return .number(cursor.text(try cursor.number()))
        }
    }

    /// The members of an object by name; of a name that came twice the last.
    var members: [String: ProtoTree]? {
        guard case .object(let members) = self else { return nil }
        return Dictionary(members.map { ($0.name, $0.value) }) { $1 }
    }

    /// The value without the order of its members.
    var plain: JSONValue {
        switch self {
        case .null: .null
        case .flag(let flag): .flag(flag)
        case .number(let text): Int64(text).map { .integer($0) } ?? .number(Double(text) ?? 0)
        case .text(let text): .text(text)
        case .list(let elements): .list(elements.map(\.plain))
        case .object(let members): .object(Dictionary(members.map { ($0.name, $0.value.plain) }) { $1 })
        }
    }

    /// As Google's sentences show a wrong value.
    var shown: String {
        switch self {
        case .null: "null"
        case .flag(let flag): "\(flag)"
        case .number(let text): text
        case .text(let text): "\"\(text.prefix(100))\""
        case .list: "[…]"
        case .object: "{…}"
        }
    }
}

extension JSONValue {
    var asText: String? { if case .text(let text) = self { text } else { nil } }

    var asList: [JSONValue] { if case .list(let list) = self { list } else { [] } }

    /// A member of an object.
    subscript(_ name: String) -> JSONValue? { members?[name] }

    /// How many bytes it has as JSON without blanks.
    var byteCount: Int {
        switch self {
        case .null: 4
        case .flag(let flag): flag ? 4 : 5
        case .integer(let number): "\(number)".utf8.count
        case .number(let number): "\(number)".utf8.count
        case .text(let text): JSONText.string(text).utf8.count
        case .list(let list): list.reduce(2 + max(0, list.count - 1)) { $0 + $1.byteCount }
        case .object(let members):
            members.reduce(2 + max(0, members.count - 1)) { $0 + JSONText.string($1.key).utf8.count + 1 + $1.value.byteCount }
        }
    }
}
