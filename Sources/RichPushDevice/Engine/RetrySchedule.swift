/// When to try again: doubling pauses with jitter, up to a number of attempts. A value without a clock.
struct RetrySchedule: Hashable, Sendable {
    var first: Duration = .seconds(2)
    var longest: Duration = .seconds(300)
    var attempts = 8
    private(set) var failures = 0

    /// The pause after another failure, or `nil` when it is time to give up until the next occasion. `fraction` (0 to 1) takes
    /// away up to half, so that phones that failed together do not return together; what the server asked for is the least.
    mutating func next(fraction: Double, asked: Duration? = nil) -> Duration? {
        failures += 1
        guard failures < attempts else { return nil }
        let doubled = min(longest, first * (1 << min(failures - 1, 16)))
        return max(doubled * (1 - fraction / 2), asked ?? .zero)
    }
}
