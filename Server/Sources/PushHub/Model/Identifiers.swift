import Crypto
import RichPushModel
import WireText

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The internal number of a hub; every row of the hub's data carries it.
public struct HubID: Hashable, Sendable, Comparable {
    public let number: Int64

    public init(_ number: Int64) { self.number = number }

    public static func < (left: HubID, right: HubID) -> Bool { left.number < right.number }
}

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
        derived(from: installation, parts: [tile.map { "t\($0)" } ?? "", template.map { "n\($0)" } ?? ""])
    }

    /// The name of the record of another token of an installation: the same whenever it has one of this name.
    public static func derived(from installation: RecordID, token: String) -> RecordID {
        derived(from: installation, parts: ["", "", "k\(token)"])
    }

    private static func derived(from installation: RecordID, parts: [String]) -> RecordID {
        var hash = SHA256()
        for part in [installation.text] + parts { hash.update(data: Array("\(part.utf8.count):\(part)".utf8)) }
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

/// The hub's name of a send, the tracking id of its telemetry: a random UUID in lower case. A hub elsewhere may have names of
/// another form.
///
/// It is another type than `RichID`: one rich notification is one send, but a hub also carries sends that have no rich content.
public struct NotificationID: Hashable, Sendable, CustomStringConvertible {
    public let text: String

    /// A new random id.
    public init() { text = UUID().uuidString.lowercased() }

    /// Reads an id: a UUID in any case, or as it is another name of 1 to 128 of `A-Z a-z 0-9 - _ . ~`; `nil` for anything else.
    public init?(_ text: String) {
        if let uuid = UUID(uuidString: text) {
            self.text = uuid.uuidString.lowercased()
            return
        }
        let isAllowed = text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-_.~".utf8.contains($0) }
        guard (1...128).contains(text.utf8.count), isAllowed else { return nil }
        self.text = text
    }

    public var description: String { text }
}

/// A place in the order of a database's commits: a later one is larger, whatever the clocks of machines say.
///
/// A record gets the number that is current when it is made. A send takes the current number as its mark, and the number goes up.
/// So a record that was committed before a send began has a number up to the mark, and one that was begun after it a larger one.
public struct OrderNumber: Hashable, Comparable, Sendable {
    public let number: Int64

    public init(_ number: Int64) { self.number = number }

    /// After everything.
    public static let last = OrderNumber(.max)

    public static func < (left: OrderNumber, right: OrderNumber) -> Bool { left.number < right.number }
}

/// Where a record stands in the order in which broadcasts walk through a hub: a 64-bit hash of the record id.
///
/// It never changes, so that rotating a token moves nothing. Storage keeps it unique within a hub by taking the next free
/// number when two ids meet. No record has the number `Int64.min`, so that it can stand for "before all".
public struct SliceKey: Hashable, Sendable, Comparable {
    public let number: Int64

    /// Creates a key from storage.
    public init(_ number: Int64) { self.number = number }

    /// The key of a new record.
    public init(of record: RecordID) {
        let digest = SHA256.hash(data: Array(record.text.utf8))
        let bits = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        number = max(Int64(bitPattern: bits), .min + 1)
    }

    /// Before every record: where a walk begins.
    public static let beforeAll = SliceKey(.min)
    /// The last key of all.
    public static let last = SliceKey(.max)

    /// The key to try when this one is taken; after the last comes the first.
    public var next: SliceKey { SliceKey(number == .max ? .min + 1 : number + 1) }

    public static func < (left: SliceKey, right: SliceKey) -> Bool { left.number < right.number }
}

extension SliceKey {
    /// The key as a continuation token: 16 hexadecimal digits, because clients do not escape it
    /// (Reference/AzureNotificationHubs.md#0-11).
    public var token: String {
        let digits = String(UInt64(bitPattern: number), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Reads a token; `nil` for anything else.
    public init?(token: String) {
        guard token.utf8.count == 16, token.utf8.allSatisfy(\.isASCIIHexadecimalDigit), let bits = UInt64(token, radix: 16) else {
            return nil
        }
        self.init(Int64(bitPattern: bits))
    }
}

/// The number of a template's content within a hub: the same for every device that has the same template.
public struct TemplateID: Hashable, Sendable {
    public let number: Int64

    public init(_ number: Int64) { self.number = number }
}
