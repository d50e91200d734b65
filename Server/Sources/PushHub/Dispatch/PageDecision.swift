import RichPushModel

/// What is stored after a page, and what the operator is told: decided from the outcomes alone, without I/O.
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
    var answer: PageReading.Answer
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

        /// Whether the walk has got no answer for so long that what it tries in vain now is given up.
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
        var reading = PageReading(plan, outcomes: outcomes)
        answer = reading.answer
        let isInTrouble = reading.isBroadlyUnsent
        var pause = isInTrouble ? trouble : nil
        // Retries wait by their own rows, not as a slice: the walk goes on between them.
        if plan.through == nil { pause = nil }
        if plan.through != nil, reading.answer == .none, context.isStalledTooLong {
            reading.expireUnsent()
            pause = nil
        }
        let kept = plan.through == nil ? plan.count : reading.tail
        var draft = CheckpointDraft(context, trouble: trouble)
        for index in plan.indices.prefix(kept) {
            draft.add(
                index, of: plan, reading.verdicts[index], reason: reading.reasons[index],
                pushType: plan.pushType(of: index, in: context.message))
        }
        if let through = plan.through {
            draft.walk(to: kept == plan.count ? through : plan.lastKey(before: kept), targets: kept)
            draft.note(reading.answer, isTroubled: pause != nil)
        }
        draft.learn(plan, outcomes: outcomes)
        self.trouble = isInTrouble ? trouble : nil
        checkpoint = draft.finished(pause: pause)
        checkpoint.wait = self.trouble?.wait
    }

    /// The decision on a page whose targets all got their push, as nearly all pages are: nothing is to be told of any one.
    private static func whole(_ plan: PagePlan, _ context: Context) -> PageDecision {
        var draft = CheckpointDraft(context, trouble: nil)
        draft.count(.accepted, plan.count)
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
        through != nil && isAppleAlone && count > 0 && sends.count == count && outcomes.count == count
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
