import RichPushModel

/// What is stored after a page and what is logged, decided from the outcomes alone, without I/O.
struct PageDecision: Hashable {
    /// Why nothing, or much less than everything, could be sent.
    enum Trouble: Hashable {
        case unreachable(reason: String)
        /// Not before `retryAfter` has passed, if the service named a time.
        case unavailable(reason: String, retryAfter: Duration?)
        case misconfigured(reason: String)
    }

    var checkpoint: SliceCheckpoint
    var trouble: Trouble?
    /// How much the push service said to this page.
    var answer: PageOutcomeSummary.Answer
}

extension PageDecision {
    /// What the decision needs to know beside plan and outcomes.
    struct Context {
        var lease: SliceLease
        var message: AcceptedMessage
        var pendingCount: Int
        var nextPendingAt: Timestamp?
        var now: Timestamp
        var settings: DispatchSettings
        /// 0 to 1; spreads the waits.
        var jitter: Double

        /// Whether the walk has got no answer for so long that targets whose try fails now are given up.
        var isStalledTooLong: Bool {
            RetryDeadline(expiresAt: message.expiresAt, horizon: settings.retryHorizon)
                .isOver(stalledSince: lease.stalledSince, at: now)
        }
    }

    /// Decides. `outcomes` belong to `plan.sends`, in that order; a missing one counts as unknown.
    init(_ plan: PagePlan, outcomes: PushOutcomes, in context: Context) {
        guard !plan.isSentWhole(outcomes) else {
            self = Self.whole(plan, context)
            return
        }
        let trouble = Self.trouble(outcomes)
        var summary = PageOutcomeSummary(plan, outcomes: outcomes)
        answer = summary.answer
        let isInTrouble = summary.isBroadlyUnsent
        var pause = isInTrouble ? trouble : nil
        // Retries wait by their own rows, not as a slice: the walk goes on between them.
        if plan.through == nil { pause = nil }
        if plan.through != nil, summary.answer == .none, context.isStalledTooLong {
            summary.expireUnsent()
            pause = nil
        }
        let kept = plan.through == nil ? plan.count : summary.tail
        var draft = CheckpointDraft(context, trouble: trouble)
        for index in plan.indices.prefix(kept) {
            draft.add(
                index, of: plan, summary.verdicts[index], reason: summary.reasons[index],
                pushType: plan.pushType(of: index, in: context.message))
        }
        if let through = plan.through {
            draft.walk(to: kept == plan.count ? through : plan.lastKey(before: kept), targets: kept)
            draft.note(summary.answer, isTroubled: pause != nil)
        }
        draft.learn(plan, outcomes: outcomes)
        self.trouble = isInTrouble ? trouble : nil
        checkpoint = draft.finished(pause: pause)
        if let trouble = self.trouble { checkpoint.wait = trouble.wait }
    }

    /// The decision on a page whose targets all got their push, as nearly all pages are: no single target needs a report.
    private static func whole(_ plan: PagePlan, _ context: Context) -> PageDecision {
        var draft = CheckpointDraft(context, trouble: nil)
        draft.count(.accepted, of: plan)
        draft.walk(to: plan.through, targets: plan.count)
        draft.note(.some, isTroubled: false)
        return PageDecision(checkpoint: draft.finished(pause: nil), trouble: nil, answer: .some)
    }

    /// A configuration fault outweighs an unavailable service, whose longest wait counts, and that outweighs one out of reach.
    private static func trouble(_ outcomes: PushOutcomes) -> Trouble? {
        var unreachable: String?
        var unavailable: String?
        var wait: Duration?
        for outcome in outcomes {
            if case .misconfigured(let reason) = outcome { return .misconfigured(reason: reason) }
            if case .notSent(let reason) = outcome { unreachable = unreachable ?? reason }
            guard case .unavailable(let reason, let retryAfter) = outcome else { continue }
            unavailable = unavailable ?? reason
            if let retryAfter { wait = max(wait ?? .zero, retryAfter) }
        }
        if let unavailable { return .unavailable(reason: unavailable, retryAfter: wait) }
        return unreachable.map { .unreachable(reason: $0) }
    }
}

