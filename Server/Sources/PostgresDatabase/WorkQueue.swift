import Foundation
import SQLStorage

/// Work that waits for one of several threads: bounded, and ended once.
///
/// `@unchecked` is safe: `waiting`, `idle` and `isStopped` are touched only while `condition` is locked.
final class WorkQueue<Work: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private let limit: Int
    private var waiting: [Work] = []
    /// Threads that wait for work.
    private var idle = 0
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
        idle += 1
        while waiting.isEmpty, !isStopped, waits { condition.wait() }
        idle -= 1
        guard !waiting.isEmpty else { return isStopped ? nil : [] }
        let taken = Array(waiting.prefix(max(1, count(waiting))))
        waiting.removeFirst(taken.count)
        return taken
    }

    /// How busy the threads are, of which there are `size`.
    func load(of size: Int) -> DatabaseLoad.Pool {
        condition.lock()
        defer { condition.unlock() }
        return .init(size: size, inUse: max(0, size - idle), waiting: waiting.count)
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
