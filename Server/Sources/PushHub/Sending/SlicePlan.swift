/// How a send is cut into pieces that nodes can work on beside each other.
public struct SlicePlan: Hashable, Sendable {
    /// Keys after `after` up to and with `last`.
    public struct Range: Hashable, Sendable {
        public var after: SliceKey
        public var last: SliceKey

        /// Creates a range.
        public init(after: SliceKey, last: SliceKey) {
            self.after = after
            self.last = last
        }
    }

    public var ranges: [Range]
    public var weight: SliceWeight

    /// Above this audience a send is split. Counting stops one above.
    public static let singleSliceLimit = 10_000
    /// Into how many ranges: enough for several nodes, few enough that the queue stays small.
    public static let split = 16

    /// The plan for an audience of that size, as far as it was counted.
    public init(audience: Int) {
        weight = audience <= SliceWeight.smallLimit ? .small : .large
        ranges = Self.ranges(audience > Self.singleSliceLimit ? Self.split : 1)
    }

    /// Keys are hashes, so ranges of equal width hold about equally many records.
    private static func ranges(_ count: Int) -> [Range] {
        let width = UInt64.max / UInt64(count)
        let bounds = (0..<count).map { SliceKey(Int64(truncatingIfNeeded: UInt64(bitPattern: .min) &+ width &* UInt64($0))) }
        return zip(bounds, bounds.dropFirst() + [.last]).map { Range(after: $0, last: $1) }
    }
}

/// How much work a slice is expected to be. Small ones go first, and some hands are kept free for them.
public enum SliceWeight: Int64, Sendable, Comparable {
    case small = 0
    case large = 1

    /// Targets up to which a slice is small: one batch.
    public static let smallLimit = 1_000

    public static func < (left: SliceWeight, right: SliceWeight) -> Bool { left.rawValue < right.rawValue }
}
