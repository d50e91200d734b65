import RichPushModel

/// What is done with each target of a page before anything is sent: a pure value.
struct PagePlan: Hashable {
    struct Target: Hashable {
        var key: SliceKey
        /// Absent when the target went since the last try.
        var member: AudienceMember?
        /// Present when this is another try.
        var pending: PendingTarget?
        /// Present when nothing is sent to the target.
        var settled: TargetOutcome?
    }

    private(set) var targets: PlannedTargets
    /// Indices of the targets that a push is sent to.
    private(set) var sends: [Int] = []
    /// How far the walk is after this page; absent for a page of retries.
    private(set) var through: SliceKey?
    /// Whether all targets are devices of Apple's.
    let isAppleAlone: Bool
    /// What is sent for each template.
    private(set) var pushes: [TemplateID: RenderedPush] = [:]
    /// Whether targets of the page were left for another one.
    private(set) var isLimited = false

    /// Plans a page. `horizon` is how long targets are tried when the caller gave no expiry; only who `isOutOfReach`, having
    /// just tried in vain, gives targets up untried: the service may be back since the lease was last in hand.
    /// `templates` says what those of the page's targets are filled to.
    init(
        _ page: SlicePage, lease: SliceLease, now: Timestamp, horizon: Duration, isOutOfReach: Bool = false,
        templates: [TemplateID: TemplateRendering] = [:]
    ) {
        isAppleAlone = page.message.format == .native(.apns)
        let deadlines = RetryDeadline(expiresAt: page.message.expiresAt, horizon: horizon)
        switch page.work {
        case .wait:
            targets = PlannedTargets(.retries([]))
        case .walk(let walk):
            through = walk.through
            targets = PlannedTargets(.walk(walk.candidates))
            let isOver = deadlines.isOver(stalledSince: isOutOfReach ? lease.stalledSince : nil, at: now)
            for index in targets.indices {
                if let outcome = walk.candidates.outcomeUntried(index) {
                    targets.settle(index, outcome)
                } else if isOver {
                    targets.settle(index, .expired)
                }
            }
        case .retries(let due):
            targets = PlannedTargets(.retries(due))
            for (index, target) in due.enumerated() {
                let isOver = now >= deadlines.deadline(firstAt: target.target.firstAt)
                if let outcome = Self.settled(target, isOver: isOver) { targets.settle(index, outcome) }
            }
        }
        if page.message.format == .template { fill(templates, now) } else { refuse(page.message) }
        sends = targets.indices.filter { !targets.isSettled($0) }
    }

    /// Settles whom the push service would refuse for sure, so that it is not asked.
    private mutating func refuse(_ message: AcceptedMessage) {
        // A handle first: who has none gets nothing, of any size.
        targets.settleMalformed()
        guard message.isTooLarge else { return }
        for index in targets.indices where !targets.isSettled(index) { targets.settle(index, .tooLarge) }
    }

    /// Settles whom no push can be made for; the others share one push for each template.
    private mutating func fill(_ templates: [TemplateID: TemplateRendering], _ now: Timestamp) {
        for index in targets.indices where !targets.isSettled(index) {
            guard let id = targets.member(index)?.template, let rendering = templates[id] else {
                targets.settle(index, .invalidFormat)
                continue
            }
            switch rendering {
            case .failed(let outcome): targets.settle(index, outcome)
            case .push(let push) where push.isOver(at: now): targets.settle(index, .expired)
            case .push(let push): pushes[id] = push
            }
        }
    }

    /// The plan with the first `count` of its pushes only; what comes after them is left for another page.
    func limited(toPushes count: Int) -> PagePlan {
        guard count < sends.count else { return self }
        var plan = self
        plan.targets.limit(to: sends[count])
        plan.sends = Array(sends.prefix(count))
        if through != nil { plan.through = plan.targets.last?.key }
        plan.isLimited = true
        return plan
    }

    /// How many of its pushes may have arrived at an earlier try.
    var doubtful: Int { through == nil ? sends.count { targets[$0].pending?.cause == .unknown } : 0 }

    private static func settled(_ due: SlicePage.DueTarget, isOver: Bool) -> TargetOutcome? {
        let cause = due.target.cause
        return due.member == nil ? cause.outcomeWithoutRecord : isOver ? cause.lastOutcome : nil
    }
}

/// Until when targets of a send are tried.
struct RetryDeadline: Hashable {
    /// The caller's expiry, which counts alone if given.
    let expiresAt: Timestamp?
    let horizon: Duration

    private var isOneTry: Bool { expiresAt == PushMessage.oneTry }

    /// For a target whose first try was at that moment. What is worth one try has had it.
    func deadline(firstAt: Timestamp) -> Timestamp { isOneTry ? firstAt : expiresAt ?? firstAt + horizon }

    /// For targets that were not tried yet. Without an expiry they wait for ever, unless the service has been out of reach
    /// for the whole horizon.
    func isOver(stalledSince: Timestamp?, at now: Timestamp) -> Bool {
        if let expiresAt, !isOneTry { return now >= expiresAt }
        return stalledSince.map { now >= $0 + horizon } ?? false
    }
}
