import Crypto

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
