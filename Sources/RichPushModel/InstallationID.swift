/// The stable random name of one app on one device: 1 to 128 of `A-Z a-z 0-9 _ -`.
public struct InstallationID: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The id as it was given; it compares with regard to case.
    public let text: String

    /// Creates an id; `nil` when the text breaks the rule above.
    public init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    public var description: String { text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = InstallationID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "an installation id has 1 to 128 of A-Z a-z 0-9 _ -")
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
