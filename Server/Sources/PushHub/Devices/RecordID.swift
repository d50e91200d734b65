/// The name of a device record within a hub: a registration id or an installation id, at most 256 bytes of printable ASCII.
public struct RecordID: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let text: String

    /// Creates an id; `nil` when the text breaks the rule above.
    public init?(_ text: String) {
        guard (1...256).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.text = text
    }

    public var description: String { text }

    public static func < (left: RecordID, right: RecordID) -> Bool { left.text < right.text }
}
