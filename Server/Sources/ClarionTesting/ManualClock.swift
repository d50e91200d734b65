import NIOConcurrencyHelpers
import RichPushModel

/// A clock that stands still until a test moves it. Sleepers wake in the order of their deadlines.
public final class ManualClock: ServiceClock {
    private struct Sleeper {
        var id: UInt64
        var deadline: Duration
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var uptime: Duration = .zero
        /// How far the time of day was moved without time passing.
        var jumped: Duration = .zero
        var steps: [ClockStep] = []
        var nextID: UInt64 = 0
        var sleepers: [Sleeper] = []
        var cancelled: Set<UInt64> = []
    }

    private let start: Timestamp
    private let state = NIOLockedValueBox(State())

    /// Creates a clock that shows `start`.
    public init(start: Timestamp = ManualClock.standardStart) { self.start = start }

    /// What a clock shows when nothing else is wanted: 2027-01-15.
    public static let standardStart = Timestamp(milliseconds: 1_800_000_000_000)

    /// A clock that is a year and more ahead of the machine's. Real files have the machine's times: with a clock that stands at a fixed
    /// moment they would be old enough to go only until that moment has come.
    public static func aheadOfFiles() -> ManualClock {
        ManualClock(start: max(standardStart, SystemClock().now) + .seconds(366 * 86_400))
    }

    public var now: Timestamp { state.withLockedValue { start + $0.uptime + $0.jumped } }

    public var uptime: Duration { state.withLockedValue { $0.uptime } }

    /// How many tasks wait on this clock now.
    public var sleeperCount: Int { state.withLockedValue { $0.sleepers.count } }

    /// The `uptime` at which the next task wakes; `nil` when none waits.
    public var nextDeadline: Duration? { state.withLockedValue { $0.sleepers.map(\.deadline).min() } }

    /// Whether a task sleeps until exactly this far from now. Unlike `sleeperCount` it ignores other sleepers.
    public func hasSleeper(dueIn duration: Duration) -> Bool {
        state.withLockedValue { state in state.sleepers.contains { $0.deadline == state.uptime + duration } }
    }

    /// Advances time and wakes the tasks that are due.
    public func advance(by duration: Duration) {
        let due = state.withLockedValue { state in
            state.uptime += duration
            let due = state.sleepers.filter { $0.deadline <= state.uptime }.sorted { $0.deadline < $1.deadline }
            state.sleepers.removeAll { $0.deadline <= state.uptime }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Sets the time of day forward or back, as a correction of a machine's clock does. No time passes.
    public func jump(by duration: Duration) {
        state.withLockedValue { state in
            state.jumped += duration
            state.steps.append(ClockStep(uptime: state.uptime, distance: duration))
        }
    }

    public var steps: [ClockStep] { state.withLockedValue { $0.steps } }

    public func sleep(for duration: Duration) async throws {
        let id = state.withLockedValue { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                suspend(id: id, duration: duration, continuation: continuation)
            }
        } onCancel: {
            cancel(id: id)
        }
    }

    private func suspend(id: UInt64, duration: Duration, continuation: CheckedContinuation<Void, any Error>) {
        let result: Result<Void, any Error>? = state.withLockedValue { state in
            if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
            if duration <= .zero { return .success(()) }
            state.sleepers.append(Sleeper(id: id, deadline: state.uptime + duration, continuation: continuation))
            return nil
        }
        if let result { continuation.resume(with: result) }
    }

    private func cancel(id: UInt64) {
        let sleeper: Sleeper? = state.withLockedValue { state in
            guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.sleepers.remove(at: index)
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
