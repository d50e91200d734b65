/// Decides after each attempt of a call whether there is another one, and when. A value without I/O.
///
/// As the JavaScript client does (Reference/AzureNotificationHubs.md#6-3): up to three repetitions after 408, 500, 503 and 504,
/// after 429 only with `Retry-After`, and after a connection that broke or did not come about.
struct RetryPlan {
    /// What an attempt came to.
    enum Attempt: Hashable {
        case answered(status: Int, retryAfter: Int?)
        case noAnswer
    }

    /// What to do now.
    enum Decision: Hashable {
        case finish
        case retry(after: Duration)
    }

    private let options: RemoteHubOptions
    private var repetitions = 0

    init(_ options: RemoteHubOptions) { self.options = options }

    /// The decision, given the time that is left for the call. `jitter` is from 0 to 1.
    mutating func decide(_ attempt: Attempt, left: Duration, jitter: Double) -> Decision {
        guard repetitions < options.retries, let asked = Self.asked(by: attempt) else { return .finish }
        let doubled = options.firstPause * (1 << repetitions)
        // Up to a quarter more, so that many callers do not come back in step; never less than the hub asks for.
        let pause = max(asked, min(doubled * (1 + jitter / 4), options.longestPause))
        guard pause <= options.longestPause, pause < left else { return .finish }
        repetitions += 1
        return .retry(after: pause)
    }

    /// The least wait; `nil` when the attempt is not repeated.
    private static func asked(by attempt: Attempt) -> Duration? {
        switch attempt {
        case .noAnswer: .zero
        case .answered(408, let seconds), .answered(500, let seconds), .answered(503, let seconds), .answered(504, let seconds):
            .seconds(seconds ?? 0)
        case .answered(429, let seconds): seconds.map { .seconds($0) }
        case .answered: nil
        }
    }
}
