/// What a push says about whose it is, so that a phone which several people use can keep it from the wrong one: the first 8
/// bytes of SHA-256 over a fixed prefix, the number of the notification and the name of the user.
///
/// The number makes it another one in every push: who carries pushes cannot tell by it that two of them are for the same user. It
/// hides no name from somebody who guesses one and tries it, and proves nothing: access to the content is checked by the server.
public struct SubjectMark: Hashable, Sendable {
    /// The key of a push that carries it.
    public static let key = "richFor"
    private static let length = 8

    /// 16 lower-case hexadecimal digits.
    public let text: String

    /// Reads what a push says; `nil` when it is no such mark.
    public init?(_ text: String) {
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }
        guard text.utf8.count == 2 * Self.length, text.utf8.allSatisfy(isDigit) else { return nil }
        self.text = text
    }

    /// Makes the mark of a digest, which is SHA-256 of `message(of:for:)`; `nil` when it is shorter than 8 bytes.
    public init?(digest: some Sequence<UInt8>) {
        let digits = Array("0123456789abcdef".utf8)
        let bytes = digest.prefix(Self.length)
        self.init(String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self))
    }

    /// What is hashed. Names count without regard to case, as users do.
    public static func message(of id: RichID, for user: String) -> [UInt8] {
        Array("clarion subject 1\n\(id)\n\(user.lowercased())".utf8)
    }
}

extension SubjectMark: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let mark = SubjectMark(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a subject mark")
        }
        self = mark
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
