import WireText

/// The SHA-256 of a content: 64 lower-case hexadecimal digits. The only thing that names bytes in a store, so nothing else
/// ever becomes a path or a key.
public struct ContentDigest: Hashable, Sendable, CustomStringConvertible {
    public let text: String

    /// Reads a digest; `nil` for anything but 64 lower-case hexadecimal digits.
    public init?(_ text: String) {
        guard text.utf8.count == 64, text.utf8.allSatisfy(Self.isDigit) else { return nil }
        self.text = text
    }

    /// The digest of hash bytes; `nil` unless there are 32.
    public init?(bytes: some Sequence<UInt8>) {
        self.init(Hexadecimal.text(of: bytes))
    }

    public var description: String { text }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
