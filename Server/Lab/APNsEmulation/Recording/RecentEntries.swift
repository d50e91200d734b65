/// A ring of the newest entries.
struct RecentEntries<Element: Sendable>: Sendable {
    let capacity: Int
    private var storage: [Element] = []
    private var oldest = 0

    init(capacity: Int) { self.capacity = max(0, capacity) }

    /// Oldest first.
    var elements: [Element] { Array(storage[oldest...] + storage[..<oldest]) }

    /// Adds an entry and returns the one that had to go.
    @discardableResult
    mutating func append(_ element: Element) -> Element? {
        guard capacity > 0 else { return nil }
        guard storage.count == capacity else {
            storage.append(element)
            return nil
        }
        let dropped = storage[oldest]
        storage[oldest] = element
        oldest = (oldest + 1) % capacity
        return dropped
    }
}
