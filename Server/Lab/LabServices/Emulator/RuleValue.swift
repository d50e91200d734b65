/// What a rule of the local APNs is set to, in JSON: true or false, a number, a word, `{"count":…,"seconds":…}`, or null.
enum RuleValue: Codable, Hashable, Sendable {
    case flag(Bool)
    case number(Int)
    case word(String)
    case rate(count: Int, seconds: Int)
    case none

    private enum Key: CodingKey {
        case count, seconds
    }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let rate = try? value.decode([String: Int].self) {
            guard let count = rate["count"], let seconds = rate["seconds"], rate.count == 2 else {
                throw DecodingError.dataCorruptedError(in: value, debugDescription: "expected count and seconds")
            }
            self = .rate(count: count, seconds: seconds)
            return
        }
        if value.decodeNil() {
            self = .none
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? value.decode(Int.self) {
            self = .number(number)
        } else {
            self = .word(try value.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        if case .rate(let count, let seconds) = self {
            var rate = encoder.container(keyedBy: Key.self)
            try rate.encode(count, forKey: .count)
            try rate.encode(seconds, forKey: .seconds)
            return
        }
        var value = encoder.singleValueContainer()
        switch self {
        case .flag(let flag): try value.encode(flag)
        case .number(let number): try value.encode(number)
        case .word(let word): try value.encode(word)
        case .rate, .none: try value.encodeNil()
        }
    }
}
