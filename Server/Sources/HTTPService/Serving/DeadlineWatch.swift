import NIOConcurrencyHelpers
import RichPushModel

/// Lets many requests wait for their deadlines with one timer.
///
/// A timer for each costs more than the request, and one that is cancelled stays with the system until it would have rung. So one
/// of those that wait keeps watch for all; when its request ends, another takes over.
final class DeadlineWatch: Sendable {
    private enum Turn: Sendable {
        /// The deadline has passed.
        case passed
        /// It is for this one to keep watch.
        case watch
    }

    private struct Waiter {
        let deadline: RequestDeadline
        let continuation: CheckedContinuation<Turn, any Error>
    }

    private struct State {
        var waiters: [UInt64: Waiter] = [:]
        var nextID: UInt64 = 0
        var isWatched = false
        /// Cancelled before they waited.
        var cancelled: Set<UInt64> = []
    }

    private let clock: any ServiceClock
    private let longestSleep: Duration
    private let state = NIOLockedValueBox(State())

    /// How many wait while another keeps watch, and how many were cancelled before they waited.
    var waiting: (parked: Int, cancelled: Int) { state.withLockedValue { ($0.waiters.count, $0.cancelled.count) } }

    /// Creates a watch. `longestSleep` is at most what a new deadline is away, so that no sleep outlasts one that comes
    /// meanwhile.
    init(clock: any ServiceClock, longestSleep: Duration) {
        self.clock = clock
        self.longestSleep = longestSleep
    }

    /// Returns when the deadline has passed, however often it is moved meanwhile; throws when the task is cancelled.
    func wait(for deadline: RequestDeadline) async throws {
        guard try await turn(deadline) == .watch else { return }
        do {
            while try await !sleep(deadline) {}
        } catch {
            handOver()
            throw error
        }
        handOver()
    }

    /// Waits for the end of the deadline, or until nobody else keeps watch.
    private func turn(_ deadline: RequestDeadline) async throws -> Turn {
        let id = state.withLockedValue { state in
            state.nextID += 1
            return state.nextID
        }
        // Cancelled after it was told: nobody looks for that any more.
        defer { state.withLockedValue { _ = $0.cancelled.remove(id) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { park(id, deadline, $0) }
        } onCancel: {
            cancel(id)
        }
    }

    private func park(_ id: UInt64, _ deadline: RequestDeadline, _ continuation: CheckedContinuation<Turn, any Error>) {
        let result: Result<Turn, any Error>? = state.withLockedValue { state in
            if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
            if state.isWatched {
                state.waiters[id] = Waiter(deadline: deadline, continuation: continuation)
                return nil
            }
            state.isWatched = true
            return .success(.watch)
        }
        if let result { continuation.resume(with: result) }
    }

    private func cancel(_ id: UInt64) {
        let continuation = state.withLockedValue { state in
            let waiter = state.waiters.removeValue(forKey: id)
            if waiter == nil { state.cancelled.insert(id) }
            return waiter?.continuation
        }
        continuation?.resume(throwing: CancellationError())
    }

    /// Sleeps until the next deadline of all and wakes those that are due; whether the watcher's own is among them.
    private func sleep(_ own: RequestDeadline) async throws -> Bool {
        let others = state.withLockedValue { $0.waiters.values.map(\.deadline) }
        let now = clock.uptime
        let left = (others + [own]).compactMap(\.moment).min().map { $0 - now } ?? longestSleep
        if left > .zero { try await clock.sleep(for: min(left, longestSleep)) }
        let after = clock.uptime
        for waiter in due(at: after) { waiter.continuation.resume(returning: .passed) }
        return own.moment.map { $0 <= after } ?? false
    }

    private func due(at moment: Duration) -> [Waiter] {
        state.withLockedValue { state in
            let due = state.waiters.filter { $0.value.deadline.moment.map { $0 <= moment } ?? false }
            for id in due.keys { state.waiters[id] = nil }
            return Array(due.values)
        }
    }

    /// Ends the watch of the one that kept it; one of those that wait, if there are any, goes on.
    private func handOver() {
        let next = state.withLockedValue { state in
            // The newest is likely to stay longest.
            let next = state.waiters.keys.max().flatMap { state.waiters.removeValue(forKey: $0) }
            state.isWatched = next != nil
            return next
        }
        next?.continuation.resume(returning: .watch)
    }
}
