import RichPushModel

/// A checkpoint in the making.
struct CheckpointDraft {
    private let context: PageDecision.Context
    private let deadlines: RetryDeadline
    /// How long what never left waits: as long as the page's trouble lasts, if it has one.
    private let unsentBackOff: BackOff
    /// What the service asked for.
    private let unsentMinimum: Duration
    private var checkpoint: SliceCheckpoint
    private var newRows = 0

    init(_ context: PageDecision.Context, trouble: PageDecision.Trouble?) {
        self.context = context
        unsentBackOff = (trouble ?? .unreachable(reason: "")).backOff(context.settings.retries)
        unsentMinimum = trouble?.minimumWait ?? .zero
        deadlines = RetryDeadline(expiresAt: context.message.expiresAt, horizon: context.settings.retryHorizon)
        checkpoint = SliceCheckpoint(lease: context.lease, now: context.now, disposition: .finish)
    }

    /// Takes in one target of the plan. Each is either tallied once or has a row.
    ///
    /// - Parameters:
    ///   - reason: what was said of its push, if it was tried in this page.
    ///   - pushType: of that push.
    mutating func add(_ index: Int, of plan: PagePlan, _ verdict: TargetVerdict, reason: String?, pushType: String) {
        let reason = (reason ?? plan.pending(index)?.reason).map(OutcomeReason.cut)
        switch verdict {
        case .settled(let outcome): settle(index, of: plan, outcome, reason)
        case .again(let cause, let delay): again(index, of: plan, cause, minimum: delay, reason, pushType)
        case .notSent: again(index, of: plan, .notSent, minimum: unsentMinimum, reason, pushType)
        }
    }

    /// Takes in all targets of a plan of one platform, which have the same outcome and need nothing else.
    mutating func count(_ outcome: TargetOutcome, of plan: PagePlan) {
        tally(outcome, plan.platform, plan.count)
        if plan.isSplit { for index in plan.indices { countGroup(index, of: plan, outcome) } }
        if plan.reportsOutcomes { for index in plan.indices { report(index, of: plan, outcome, nil) } }
    }

    private mutating func report(_ index: Int, of plan: PagePlan, _ outcome: TargetOutcome, _ reason: String?) {
        guard let record = plan.page.record(index) else { return }
        let place = checkpoint.report.firstIndex { $0.outcome == outcome && $0.reason == reason }
        if let place {
            checkpoint.report[place].devices.append(record)
        } else {
            checkpoint.report.append(OutcomeReport.Group(outcome: outcome, reason: reason, devices: [record]))
        }
    }

    private mutating func tally(_ outcome: TargetOutcome, _ platform: Platform, _ count: Int) {
        if platform == .apns {
            checkpoint.tallies[outcome, default: 0] += count
        } else {
            checkpoint.otherTallies[platform, default: [:]][outcome, default: 0] += count
        }
    }

    private mutating func countGroup(_ index: Int, of plan: PagePlan, _ outcome: TargetOutcome) {
        checkpoint.groupTallies[plan.page.group(index), default: [:]][outcome, default: 0] += 1
    }

    /// Moves the cursor; `nil` leaves it where it is.
    mutating func walk(to key: SliceKey?, targets: Int) {
        if let key { checkpoint.lease.cursor = key }
        checkpoint.lease.walked += targets
    }

    /// Takes in what the outcomes say of devices.
    mutating func learn(_ plan: PagePlan, outcomes: PushOutcomes) {
        for (outcome, index) in zip(outcomes, plan.sends) {
            switch outcome {
            case .gone(let since) where plan.page.registeredAt(index) < since:
                let target = plan.page[index]
                checkpoint.forgotten.append(.init(platform: target.platform, handle: target.handle, since: since))
                report(target, .gone)
            case .badToken:
                let target = plan.page[index]
                // A client may have registered the token of a direct send a moment ago.
                if target.record != nil { checkpoint.badTokens.append(.init(key: target.key, version: target.version)) }
                report(target, .badToken)
            default: break
            }
        }
    }

    /// What owners of the hub read of dead device tokens. That of a Live Activity dies with it, and says nothing of a device.
    private mutating func report(_ target: TargetPage.Target, _ reason: DeviceFeedback.Reason) {
        guard !target.platform.isTokenKind else { return }
        checkpoint.feedback.append(
            DeviceFeedback(
                platform: target.platform, handle: target.handle, record: target.record,
                notification: context.lease.id.notification, reason: reason, notedAt: context.now))
    }

    /// Decides what becomes of the lease. `pause` is the trouble that the whole slice has to wait for.
    func finished(pause: PageDecision.Trouble?) -> SliceCheckpoint {
        var result = checkpoint
        result.disposition = disposition(pause, failures: result.lease.failures)
        result.wait = rest(until: result.disposition)
        return result
    }

    /// What the slice waits for when it rests until a push is due again that the push service refused for now, or that did not leave. That
    /// may be a quarter of an hour, in which a sender sees nothing else happen.
    private func rest(until disposition: SliceCheckpoint.Disposition) -> SendWait? {
        guard case .release(let due) = disposition,
            let row = checkpoint.pending.first(where: { $0.notBefore == due && $0.cause != .unknown })
        else { return nil }
        return row.reason.map { SendWait(.pushService, reason: $0) }
    }

