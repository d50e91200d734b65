/// The name by which a user signs in: 1 to 64 of `A-Z a-z 0-9 _ @ . -`, unique without regard to case.
public struct UserName: Sendable, Codable, CustomStringConvertible {
    /// The name as it was given.
    public let text: String

    /// The form that is compared.
    public var folded: String { text.lowercased() }

    /// Creates a name; `nil` when the text breaks the rule above.
    public init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    public var description: String { text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "@"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let name = UserName(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a user name has 1 to 64 of A-Z a-z 0-9 _ @ . -")
        }
        self = name
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension UserName: Hashable {
    public static func == (left: UserName, right: UserName) -> Bool { left.folded == right.folded }

    public func hash(into hasher: inout Hasher) { hasher.combine(folded) }
}
