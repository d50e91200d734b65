import RichPushModel

/// What became of a page, to be stored in one transaction.
public struct SliceCheckpoint: Hashable, Sendable {
    /// What becomes of the lease.
    public enum Disposition: Hashable, Sendable {
        /// Work goes on under the same lease, which is lengthened.
        case keep(until: Timestamp)
        /// The slice is free again, not before the moment.
        case release(notBefore: Timestamp)
        /// The slice is done.
        case finish
    }

    /// A device token that the push service called dead; records that registered it before the moment are removed.
    public struct Forgotten: Hashable, Sendable {
        public var platform: Platform
        public var handle: DeviceToken
        public var since: Timestamp

        public init(platform: Platform, handle: DeviceToken, since: Timestamp) {
            self.platform = platform
            self.handle = handle
            self.since = since
        }
    }

    /// A record whose device token a push service called bad. It becomes inactive unless it registered again after it was read.
    public struct BadToken: Hashable, Sendable {
        public var key: SliceKey
        public var version: Int64

        public init(key: SliceKey, version: Int64) {
            self.key = key
            self.version = version
        }
    }

    /// The lease as it is after the page: cursor, counters.
    public var lease: SliceLease
    public var now: Timestamp
    public var disposition: Disposition
    /// To be added to the tallies, for targets of APNs.
    public var tallies: [TargetOutcome: Int] = [:]
    /// Pending rows that are settled.
    public var settled: [SliceKey] = []
    /// Pending rows that are new or changed.
    public var pending: [PendingTarget] = []
    public var forgotten: [Forgotten] = []
    public var badTokens: [BadToken] = []
    /// The same as `tallies` for targets of other platforms.
    public var otherTallies: [Platform: [TargetOutcome: Int]] = [:]
    /// The same for each group of a send with groups, over all platforms.
    public var groupTallies: [Int: [TargetOutcome: Int]] = [:]
    /// What became of each device, for a send that reports it.
    public var report: [OutcomeReport.Group] = []
    /// To be added to the counts of reasons.
    public var reasons: [OutcomeReason: Int] = [:]
    /// Targets that ended without their push, the first of the page.
    public var failures: [TargetFailure] = []
    /// What the slice waits for; absent when it goes on.
    public var wait: SendWait?
    /// Device tokens that are no longer usable.
    public var feedback: [DeviceFeedback] = []

    /// Creates a checkpoint that stores nothing but the lease's counters and what becomes of it.
    public init(lease: SliceLease, now: Timestamp, disposition: Disposition) {
        self.lease = lease
        self.now = now
        self.disposition = disposition
    }
}

extension SliceCheckpoint {
    /// The same for a try to store it now. `HubJobs.layDownFeedback` relies on this time to read feedback in row order; the time of the
    /// decision may lie before an outage.
    func handedOver(at moment: Timestamp) -> SliceCheckpoint {
        var result = self
        for index in result.feedback.indices { result.feedback[index].notedAt = moment }
        return result
    }
}

/// A target that the walk has passed and that still needs a try.
public struct PendingTarget: Hashable, Sendable {
    /// Why it was not settled.
    public enum Cause: String, Sendable, CaseIterable {
        /// The push did not leave.
        case notSent = "unsent"
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
    /// The reason from the push service or the transport at the last try, if there was one.
    public var reason: String?
    /// The moment of the first try; the retry horizon counts from here.
    public var firstAt: Timestamp
    public var notBefore: Timestamp

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
        case .notSent: .unreachable
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
