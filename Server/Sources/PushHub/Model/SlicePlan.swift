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

    /// Pushes a second that one slice is sure to carry, in pages of a thousand to a push service that is a tenth of a second away.
    public static let pacePerSlice = 2_000

    /// The plan for an audience of that size, as far as it was counted. One that is scheduled may have grown when it is due.
    ///
    /// One that has a pace has no more slices than it needs for that: each keeps a share of the pace by itself, so that the pace
    /// holds wherever slices are worked on.
    public init(audience: Int, isScheduled: Bool = false, pushesPerSecond: Int? = nil) {
        weight = audience > SliceWeight.smallLimit ? .large : audience > SliceWeight.singleLimit || isScheduled ? .small : .single
        let needed = pushesPerSecond.map { ($0 - 1) / Self.pacePerSlice + 1 } ?? Self.split
        ranges = Self.ranges(audience > Self.singleSliceLimit ? min(max(needed, 1), Self.split) : 1)
    }

    /// The plan for so many handles, by position from 1.
    public init(handles count: Int) {
        weight = count > SliceWeight.singleLimit ? .small : .single
        ranges = [Range(after: SliceKey(0), last: SliceKey(Int64(count)))]
    }

    /// What a slice may send of a pace. The shares of all slices are the whole; no pace is less than one for each.
    public func share(of pushesPerSecond: Int, slice number: Int) -> Int {
        pushesPerSecond / ranges.count + (number < pushesPerSecond % ranges.count ? 1 : 0)
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
