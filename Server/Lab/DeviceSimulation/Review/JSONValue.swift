/// Any value of JSON, to look at what somebody typed.
package enum JSONValue: Decodable, Hashable, Sendable {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([JSONValue].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: JSONValue].self))
        }
    }

    /// What it is called in a sentence.
    package var words: String {
        switch self {
        case .null: "null"
        case .flag(let flag): flag ? "true" : "false"
        case .number: "a number"
        case .text: "a text in quotes"
        case .list: "a list"
        case .object: "an object"
        }
    }

    /// The members of an object; `nil` for anything else.
    package var members: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }
}
