import Synchronization

/// Counts across threads.
final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    /// Counts up; returns the new number.
    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
