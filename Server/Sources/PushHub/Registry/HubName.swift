/// The name of a hub: the first word of its paths. Compared without regard to case, kept as it was spelled.
public struct HubName: Sendable, CustomStringConvertible {
    /// The most characters of a name.
    public static let maximumLength = 260

    /// Names that would hide a path of the server.
    public static let reserved = ["api", "phone", "console", "livez", "readyz", "metrics", "docs"]

    /// As it was spelled.
    public let text: String
    /// In lower case: what is compared and searched for.
    public let folded: String

    /// Takes a name: 1 to 260 ASCII letters, digits, `.`, `-` and `_`, of which the first and the last is a letter or digit, and none
    /// of the reserved ones; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard (1...Self.maximumLength).contains(bytes.count), let first = bytes.first, let last = bytes.last,
            Self.isLetterOrDigit(first), Self.isLetterOrDigit(last),
            bytes.allSatisfy({ Self.isLetterOrDigit($0) || ".-_".utf8.contains($0) })
        else { return nil }
        self.text = String(text)
        folded = text.lowercased()
        guard !Self.reserved.contains(folded) else { return nil }
    }

    public var description: String { text }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension HubName: Hashable, Comparable {
    public static func == (left: HubName, right: HubName) -> Bool { left.folded == right.folded }
    public static func < (left: HubName, right: HubName) -> Bool { left.folded.utf8.lexicographicallyPrecedes(right.folded.utf8) }
    public func hash(into hasher: inout Hasher) { hasher.combine(folded) }
}
