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

    /// The plan for an audience of that size, as far as it was counted. One that is scheduled may have grown when it is due.
    public init(audience: Int, isScheduled: Bool = false) {
        weight = audience > SliceWeight.smallLimit ? .large : audience > SliceWeight.singleLimit || isScheduled ? .small : .single
        ranges = Self.ranges(audience > Self.singleSliceLimit ? Self.split : 1)
    }

    /// The plan for so many handles, by position from 1.
    public init(handles count: Int) {
        weight = count > SliceWeight.singleLimit ? .small : .single
        ranges = [Range(after: SliceKey(0), last: SliceKey(Int64(count)))]
    }

    /// Keys are hashes, so ranges of equal width hold about equally many records.
    private static func ranges(_ count: Int) -> [Range] {
        let width = UInt64.max / UInt64(count)
        let bounds = (0..<count).map { SliceKey(Int64(truncatingIfNeeded: UInt64(bitPattern: .min) &+ width &* UInt64($0))) }
        return zip(bounds, bounds.dropFirst() + [.last]).map { Range(after: $0, last: $1) }
    }
}

/// How much work a slice is expected to be. No weight waits for a heavier one: each has hands of its own.
public enum SliceWeight: Int64, Sendable, Comparable, CaseIterable {
    /// A person's devices.
    case single = -1
    case small = 0
    case large = 1

    /// Targets up to which a slice is small: one batch.
    public static let smallLimit = 1_000
    /// Targets up to which a slice is single.
    public static let singleLimit = 8

    public static func < (left: SliceWeight, right: SliceWeight) -> Bool { left.rawValue < right.rawValue }
}
