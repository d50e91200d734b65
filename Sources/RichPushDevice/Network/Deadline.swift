import RichPushModel

/// A moment on the steady clock by which something must be over, shared by all the steps of one piece of work.
struct Deadline: Sendable {
    private let clock: any ServiceClock
    private let end: Duration

    init(_ clock: any ServiceClock, after budget: Duration) {
        self.clock = clock
        end = clock.uptime + budget
    }

    private init(clock: any ServiceClock, end: Duration) {
        self.clock = clock
        self.end = end
    }

    /// What is left; never negative.
    var remaining: Duration { max(.zero, end - clock.uptime) }

    /// The earlier of this deadline and `budget` from now.
    func capped(at budget: Duration) -> Deadline { Deadline(clock: clock, end: min(end, clock.uptime + budget)) }

    /// The answer of `operation`, or `nil` when the time is up or the caller was cancelled. The operation is then cancelled and
    /// not waited for: whoever ignores its own deadline cannot hold up ours.
    func run<Value: Sendable>(_ operation: @escaping @Sendable () async -> Value) async -> Value? {
        guard remaining > .zero else { return nil }
        let first = FirstResult<Value?>()
        let work = Task { await first.resolve(await operation()) }
        let timer = Task {
            // Measured when the task runs: what it waited for its turn is spent.
            let remaining = remaining
            if remaining > .zero { try? await clock.sleep(for: remaining) }
            await first.resolve(nil)
        }
        defer {
            work.cancel()
            timer.cancel()
        }
        return await withTaskCancellationHandler {
            await first.value
        } onCancel: {
            work.cancel()
            timer.cancel()
        }
    }
}
