/// Decides after a failed attempt whether there is another one, and when. A value without I/O.
struct S3RetryPlan {
    /// What to do now.
    enum Decision: Hashable {
        case finish
        case retry(after: Duration)
    }

    /// How often a request is repeated at most.
    static let repetitions = 4
    private static let firstPause: Duration = .milliseconds(100)
    /// The longest wait, one that the store asks for included; what asks for more ends the request.
    private static let longestPause: Duration = .seconds(5)

    private var repeated = 0

    /// The decision, given the time that is left altogether. `jitter` is from 0 to 1: half of each pause is by chance, so that many
    /// callers do not come back in step.
    mutating func decide(_ fault: S3Fault, left: Duration, jitter: Double) -> Decision {
        guard fault.isPassing, repeated < Self.repetitions else { return .finish }
        let doubled = min(Self.firstPause * (1 << repeated), Self.longestPause)
        var asked = Duration.zero
        if case .refused(_, _, let seconds?) = fault { asked = .seconds(seconds) }
        let pause = max(asked, doubled / 2 + doubled * (jitter / 2))
        guard pause <= Self.longestPause, pause < left else { return .finish }
        repeated += 1
        return .retry(after: pause)
    }
}
