import NIOCore

/// When the next attempt to connect is allowed: paced always, and exponentially later after failures (Reference/APNs.md#1-8).
struct ReconnectPacing {
    let pace: TimeAmount
    let initialBackOff: TimeAmount
    let maximumBackOff: TimeAmount
    /// The longest pause while the other side is away.
    let longestProbePause: TimeAmount
    private(set) var failures = 0
    private(set) var nextAttempt = NIODeadline.uptimeNanoseconds(0)
    /// The end of the pause after the latest failure.
    private var pauseEnd = NIODeadline.uptimeNanoseconds(0)

    init(
        pace: TimeAmount, initialBackOff: TimeAmount, maximumBackOff: TimeAmount, longestProbePause: TimeAmount = .seconds(3)
    ) {
        self.pace = pace
        self.initialBackOff = initialBackOff
        self.maximumBackOff = maximumBackOff
        self.longestProbePause = longestProbePause
    }

    mutating func attempted(at now: NIODeadline) { nextAttempt = max(nextAttempt, now + pace) }

    /// A connection proved useful: APNs took a push on it.
    mutating func succeeded() { failures = 0 }

    /// A connection that was of use ended soon after it began: the next one does not begin sooner than the first pause allows, or a
    /// service that ends every connection after a push would see ten new ones a second.
    mutating func endedEarly(begun: NIODeadline) { nextAttempt = max(nextAttempt, begun + initialBackOff) }

    /// An attempt failed, or a connection ended without having been of use. `chance` between 0 and 1 is the jitter, which
    /// takes away up to half of the pause. What fails during the pause counts no further: connections that end together tell of one
    /// trouble, however many they are.
    ///
    /// - Parameter isAway: whether nothing answered. Then the pause stays short.
    mutating func failed(at now: NIODeadline, chance: Double, isAway: Bool = false) {
        guard now >= pauseEnd else { return }
        let doubled = initialBackOff.nanoseconds << Int64(min(failures, 16))
        let longest = isAway ? min(longestProbePause, maximumBackOff) : maximumBackOff
        let pause = min(max(doubled, 0), longest.nanoseconds)
        // However long the other side was away, what it says on its return is a first failure or nearly so.
        failures = isAway ? max(failures, min(failures + 1, 2)) : failures + 1
        let jittered = Double(pause) * (1 - 0.5 * min(max(chance, 0), 1))
        pauseEnd = now + .nanoseconds(Int64(jittered))
        nextAttempt = max(nextAttempt, pauseEnd)
    }
}