    /// Counts the failures of the walk: consecutive only while none of its pages gets an answer. Retries count for
    /// themselves, by their rows, and say nothing about targets that were not tried yet.
    mutating func note(_ answer: PageOutcomeSummary.Answer, isTroubled: Bool) {
        switch answer {
        case .nothingAsked: break
        case .none:
            checkpoint.lease.failures += 1
            checkpoint.lease.stalledSince = min(checkpoint.lease.stalledSince ?? context.now, context.now)
        case .some:
            checkpoint.lease.failures = isTroubled ? 1 : 0
            checkpoint.lease.stalledSince = nil
        }
    }

    private mutating func settle(_ index: Int, of plan: PagePlan, _ outcome: TargetOutcome, _ reason: String?) {
        tally(outcome, plan.page.platform(index), 1)
        if plan.isSplit { countGroup(index, of: plan, outcome) }
        if plan.reportsOutcomes { report(index, of: plan, outcome, outcome.isFailure ? reason : nil) }
        if plan.pending(index) != nil { checkpoint.settled.append(plan.page.key(index)) }
        if outcome.isFailure { explain(index, of: plan, outcome, reason) }
    }

    /// Notes why a target got no push: each reason is counted, and the first targets are named.
    private mutating func explain(_ index: Int, of plan: PagePlan, _ outcome: TargetOutcome, _ reason: String?) {
        let platform = plan.page.platform(index)
        if let reason {
            checkpoint.reasons[OutcomeReason(platform: platform, outcome: outcome, reason: reason), default: 0] += 1
        }
        guard checkpoint.failures.count < TargetFailure.limit else { return }
        let record = plan.page.record(index)
        let key = record.map { SliceKey(of: $0) } ?? plan.page.key(index)
        checkpoint.failures.append(
            TargetFailure(key: key, platform: platform, record: record, outcome: outcome, reason: reason))
    }

    private mutating func again(
        _ index: Int, of plan: PagePlan, _ next: PendingTarget.Cause, minimum: Duration, _ reason: String?, _ pushType: String
    ) {
        let (key, pending) = (plan.page.key(index), plan.pending(index))
        let attempts = (pending?.attempts ?? 0) + 1
        let unanswered = (pending?.unanswered ?? 0) + (next == .unknown ? 1 : 0)
        let rule = context.settings.retries.rule(for: next.ending, pushType: pushType)
        guard rule.allowsAnother(after: next == .unknown ? unanswered : attempts) else {
            return settle(index, of: plan, rule.outcome, reason)
        }
        let cause = pending?.cause.followed(by: next) ?? next
        let firstAt = min(pending?.firstAt ?? context.now, context.now)
        let backOff = next == .notSent ? unsentBackOff : rule.backOff ?? .target
        let delay = backOff.delay(failures: attempts, jitter: jitter(of: key), minimum: minimum)
        let row = PendingTarget(
            key: key, cause: cause, attempts: attempts, unanswered: unanswered, reason: reason, firstAt: firstAt,
            notBefore: context.now + delay)
        if row.notBefore >= deadlines.deadline(firstAt: firstAt) {
            return settle(index, of: plan, cause.lastOutcome, reason)
        }
        if pending == nil { newRows += 1 }
        checkpoint.pending.append(row)
    }

    /// The page's jitter, different for each target.
    private func jitter(of key: SliceKey) -> Double {
        let sum = context.jitter + Double(UInt64(bitPattern: key.number) >> 40) / Double(1 << 24)
        return sum.truncatingRemainder(dividingBy: 1)
    }

    private func disposition(_ pause: PageDecision.Trouble?, failures: Int) -> SliceCheckpoint.Disposition {
        let rows = context.pendingCount + newRows - checkpoint.settled.count
        let isWalked = checkpoint.lease.cursor >= checkpoint.lease.last
        if isWalked, rows <= 0 { return .finish }
        if let pause {
            let wait = pause.backOff(context.settings.retries).delay(
                failures: failures, jitter: context.jitter, minimum: pause.minimumWait)
            return .release(notBefore: context.now + wait)
        }
        let limit = context.settings.pendingLimit(walked: checkpoint.lease.walked)
        if isWalked || rows >= limit, let next = nextDue, next > context.now { return .release(notBefore: next) }
        return .keep(until: context.now + context.settings.leaseDuration)
    }

    private var nextDue: Timestamp? {
        ([context.nextPendingAt].compactMap(\.self) + checkpoint.pending.map(\.notBefore)).min()
    }
}

extension PageDecision.Trouble {
    fileprivate func backOff(_ retries: RetryTable) -> BackOff {
        let ending: RetryTable.Ending =
            switch self {
            case .unreachable: .unreachable
            case .unavailable: .unavailable
            case .misconfigured: .misconfigured
            }
        return retries.rule(for: ending, pushType: "").backOff ?? .unreachable
    }

    fileprivate var minimumWait: Duration {
        if case .unavailable(_, let retryAfter?) = self { retryAfter } else { .zero }
    }
}
