/// The number that travels in a push and names a rich notification: a decimal number of 31 bits.
///
/// The phones of the rich push tutorial read an `int`, hence the size. It is sequential and not secret: access to the content is
/// checked, knowing the number gives nothing.
public struct RichID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// 1 … 2,147,483,647.
    public let number: Int32

    /// Creates an id; `nil` below 1.
    public init?(number: Int32) {
        guard number >= 1 else { return nil }
        self.number = number
    }

    /// Reads the canonical decimal form: ASCII digits without sign, blank or leading zero.
    public init?(_ text: some StringProtocol) {
        let digits = text.utf8
        guard (1...10).contains(digits.count), digits.first != UInt8(ascii: "0"),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int32(text)
        else { return nil }
        self.number = number
    }

    public var description: String { String(number) }

    public static func < (left: RichID, right: RichID) -> Bool { left.number < right.number }
}

extension RichID: Codable {
    /// Reads a JSON string or a JSON number; the rich push tutorial's pushes carry a string, its phones read a number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let read =
            (try? container.decode(String.self)).flatMap { RichID($0) }
            ?? (try? container.decode(Int32.self)).flatMap { RichID(number: $0) }
        guard let read else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a rich notification id")
        }
        self = read
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
