import Foundation

/// Work that waits for one of several threads: bounded, and ended once.
///
/// `@unchecked` is safe: `waiting` and `isStopped` are touched only while `condition` is locked.
final class WorkQueue<Work: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private let limit: Int
    private var waiting: [Work] = []
    private var isStopped = false

    init(limit: Int) { self.limit = limit }

    enum Answer {
        case taken, full, stopped
    }

    func submit(_ work: Work) -> Answer {
        condition.lock()
        defer { condition.unlock() }
        guard !isStopped else { return .stopped }
        guard waiting.count < limit else { return .full }
        waiting.append(work)
        condition.signal()
        return .taken
    }

    /// Takes what `count` says of all that waits, at least one; `nil` at the end. While there is nothing it waits, or returns nothing
    /// unless `waits`.
    func take(waits: Bool = true, _ count: ([Work]) -> Int) -> [Work]? {
        condition.lock()
        defer { condition.unlock() }
        while waiting.isEmpty, !isStopped, waits { condition.wait() }
        guard !waiting.isEmpty else { return isStopped ? nil : [] }
        let taken = Array(waiting.prefix(max(1, count(waiting))))
        waiting.removeFirst(taken.count)
        return taken
    }

    /// Nothing is taken on any more; returns what nobody will do.
    func stop() -> [Work] {
        condition.lock()
        defer { condition.unlock() }
        isStopped = true
        let left = waiting
        waiting = []
        condition.broadcast()
        return left
    }
}
