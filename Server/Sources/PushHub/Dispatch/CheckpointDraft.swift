import RichPushModel

/// A checkpoint in the making.
struct CheckpointDraft {
    private let context: PageDecision.Context
    private let deadlines: RetryDeadline
    private var checkpoint: SliceCheckpoint
    private var newRows = 0

    init(_ context: PageDecision.Context) {
        self.context = context
        deadlines = RetryDeadline(expiresAt: context.message.expiresAt, horizon: context.settings.retryHorizon)
        checkpoint = SliceCheckpoint(lease: context.lease, now: context.now, disposition: .finish)
    }

    /// Takes in one target. Each is either tallied once or has a row.
    mutating func add(_ target: PagePlan.Target, _ verdict: TargetVerdict) {
        switch verdict {
        case .settled(let outcome): settle(target, outcome)
        case .again(let cause, let delay): again(target, cause, minimum: delay)
        case .unsent: again(target, .unsent, minimum: .zero)
        }
    }

    /// Moves the cursor; `nil` leaves it where it is.
    mutating func walk(to key: SliceKey?, targets: Int) {
        if let key { checkpoint.lease.cursor = key }
        checkpoint.lease.walked += targets
    }

    /// Takes in what the outcomes say of devices.
    mutating func learn(_ plan: PagePlan, outcomes: [PushOutcome]) {
        for (outcome, index) in zip(outcomes, plan.sends) {
            guard let record = plan.targets[index].record, let handle = record.handle else { continue }
            switch outcome {
            case .gone(let since) where record.registeredAt < since:
                checkpoint.forgotten.append(.init(platform: record.platform, handle: handle, since: since))
            case .badToken:
                checkpoint.parked.append(.init(key: record.sliceKey, version: record.version))
            default: break
            }
        }
    }

    /// Decides what becomes of the lease.
    func finished(trouble: PageDecision.Trouble?, hasAnswer: Bool) -> SliceCheckpoint {
        var result = checkpoint
        result.lease.note(trouble: trouble != nil, hasAnswer: hasAnswer, at: context.now)
        result.disposition = disposition(trouble, failures: result.lease.failures)
        return result
    }

    private mutating func settle(_ target: PagePlan.Target, _ outcome: TargetOutcome) {
        checkpoint.tallies[outcome, default: 0] += 1
        if target.pending != nil { checkpoint.settled.append(target.key) }
    }

    private mutating func again(_ target: PagePlan.Target, _ cause: PendingTarget.Cause, minimum: Duration) {
        let attempts = (target.pending?.attempts ?? 0) + 1
        let cause = target.pending?.cause.followed(by: cause) ?? cause
        let firstAt = target.pending?.firstAt ?? context.now
        let delay = BackOff.target.delay(failures: attempts, jitter: jitter(of: target.key), minimum: minimum)
        let row = PendingTarget(
            key: target.key, cause: cause, attempts: attempts, firstAt: firstAt, notBefore: context.now + delay)
        if row.notBefore >= deadlines.deadline(firstAt: firstAt) { return settle(target, cause.lastOutcome) }
        if target.pending == nil { newRows += 1 }
        checkpoint.pending.append(row)
    }

    /// The page's jitter, different for each target.
    private func jitter(of key: SliceKey) -> Double {
        let sum = context.jitter + Double(UInt64(bitPattern: key.number) >> 40) / Double(1 << 24)
        return sum.truncatingRemainder(dividingBy: 1)
    }

    private func disposition(_ trouble: PageDecision.Trouble?, failures: Int) -> SliceCheckpoint.Disposition {
        let rows = context.pendingCount + newRows - checkpoint.settled.count
        let isWalked = checkpoint.lease.cursor >= checkpoint.lease.last
        if isWalked, rows <= 0 { return .finish }
        if let trouble {
            return .release(notBefore: context.now + trouble.backOff.delay(failures: failures, jitter: context.jitter))
        }
        let limit = context.settings.pendingLimit(walked: checkpoint.lease.walked)
        if isWalked || rows >= limit, let next = nextDue, next > context.now { return .release(notBefore: next) }
        return .keep(until: context.now + context.settings.leaseDuration)
    }

    private var nextDue: Timestamp? {
        ([context.nextPendingAt].compactMap(\.self) + checkpoint.pending.map(\.notBefore)).min()
    }
}

extension SliceLease {
    /// Counts failures: they are consecutive only while the push service answers nothing at all.
    fileprivate mutating func note(trouble: Bool, hasAnswer: Bool, at now: Timestamp) {
        if trouble {
            failures = hasAnswer ? 1 : failures + 1
            stalledSince = hasAnswer ? now : stalledSince ?? now
        } else if hasAnswer {
            failures = 0
            stalledSince = nil
        }
    }
}

extension PageDecision.Trouble {
    fileprivate var backOff: BackOff {
        switch self {
        case .unreachable: .unreachable
        case .misconfigured: .misconfigured
        }
    }
}
