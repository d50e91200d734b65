/// The one source of time: for expiry, signing, leases and waiting alike.
///
/// Everything that asks for the time or waits takes one of these, so that a test can advance time by hand and no
/// test has to sleep.
public protocol ServiceClock: Sendable {
    /// The wall clock. It may jump; use it only for moments that leave the process.
    var now: Timestamp { get }

    /// Time since an arbitrary start. It never jumps; use it for deadlines and ages.
    var uptime: Duration { get }

    /// Waits until `uptime` has advanced by `duration`. Throws `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws

    /// The latest steps of the wall clock, oldest first. Empty for a clock that does not watch for them.
    var steps: [ClockStep] { get }
}

/// The wall clock was set: it moved by more than the time that passed.
public struct ClockStep: Hashable, Sendable {
    /// When it was noticed, as `ServiceClock.uptime`.
    public var uptime: Duration
    /// How far the clock was set; negative is back, zero is not known.
    public var distance: Duration

    /// Creates a step.
    public init(uptime: Duration, distance: Duration) {
        self.uptime = uptime
        self.distance = distance
    }
}

extension ServiceClock {
    /// A clock that does not watch for steps.
    public var steps: [ClockStep] { [] }

    /// Whether the wall clock was set within the last `duration` of `uptime`.
    public func wasSet(within duration: Duration) -> Bool {
        // A clock that watches for steps notices one when it is read.
        _ = now
        let uptime = uptime
        return steps.contains { uptime - $0.uptime < duration }
    }

    /// How far the wall clock was set forward within the last `duration` of `uptime`, all steps together. By so much an age from
    /// before the steps is overstated.
    public func advance(within duration: Duration) -> Duration {
        let uptime = uptime
        return steps.reduce(.zero) { sum, step in
            uptime - step.uptime < duration ? sum + max(step.distance, .zero) : sum
        }
    }
}

extension ServiceClock where Self == SystemClock {
    /// The clock of the machine.
    public static var system: SystemClock { SystemClock() }
}
