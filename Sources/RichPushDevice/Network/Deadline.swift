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

    /// The answer of `operation`, or `nil` when the time is up or the caller was cancelled. The operation is then cancelled and not
    /// waited for: an operation that ignores its own deadline cannot delay this one.
    func run<Value: Sendable>(_ operation: @escaping @Sendable () async -> Value) async -> Value? {
        guard remaining > .zero else { return nil }
        let first = FirstResult<Value?>()
        let work = Task { await first.resolve(await operation()) }
        let timer = Task {
            // Measured when the task runs: the time it waited to be scheduled is spent.
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

/// A value that is settled once: of several racing answers the first counts and the others are dropped. Used for system callbacks that
/// must be answered exactly once, by the work or by its deadline.
public actor FirstResult<Value: Sendable> {
    private var settled: Value?
    private var waiting: [CheckedContinuation<Value, Never>] = []

    /// Creates an unsettled value.
    public init() {}

    /// Settles the value; `false` when that had happened before.
    @discardableResult
    public func resolve(_ value: Value) -> Bool {
        guard settled == nil else { return false }
        settled = value
        for continuation in waiting { continuation.resume(returning: value) }
        waiting = []
        return true
    }

    /// The value, as soon as it is settled.
    public var value: Value {
        get async {
            if let settled { return settled }
            return await withCheckedContinuation { waiting.append($0) }
        }
    }
}
