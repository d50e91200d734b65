import RichPushModel

/// What is done with each target of a page before anything is sent: a pure value.
struct PagePlan: Hashable {
    struct Target: Hashable {
        var key: SliceKey
        /// Absent when the record went since the last try.
        var record: DeviceRecord?
        /// Present when this is another try.
        var pending: PendingTarget?
        /// Present when nothing is sent to the target.
        var settled: TargetOutcome?
    }

    var targets: [Target]
    /// How far the walk is after this page; absent for a page of retries.
    var through: SliceKey?
    /// Whether targets of the page were left for another one.
    private(set) var isLimited = false

    /// Plans a page. `horizon` is how long targets are tried when the caller gave no expiry; only who `isOutOfReach`, having
    /// just tried in vain, gives targets up untried: the service may be back since the lease was last in hand.
    init(_ page: SlicePage, lease: SliceLease, now: Timestamp, horizon: Duration, isOutOfReach: Bool = false) {
        let deadlines = RetryDeadline(expiresAt: page.message.expiresAt, horizon: horizon)
        switch page.work {
        case .wait:
            targets = []
        case .walk(let walk):
            through = walk.through
            let isOver = deadlines.isOver(stalledSince: isOutOfReach ? lease.stalledSince : nil, at: now)
            targets = walk.candidates.map { candidate in
                Target(
                    key: candidate.record.sliceKey, record: candidate.record,
                    settled: candidate.isSkipped ? .skipped : isOver ? .expired : nil)
            }
        case .retries(let due):
            targets = due.map { Self.target($0, isOver: now >= deadlines.deadline(firstAt: $0.target.firstAt)) }
        }
    }

    /// Indices of the targets that a push is sent to.
    var sends: [Int] { targets.indices.filter { targets[$0].settled == nil } }

    /// The plan with the first `count` of its pushes only; what comes after them is left for another page.
    func limited(toPushes count: Int) -> PagePlan {
        let sends = sends
        guard count < sends.count else { return self }
        var plan = self
        plan.targets = Array(targets.prefix(sends[count]))
        if through != nil { plan.through = plan.targets.last?.key }
        plan.isLimited = true
        return plan
    }

    private static func target(_ due: SlicePage.DueTarget, isOver: Bool) -> Target {
        let cause = due.target.cause
        let settled: TargetOutcome? = due.record == nil ? cause.outcomeWithoutRecord : isOver ? cause.lastOutcome : nil
        return Target(key: due.target.key, record: due.record, pending: due.target, settled: settled)
    }
}

/// Until when targets of a send are tried.
struct RetryDeadline: Hashable {
    /// The caller's expiry, which counts alone if given.
    let expiresAt: Timestamp?
    let horizon: Duration

    /// For a target whose first try was at that moment.
    func deadline(firstAt: Timestamp) -> Timestamp { expiresAt ?? firstAt + horizon }

    /// For targets that were not tried yet. Without an expiry they wait for ever, unless the service has been out of reach
    /// for the whole horizon.
    func isOver(stalledSince: Timestamp?, at now: Timestamp) -> Bool {
        if let expiresAt { return now >= expiresAt }
        return stalledSince.map { now >= $0 + horizon } ?? false
    }
}
