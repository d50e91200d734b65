import RichPushModel

/// How long to wait before the next try: doubling, capped, and spread so that many do not come back together.
struct BackOff: Hashable, Sendable {
    let base: Duration
    let cap: Duration

    /// The service cannot be reached. Short, because the wait goes on after its return; the transport holds what it cannot send for
    /// its own deadline, so that this is no haste.
    static let unreachable = BackOff(base: .seconds(1), cap: .seconds(3))
    /// The service answers that it is unavailable. Longer, because each try is one more request to a service in trouble.
    static let unavailable = BackOff(base: .seconds(1), cap: .seconds(60))
    /// An operator has to mend the configuration.
    static let misconfigured = BackOff(base: .seconds(30), cap: .seconds(300))
    /// One push was refused for now, or its fate is unknown.
    static let target = BackOff(base: .seconds(2), cap: .seconds(300))

    /// The wait after `failures` failures (from 1), at least `minimum`. `jitter` is 0 to 1 and takes up to half of it away;
    /// what the service itself asked for is never shortened, but drawn out by up to a tenth, so that not all come back at once.
    func delay(failures: Int, jitter: Double, minimum: Duration = .zero) -> Duration {
        let doubled = base * (1 << min(max(failures, 1) - 1, 16))
        let spread = min(doubled, cap) * (1 - min(max(jitter, 0), 1) / 2)
        return max(spread, minimum * (1 + min(max(jitter, 0), 1) / 10))
    }
}
