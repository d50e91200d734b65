import NIOCore

/// When the next attempt to connect is allowed: paced always, and exponentially later after failures (APNs reference 1.8).
struct ReconnectPacing {
    let pace: TimeAmount
    let initialBackOff: TimeAmount
    let maximumBackOff: TimeAmount
    private(set) var failures = 0
    private(set) var nextAttempt = NIODeadline.uptimeNanoseconds(0)

    init(pace: TimeAmount, initialBackOff: TimeAmount, maximumBackOff: TimeAmount) {
        self.pace = pace
        self.initialBackOff = initialBackOff
        self.maximumBackOff = maximumBackOff
    }

    mutating func attempted(at now: NIODeadline) { nextAttempt = max(nextAttempt, now + pace) }

    /// A connection proved useful: a request was answered on it.
    mutating func succeeded() { failures = 0 }

    /// An attempt failed, or a connection ended without having been of use. `chance` between 0 and 1 is the jitter, which
    /// takes away up to half of the pause.
    mutating func failed(at now: NIODeadline, chance: Double) {
        let doubled = initialBackOff.nanoseconds << Int64(min(failures, 16))
        let pause = min(max(doubled, 0), maximumBackOff.nanoseconds)
        failures += 1
        let jittered = Double(pause) * (1 - 0.5 * min(max(chance, 0), 1))
        nextAttempt = max(nextAttempt, now + .nanoseconds(Int64(jittered)))
    }
}
