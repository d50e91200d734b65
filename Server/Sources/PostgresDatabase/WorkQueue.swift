import Foundation
import SQLStorage
import Synchronization

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

    /// Refuses further work; returns the work that will not be done.
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

/// A transaction that waits for a connection, or for its commit.
protocol PendingWork: Sendable {
    /// When it was asked for.
    var since: Duration { get }
    /// Whether it runs alone among all processes.
    var isAlone: Bool { get }

    /// Runs it and returns a closure that answers the caller after the commit. Rethrows its error; may be called again.
    func perform(_ connection: any SQLConnection) throws -> @Sendable () -> Void

    /// Answers with an error.
    func fail(_ error: any Error)
}

/// Work with its result type and the caller that waits for it.
struct TypedWork<Result: Sendable>: PendingWork {
    let since: Duration
    let isAlone: Bool
    let body: @Sendable (any SQLConnection) throws -> Result
    let caller: WaitingCaller<Result>

    func perform(_ connection: any SQLConnection) throws -> @Sendable () -> Void {
        let result = try body(connection)
        return { [caller] in caller.answer(.success(result)) }
    }

    func fail(_ error: any Error) { caller.answer(.failure(error)) }
}

/// A caller that waits for an answer and gets the first one.
final class WaitingCaller<Result: Sendable>: Sendable {
    private enum State {
        case expected
        case waiting(CheckedContinuation<Result, any Error>)
        case answered(Swift.Result<Result, any Error>)
        case over
    }

    private let state = Mutex(State.expected)

    func wait(_ continuation: CheckedContinuation<Result, any Error>) {
        let early = state.withLock { state -> Swift.Result<Result, any Error>? in
            guard case .answered(let answer) = state else {
                state = .waiting(continuation)
                return nil
            }
            state = .over
            return answer
        }
        if let early { continuation.resume(with: early) }
    }

    /// Answers, unless there was an answer before.
    func answer(_ answer: Swift.Result<Result, any Error>) {
        let waiting = state.withLock { state -> CheckedContinuation<Result, any Error>? in
            switch state {
            case .expected:
                state = .answered(answer)
                return nil
            case .waiting(let continuation):
                state = .over
                return continuation
            case .answered, .over: return nil
            }
        }
        waiting?.resume(with: answer)
    }
}
