/// Where a list goes on: opaque for clients, made of `A-Z a-z 0-9 - _` only, because some send it back as it is and others
/// escape it once more (Reference/AzureNotificationHubs.md#0-11).
public struct ContinuationToken: Hashable, Sendable {
    /// The name of the header that carries it in an answer. It is present only if there is another page.
    public static let headerName = "X-MS-ContinuationToken"

    /// The largest token in bytes.
    public static let maximumLength = 512

    /// The token as it is sent.
    public let text: String
    /// What the server put into it.
    public let position: [UInt8]

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let form: UInt8 = 1

    /// Makes a token of a position of at most 300 bytes.
    public init(position: [UInt8]) {
        precondition(position.count <= 300, "a position has at most 300 bytes")
        self.position = position
        text = Self.encoded([Self.form] + position)
    }

    /// Makes a token of the key of the last row of a page.
    public init(key: Int64) { self.init(position: (0..<8).map { UInt8(truncatingIfNeeded: key >> (56 - 8 * $0)) }) }

    /// The key that the token was made of; `nil` when it was made of something else.
    public var key: Int64? {
        position.count == 8 ? position.reduce(Int64(0)) { $0 << 8 | Int64($1) } : nil
    }

    /// Reads a token that came back; `nil` when this product has not made it.
    public init?(_ text: String) {
        guard (2...Self.maximumLength).contains(text.utf8.count), let bytes = Self.decoded(text), bytes.first == Self.form else {
            return nil
        }
        self.text = text
        position = Array(bytes.dropFirst())
    }

    private static func encoded(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0...group.count { result.append(alphabet[word >> (18 - 6 * index) & 63]) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The bytes of a text that `encoded` can have written, and no others: one token has one spelling.
    private static func decoded(_ text: String) -> [UInt8]? {
        var result: [UInt8] = []
        var word = 0
        var bits = 0
        for byte in text.utf8 {
            guard let value = alphabet.firstIndex(of: byte) else { return nil }
            word = (word << 6 | value) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                result.append(UInt8(truncatingIfNeeded: word >> bits))
            }
        }
        return encoded(result) == text ? result : nil
    }
}
