import RichPushModel

/// What is stored after a page, and what the operator is told: decided from the outcomes alone, without I/O.
struct PageDecision: Hashable {
    /// Why nothing, or not everything, could be sent.
    enum Trouble: Hashable {
        case unreachable(reason: String)
        case misconfigured(reason: String)
    }

    var checkpoint: SliceCheckpoint
    var trouble: Trouble?
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
    }

    /// Decides. `outcomes` belong to `plan.sends`, in that order; a missing one counts as unknown.
    init(_ plan: PagePlan, outcomes: [PushOutcome], in context: Context) {
        var reading = PageReading(plan, outcomes: outcomes)
        // A page of retries of which nothing left: the rows stay as they are and the whole slice waits.
        if plan.through == nil, !reading.hasAnswer { reading.dropUnsent() }
        let kept = plan.through == nil ? plan.targets.count : reading.tail
        var draft = CheckpointDraft(context)
        for index in plan.targets.indices.prefix(kept) {
            if let verdict = reading.verdicts[index] { draft.add(plan.targets[index], verdict) }
        }
        if let through = plan.through {
            draft.walk(to: kept == plan.targets.count ? through : plan.lastKey(before: kept), targets: kept)
        }
        draft.learn(plan, outcomes: outcomes)
        trouble = Self.trouble(outcomes)
        checkpoint = draft.finished(trouble: trouble, hasAnswer: reading.hasAnswer)
    }

    /// A configuration fault outweighs a service out of reach.
    private static func trouble(_ outcomes: [PushOutcome]) -> Trouble? {
        var found: Trouble?
        for outcome in outcomes {
            if case .misconfigured(let reason) = outcome { return .misconfigured(reason: reason) }
            if case .notSent(let reason) = outcome, found == nil { found = .unreachable(reason: reason) }
        }
        return found
    }
}

extension PagePlan {
    /// The key of the target before the index, or `nil` at the start.
    fileprivate func lastKey(before index: Int) -> SliceKey? { index > 0 ? targets[index - 1].key : nil }
}
