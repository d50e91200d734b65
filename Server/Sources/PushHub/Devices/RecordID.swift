import Crypto
import WireText

/// The name of a device record within a hub: a registration id or an installation id, at most 256 bytes of printable ASCII.
///
/// The records that belong to an installation have names of their own, `~` and 32 hexadecimal digits, which no client may choose.
public struct RecordID: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let text: String

    /// Creates an id; `nil` when the text breaks the rule above.
    public init?(_ text: String) {
        guard (1...256).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.text = text
    }

    public var description: String { text }

    /// The name of the record of a template or tile of an installation: the same whenever they are.
    public static func derived(from installation: RecordID, tile: String?, template: String?) -> RecordID {
        var hash = SHA256()
        for part in [installation.text, tile.map { "t\($0)" } ?? "", template.map { "n\($0)" } ?? ""] {
            hash.update(data: Array("\(part.utf8.count):\(part)".utf8))
        }
        return RecordID(trusted: "~" + Hexadecimal.text(of: hash.finalize().prefix(16)))
    }

    /// Takes a text that was checked before it was stored.
    public init(trusted text: String) { self.text = text }

    /// Whether the name is one that only the records of installations have.
    public var isDerived: Bool {
        text.utf8.count == 33 && text.utf8.first == UInt8(ascii: "~")
            && text.utf8.dropFirst().allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }

    public static func < (left: RecordID, right: RecordID) -> Bool { left.text < right.text }
}
