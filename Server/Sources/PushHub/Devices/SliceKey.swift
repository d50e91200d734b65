import Crypto

/// Where a record stands in the order in which broadcasts walk through a hub: a 64-bit hash of the record id.
///
/// It never changes, so that rotating a token moves nothing. Storage keeps it unique within a hub by taking the next free
/// number when two ids meet.
public struct SliceKey: Hashable, Sendable, Comparable {
    public let number: Int64

    /// Creates a key from storage.
    public init(_ number: Int64) { self.number = number }

    /// The key of a new record.
    public init(of record: RecordID) {
        let digest = SHA256.hash(data: Array(record.text.utf8))
        let bits = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        number = Int64(bitPattern: bits)
    }

    /// The first key of all.
    public static let first = SliceKey(.min)
    /// The last key of all.
    public static let last = SliceKey(.max)

    public static func < (left: SliceKey, right: SliceKey) -> Bool { left.number < right.number }
}
