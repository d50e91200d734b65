import NIOCore

/// What one connection carries while there is always more to send: bytes over time, measured between two moments at which it
/// wrote what it could.
///
/// APNs gives credit back in halves of its window (APNs reference 1.5), so a connection writes in bursts a round trip apart. Counted
/// from burst to burst the rate is exact; counted over fixed spans it would depend on how many bursts happen to fall in.
struct BusyThroughput {
    private static let span = TimeAmount.milliseconds(100)

    private var start: NIODeadline?
    private var bytes = 0

    /// Notes what a turn wrote. Returns bytes a second when a span is over.
    ///
    /// - Parameter isBacklogged: whether more would have been written if the connection took more. If not, it was not its limit.
    mutating func note(_ written: Int, isBacklogged: Bool, at now: NIODeadline) -> Double? {
        guard isBacklogged else {
            start = nil
            return nil
        }
        guard written > 0 else { return nil }
        guard let start else {
            begin(at: now)
            return nil
        }
        bytes += written
        guard now - start >= Self.span else { return nil }
        let rate = Double(bytes) * 1_000_000_000 / Double((now - start).nanoseconds)
        begin(at: now)
        return rate
    }

    private mutating func begin(at now: NIODeadline) {
        start = now
        bytes = 0
    }
}
