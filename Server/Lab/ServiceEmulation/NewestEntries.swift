/// A ring of the newest entries: beyond its capacity the oldest goes first.
public struct NewestEntries<Element: Sendable>: Sendable {
    /// How many are kept.
    public let capacity: Int
    @usableFromInline var total = 0
    @usableFromInline var ring: [Element] = []
    @usableFromInline var oldest = 0

    /// Creates an empty ring.
    public init(capacity: Int) { self.capacity = max(0, capacity) }

    /// How many there were in all, also those that were cleared.
    public var count: Int { total }

    /// Oldest first.
    public var elements: [Element] { Array(ring[oldest...] + ring[..<oldest]) }

    /// Adds an entry and returns the one that had to go.
    @discardableResult
    @inlinable
    public mutating func append(_ element: Element) -> Element? {
        total += 1
        guard capacity > 0 else { return nil }
        guard ring.count == capacity else {
            ring.append(element)
            return nil
        }
        let dropped = ring[oldest]
        ring[oldest] = element
        oldest = (oldest + 1) % capacity
        return dropped
    }

    /// Changes the newest entry that fulfils a condition.
    public mutating func changeLast(where matches: (Element) -> Bool, _ change: (inout Element) -> Void) {
        let places = ring.indices.lazy.reversed().map { [oldest, count = ring.count] in ($0 + oldest) % count }
        if let place = places.first(where: { matches(ring[$0]) }) { change(&ring[place]) }
    }

    /// Forgets what it holds.
    public mutating func clear() { (ring, oldest) = ([], 0) }
}
