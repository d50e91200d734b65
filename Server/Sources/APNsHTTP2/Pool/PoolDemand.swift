import NIOCore

/// How many connections the offered load needs: what comes in per second, over what one busy connection carries.
///
/// A connection to APNs is limited by its window (Reference/APNs.md#1-5 and #9-3), so bytes are counted and not pushes. What one
/// carries is measured by each on its own (`BusyThroughput`); nothing is known before one was busy for a while.
struct PoolDemand {
    private static let span = TimeAmount.milliseconds(100)
    /// The seconds in which a backlog should be sent: within the deadline of a push, and slowly enough that the backlog from making
    /// connections does not lead to connections that are idle afterwards.
    private static let catchUp = 20.0
    /// How much of a connection may be missing before one more is opened: both rates are measured, and neither to the last bit.
    /// What really is missing turns up in the backlog.
    private static let slack = 0.25

    private var spanStart: NIODeadline?
    private var offered = 0
    /// Bytes a second.
    private var offeredRate: Double?
    private var carried: Double?

    /// Of a body, in bytes, lately.
    private(set) var meanSize = 0

    /// A push came in.
    mutating func offer(_ bytes: Int) {
        offered += bytes
        // Rounded up, so that it arrives.
        meanSize += (bytes - meanSize + 15) / 16
    }

    /// A connection carried this many bytes a second, and had more to send all the time.
    mutating func carry(_ rate: Double) { carried = carried.map { $0 + (rate - $0) * 0.2 } ?? rate }

    /// Call once per turn.
    mutating func note(at now: NIODeadline) {
        guard let spanStart else {
            self.spanStart = now
            return
        }
        let elapsed = now - spanStart
        guard elapsed >= Self.span else { return }
        let seconds = Double(elapsed.nanoseconds) / 1_000_000_000
        let rate = Double(offered) / seconds
        offeredRate = offeredRate.map { $0 + (rate - $0) * min(1, seconds) } ?? rate
        self.spanStart = now
        offered = 0
    }

    /// The number of connections that carry what comes in and what waits; `nil` when there is no measurement yet.
    func wanted(backlog: Int) -> Int? {
        guard let carried, carried > 0 else { return nil }
        let need = ((offeredRate ?? 0) + Double(backlog) / Self.catchUp) / carried
        return max(1, Int((need - Self.slack).rounded(.up)))
    }
}

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
