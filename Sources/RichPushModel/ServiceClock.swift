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
}

extension ServiceClock where Self == SystemClock {
    /// The clock of the machine.
    public static var system: SystemClock { SystemClock() }
}
