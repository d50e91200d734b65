import NIOCore

/// What one connection carries while there is always more to send: bytes over time, measured between two moments at which it
/// wrote what it could.
///
/// APNs gives credit back in halves of its window (Reference/APNs.md#1-5), so a connection writes in bursts a round trip apart.
/// Counted from burst to burst the rate is exact; counted over fixed spans it would depend on how many bursts happen to fall in.
struct BusyThroughput {
    private static let span = TimeAmount.milliseconds(100)

    private var start: NIODeadline?
    private var bytes = 0

    /// Notes what a turn wrote. Returns bytes a second when a span is over.
    ///
    /// - Parameter backlog: since when there is more than the connections take; `nil` if there is not. What was carried before
    ///   that moment was no limit of the connection.
    mutating func note(_ written: Int, backlog: NIODeadline?, at now: NIODeadline) -> Double? {
        guard let backlog else {
            start = nil
            return nil
        }
        guard written > 0 else { return nil }
        guard let start, start >= backlog else {
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