extension PagePlan {
    /// Whether this is a page of the walk in which every target was sent to and accepted.
    fileprivate func isSentWhole(_ outcomes: PushOutcomes) -> Bool {
        through != nil && platform.isAPNs && count > 0 && sends.count == count && outcomes.count == count
            && outcomes.areAllAccepted
    }

    /// The push type that the target is sent, as far as it is known.
    fileprivate func pushType(of index: Int, in message: AcceptedMessage) -> String {
        page.template(index).flatMap { pushes[$0]?.pushType } ?? message.pushType
    }

    /// The key of the target before the index, or `nil` at the start.
    fileprivate func lastKey(before index: Int) -> SliceKey? { index > 0 ? page.key(index - 1) : nil }
}

extension PageDecision.Trouble {
    /// The same for the sender.
    fileprivate var wait: SendWait {
        switch self {
        case .unreachable(let reason), .unavailable(let reason, _): SendWait(.pushService, reason: reason)
        case .misconfigured(let reason): SendWait(.operator, reason: reason)
        }
    }
}

/// What an outcome means for its target.
enum TargetVerdict: Hashable {
    /// Counted; nothing more happens.
    case settled(TargetOutcome)
    /// To be tried again, not before the delay.
    case again(PendingTarget.Cause, after: Duration)
    /// The push did not leave, and nothing is wrong with the target.
    case notSent

    /// Reads the outcome of a push to a target whose device token was confirmed at that moment.
    init(_ outcome: PushOutcome, registeredAt: Timestamp) {
        switch outcome {
        case .accepted: self = .settled(.accepted)
        // A record that registered after Apple's moment is alive: the push is lost, the record stays (Reference/APNs.md#4).
        case .gone(let since): self = .settled(registeredAt < since ? .gone : .rejected)
        case .badToken: self = .settled(.badToken)
        case .rejected: self = .settled(.rejected)
        case .tooLarge: self = .settled(.tooLarge)
        case .unsupported: self = .settled(.noTransport)
        case .retry(let delay, _): self = .again(.retry, after: delay)
        case .delayed(let delay, _): self = .again(.notSent, after: delay)
        case .unknown: self = .again(.unknown, after: .zero)
        case .notSent, .unavailable, .misconfigured: self = .notSent
        }
    }
}

/// What the outcomes of a page's pushes mean: the verdict on each target, by index, and how much the push service answered.
struct PageOutcomeSummary {
    /// To how many of the page's pushes the push service answered.
    enum Answer: Hashable {
        /// The page had no push to send.
        case nothingAsked
        /// None of its pushes left.
        case none
        case some
    }

    private(set) var verdicts: [TargetVerdict]
    /// The reasons of the pushes that were not accepted, by index.
    private(set) var reasons: [Int: String] = [:]
    let answer: Answer
    /// How many pushes the transport was given, and how many of them did not leave.
    let asked: Int
    let unsent: Int

    init(_ plan: PagePlan, outcomes: PushOutcomes) {
        var verdicts = plan.settled.map { $0.map(TargetVerdict.settled) ?? .notSent }
        for (position, index) in plan.sends.enumerated() {
            let outcome = position < outcomes.count ? outcomes[position] : .unknown(reason: "no outcome")
            verdicts[index] = TargetVerdict(outcome, registeredAt: plan.page.registeredAt(index))
            if let reason = outcome.reason { reasons[index] = reason }
        }
        self.verdicts = verdicts
        asked = plan.sends.count
        unsent = plan.sends.count { verdicts[$0] == .notSent }
        answer = asked == 0 ? .nothingAsked : unsent == asked ? .none : .some
    }

    /// Where the run of unsent targets at the end begins: they need no rows, for the cursor stays before them.
    var tail: Int { (verdicts.lastIndex { $0 != .notSent } ?? -1) + 1 }

    /// Whether more than 5 % of the pushes did not leave. The slice then waits, since the next page would only add to the load of a
    /// push service in trouble. With fewer, the fault lies with those targets, and only they wait.
    var isBroadlyUnsent: Bool { answer == .none || unsent > max(1, asked / 20) }

    /// Settles every target whose push did not leave as expired.
    mutating func expireUnsent() { verdicts = verdicts.map { $0 == .notSent ? .settled(.expired) : $0 } }
}
