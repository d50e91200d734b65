import NIOConcurrencyHelpers
import RichPushModel

/// The moment by which a handler must have answered, on the clock's uptime. A route with a large body moves it.
public final class RequestDeadline: Sendable {
    private let state: NIOLockedValueBox<Duration?>

    /// Creates a deadline at an uptime; `nil` means never.
    init(at moment: Duration?) { state = NIOLockedValueBox(moment) }

    var moment: Duration? { state.withLockedValue { $0 } }

    /// Moves the deadline to at least `moment`; it never comes nearer.
    public func extend(to moment: Duration) {
        state.withLockedValue { current in
            if let old = current, old < moment { current = moment }
        }
    }
}

/// Cancels the work of many requests at their deadlines with one timer.
///
/// A timer for each costs more than the request, and one that is cancelled stays with the system until it would have rung. So one
/// keeper sleeps for all; requests only put down by when they have to be done.
final class DeadlineWatch: Sendable {
    private struct Work {
        let deadline: RequestDeadline
        let task: UnsafeCurrentTask
    }

    /// - Safety: of a task only `cancel()` is called from elsewhere, which its documentation allows, and only under the lock under
    ///   which the task puts itself down and takes itself away: so the task is running.
    private struct State: @unchecked Sendable {
        var works: [UInt64: Work] = [:]
        var nextID: UInt64 = 0
        /// Sleeps until the next deadline; absent while nothing is under way.
        var keeper: Task<Void, Never>?
    }

    private let clock: any ServiceClock
    private let longestSleep: Duration
    private let state = NIOLockedValueBox(State())

    /// How much is under way.
    var count: Int { state.withLockedValue { $0.works.count } }

    /// Creates a watch. `longestSleep` must not exceed the shortest time to a new deadline, so that no sleep outlasts one that is
    /// added meanwhile.
    init(clock: any ServiceClock, longestSleep: Duration) {
        self.clock = clock
        self.longestSleep = longestSleep
    }

    deinit { state.withLockedValue { $0.keeper?.cancel() } }

    /// Runs the work in a task of its own, which is cancelled when the deadline passes first, however often that is moved meanwhile;
    /// waits for its end in any case. Also says whether the deadline passed.
    func run<Value: Sendable>(
        until deadline: RequestDeadline, _ work: @escaping @Sendable () async throws -> Value
    ) async -> (result: Result<Value, any Error>, isLate: Bool) {
        async let ended = withUnsafeCurrentTask { task -> (Result<Value, any Error>, Bool) in
            guard let task else { preconditionFailure("an asynchronous function runs in a task") }
            let id = begin(task, deadline)
            do {
                let value = try await work()
                return (.success(value), end(id))
            } catch {
                return (.failure(error), end(id))
            }
        }
        return await ended
    }

    private func begin(_ task: UnsafeCurrentTask, _ deadline: RequestDeadline) -> UInt64 {
        state.withLockedValue { state in
            state.nextID += 1
            state.works[state.nextID] = Work(deadline: deadline, task: task)
            if state.keeper == nil { state.keeper = keeper() }
            return state.nextID
        }
    }

    /// Whether the work was cancelled.
    private func end(_ id: UInt64) -> Bool { state.withLockedValue { $0.works.removeValue(forKey: id) == nil } }

    /// It outlives the request that starts it, so it is no child of that request's task; it ends when nothing is under way.
    private func keeper() -> Task<Void, Never> {
        Task { [weak self, clock] in
            while let pause = self?.cancelDue() { try? await clock.sleep(for: pause) }
        }
    }

    /// Cancels what is due; says how long to sleep until the next deadline, `nil` when there is nothing to wait for.
    private func cancelDue() -> Duration? {
        let now = clock.uptime
        return state.withLockedValue { state in
            var pause = longestSleep
            var due: [UInt64] = []
            for (id, work) in state.works {
                guard let moment = work.deadline.moment else { continue }
                if moment <= now { due.append(id) } else { pause = min(pause, moment - now) }
            }
            for id in due { state.works.removeValue(forKey: id)?.task.cancel() }
            // The next request starts another keeper.
            guard !state.works.isEmpty else {
                state.keeper = nil
                return nil
            }
            return pause
        }
    }
}
