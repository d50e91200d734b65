import APNsProtocol

extension APNsClientMetrics {
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
