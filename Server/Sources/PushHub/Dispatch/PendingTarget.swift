import RichPushModel

/// A target that the walk has passed and that still needs a try.
public struct PendingTarget: Hashable, Sendable {
    /// Why it was not settled.
    public enum Cause: String, Sendable, CaseIterable {
        /// It never left.
        case unsent
        /// The push service refused it for now.
        case retry
        /// It may have arrived.
        case unknown
    }

    public var key: SliceKey
    public var cause: Cause
    /// Tries so far.
    public var attempts: Int
    /// Tries that left and were not answered.
    public var unanswered: Int
    /// The push service's or the transport's word for the last try, if there was one.
    public var reason: String?
    /// The moment of the first try; the retry horizon counts from here.
    public var firstAt: Timestamp
    public var notBefore: Timestamp

    /// Creates a target.
    public init(
        key: SliceKey, cause: Cause, attempts: Int, unanswered: Int = 0, reason: String? = nil, firstAt: Timestamp,
        notBefore: Timestamp
    ) {
        self.key = key
        self.cause = cause
        self.attempts = attempts
        self.unanswered = unanswered
        self.reason = reason
        self.firstAt = firstAt
        self.notBefore = notBefore
    }
}

extension PendingTarget.Cause {
    /// The ending of the last try.
    var ending: RetryTable.Ending {
        switch self {
        case .unsent: .unreachable
        case .retry: .deferred
        case .unknown: .unknown
        }
    }

    /// What is tallied when no more tries are left.
    var lastOutcome: TargetOutcome { RetryTable().rule(for: ending, pushType: "").outcome }

    /// What is tallied when the record went before the next try.
    var outcomeWithoutRecord: TargetOutcome { self == .unknown ? .unknown : .removed }

    /// The cause after one more try. What may have arrived stays so.
    func followed(by next: PendingTarget.Cause) -> PendingTarget.Cause { self == .unknown ? .unknown : next }
}
