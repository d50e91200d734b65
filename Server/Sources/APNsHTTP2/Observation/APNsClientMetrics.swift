import APNsProtocol

/// A snapshot of what a client has and has done.
public struct APNsClientMetrics: Sendable, Hashable {
    /// Pushes that wait for a connection.
    public var queued = 0
    /// Pushes on the wire without an answer.
    public var inFlight = 0
    /// Streams that the connections allow now, together.
    public var streamLimit = 0
    /// Body bytes that the connections take now, together: what is left of their windows (Reference/APNs.md#1-5).
    public var window = 0
    /// The longest of the connections' latest round trips, from PING to answer; absent before the first.
    public var roundTrip: Duration?
    /// Connections that can take pushes.
    public var connections = 0
    /// Connections being made.
    public var connecting = 0
    /// Connections that finish their last answers.
    public var draining = 0
    /// Since the start: connections that were made.
    public var connected = 0
    /// Since the start: attempts that failed.
    public var connectFailures = 0
    /// Since the start: GOAWAY frames that ended the use of a connection.
    public var goAways = 0
    /// The same by reason: one of those that APNs documents, else the empty word.
    public var goAwaysByReason: [APNsReason: Int] = [:]
    /// Since the start: streams that APNs reset after their request was written.
    public var resets = 0
    /// The reason in the last GOAWAY, if it had one.
    public var lastGoAwayReason: APNsReason?
    /// How old the provider token in use is, at the moment of asking; absent before the first, and with a certificate.
    public var tokenAge: Duration?
    /// How far APNs' clock is ahead of this machine's, seen when APNs called a young token expired.
    public var clockSkew: Duration?
    /// Since the start: pushes that were sent again because they were provably not processed.
    public var resends = 0
    /// Since the start: requests written, resends included.
    public var requests = 0
    /// Since the start: outcomes by kind.
    public var accepted = 0
    public var rejected = 0
    public var notSent = 0
    public var unknown = 0

    /// Nothing yet.
    public init() {}

    private static var levels: [WritableKeyPath<APNsClientMetrics, Int>] {
        [\.queued, \.inFlight, \.streamLimit, \.window, \.connections, \.connecting, \.draining]
    }

    private static var totals: [WritableKeyPath<APNsClientMetrics, Int>] {
        [
            \.connected, \.connectFailures, \.goAways, \.resets, \.resends, \.requests, \.accepted, \.rejected, \.notSent,
            \.unknown,
        ]
    }

    /// The numbers of two clients, or of two parts of one, together.
    public func adding(_ other: APNsClientMetrics) -> APNsClientMetrics {
        var sum = self
        for number in Self.levels + Self.totals { sum[keyPath: number] += other[keyPath: number] }
        sum.goAwaysByReason.merge(other.goAwaysByReason) { $0 + $1 }
        sum.roundTrip = [roundTrip, other.roundTrip].compactMap { $0 }.max()
        sum.tokenAge = [tokenAge, other.tokenAge].compactMap { $0 }.max()
        sum.lastGoAwayReason = lastGoAwayReason ?? other.lastGoAwayReason
        sum.clockSkew = clockSkew ?? other.clockSkew
        return sum
    }

    /// What is counted since the start alone: what is left of a client that was closed.
    public var history: APNsClientMetrics {
        var history = APNsClientMetrics()
        for total in Self.totals { history[keyPath: total] = self[keyPath: total] }
        history.goAwaysByReason = goAwaysByReason
        return history
    }
}
