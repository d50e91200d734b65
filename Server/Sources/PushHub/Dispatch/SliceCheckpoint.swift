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

    /// A handle that the push service called gone; records that registered it before the moment are removed.
    public struct Forgotten: Hashable, Sendable {
        public var platform: Platform
        public var handle: DeviceHandle
        public var since: Timestamp

        /// Creates a finding.
        public init(platform: Platform, handle: DeviceHandle, since: Timestamp) {
            self.platform = platform
            self.handle = handle
            self.since = since
        }
    }

    /// A record whose handle the push service called bad; parked unless it has registered since it was read.
    public struct Parked: Hashable, Sendable {
        public var key: SliceKey
        public var version: Int64

        /// Creates a finding.
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
    public var parked: [Parked] = []
    /// The same as `tallies` for targets of other platforms.
    public var otherTallies: [Platform: [TargetOutcome: Int]] = [:]
    /// To be added to the counts of reasons.
    public var reasons: [OutcomeReason: Int] = [:]
    /// Targets that ended without their push, the first of the page.
    public var failures: [TargetFailure] = []
    /// What the slice waits for; absent when it goes on.
    public var wait: SendWait?
    /// What is told of handles that are of no use any more.
    public var feedback: [DeviceFeedback] = []

    /// Creates a checkpoint that stores nothing but the lease's counters and what becomes of it.
    public init(lease: SliceLease, now: Timestamp, disposition: Disposition) {
        self.lease = lease
        self.now = now
        self.disposition = disposition
    }
}

extension SliceCheckpoint {
    /// The same for one more try to store it. Feedback is read in the order of its rows by those who go by this moment, see
    /// `HubJobs.layDownFeedback`; when it was decided, an outage may have been in between.
    func handedOver(at moment: Timestamp) -> SliceCheckpoint {
        var result = self
        for index in result.feedback.indices { result.feedback[index].notedAt = moment }
        return result
    }
}
