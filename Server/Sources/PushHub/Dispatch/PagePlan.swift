import RichPushModel

/// What is done with each target of a page before anything is sent: a pure value.
struct PagePlan: Hashable {
    /// The targets where they were read. The plan is for the first of them, of which each has a place in `settled`.
    let page: TargetPage
    /// One for each target of a page of retries; of a walk there are none.
    private let pending: [PendingTarget]
    /// What becomes of the targets that nothing is sent to.
    private(set) var settled: [TargetOutcome?]
    /// Places of the targets that a push is sent to.
    private(set) var sends: [Int] = []
    /// How far the walk is after this page; absent for a page of retries.
    private(set) var through: SliceKey?
    /// That of all targets which something is sent to.
    let platform: Platform
    /// Whether they are of a send with groups.
    let isSplit: Bool
    /// Whether each device is named in a report.
    let reportsOutcomes: Bool
    /// What is sent for each template, or translation.
    private(set) var pushes: [TemplateID: RenderedPush] = [:]
    /// Whether targets of the page were left for another one.
    private(set) var isLimited = false

    /// How many targets it is for.
    var count: Int { settled.count }
    var indices: Range<Int> { settled.indices }

    /// Plans a page. `horizon` is how long targets are tried when the caller gave no expiry; only a worker that `isOutOfReach`, whose
    /// last page has just failed, gives targets up untried: the service may be back since the lease was last taken.
    /// `templates` says what those of the page's targets are filled to.
    init(
        _ page: SlicePage, lease: SliceLease, now: Timestamp, horizon: Duration, isOutOfReach: Bool = false,
        templates: [TemplateID: TemplateRendering] = [:]
    ) {
        platform = page.message.platform
        (isSplit, reportsOutcomes) = (page.isSplit, page.reportsOutcomes)
        let deadlines = RetryDeadline(expiresAt: page.message.expiresAt, horizon: horizon)
        switch page.work {
        case .wait:
            (self.page, pending, settled) = (TargetPage(capacity: 0), [], [])
        case .walk(let walk):
            through = walk.through
            let isOver = deadlines.isOver(stalledSince: isOutOfReach ? lease.stalledSince : nil, at: now)
            (self.page, pending) = (walk.targets, [])
            settled = walk.targets.indices.map {
                walk.targets.outcomeUntried($0) ?? (isOver ? .expired : nil)
            }
        case .retries(let due):
            (self.page, pending) = (due.targets, due.pending)
            settled = due.indices.map { index in
                let cause = due.pending[index].cause
                if due.targets.isGone(index) { return cause.outcomeWithoutRecord }
                return now >= deadlines.deadline(firstAt: due.pending[index].firstAt) ? cause.lastOutcome : nil
            }
        }
        for index in indices where settled[index] == nil {
            // A target of a native send without a number gets the message's body.
            if page.message.format == .template || self.page.template(index) != nil {
                settled[index] = fill(index, templates, now)
            } else {
                settled[index] = refusal(of: index, page.message)
            }
        }
        sends = indices.filter { settled[$0] == nil }
    }

    /// What the push service would refuse for sure, so that it is not asked.
    private func refusal(of index: Int, _ message: AcceptedMessage) -> TargetOutcome? {
        // The device token first: a target without one gets nothing, of any size.
        if page.isMalformed(index) { return .badToken }
        return message.isTooLarge ? .tooLarge : nil
    }

    /// What becomes of a target that no push can be made for; the others share one push for each template.
    private mutating func fill(
        _ index: Int, _ templates: [TemplateID: TemplateRendering], _ now: Timestamp
    ) -> TargetOutcome? {
        guard let id = page.template(index), let rendering = templates[id] else { return .invalidFormat }
        switch rendering {
        case .failed(let outcome): return outcome
        case .push(let push) where push.isOver(at: now): return .expired
        case .push(let push):
            if pushes[id] == nil { pushes[id] = push }
            return nil
        }
    }

    /// The targets of the walk that a push would be sent to.
    var keysToSend: [SliceKey] { through == nil ? [] : sends.map(page.key) }

    /// Sends nothing to these targets, whose users have had enough.
    mutating func hold(_ capped: Set<SliceKey>) {
        guard !capped.isEmpty else { return }
        for index in sends where capped.contains(page.key(index)) { settled[index] = .capped }
        sends.removeAll { settled[$0] != nil }
    }

    /// The pending row of a target; absent when this is its first try.
    func pending(_ index: Int) -> PendingTarget? { pending.isEmpty ? nil : pending[index] }

    /// The plan with the first `count` of its pushes only; what comes after them is left for another page.
    func limited(toPushes count: Int) -> PagePlan {
        guard count < sends.count else { return self }
        var plan = self
        plan.settled.removeSubrange(sends[count]...)
        plan.sends = Array(sends.prefix(count))
        if through != nil { plan.through = plan.indices.last.map(page.key) }
        plan.isLimited = true
        return plan
    }

    /// How many of its pushes may have arrived at an earlier try.
    var doubtful: Int { sends.count { pending($0)?.cause == .unknown } }
}

/// Until when targets of a send are tried.
struct RetryDeadline: Hashable {
    /// The caller's expiry, which counts alone if given.
    let expiresAt: Timestamp?
    let horizon: Duration

    private var isOneTry: Bool { expiresAt == PushMessage.oneTry }

    /// For a target whose first try was at that moment. One-try targets expire after the first try.
    func deadline(firstAt: Timestamp) -> Timestamp { isOneTry ? firstAt : expiresAt ?? firstAt + horizon }

    /// For targets that were not tried yet. Without an expiry they wait without a limit, unless the service was unreachable for
    /// the whole horizon.
    func isOver(stalledSince: Timestamp?, at now: Timestamp) -> Bool {
        if let expiresAt, !isOneTry { return now >= expiresAt }
        return stalledSince.map { now >= $0 + horizon } ?? false
    }
}

extension PagePlan {
    /// The batch for the targets in `sends`, in their order: one body for each template, and one header set for each template
    /// and topic.
    func batch(_ message: AcceptedMessage, of slice: SliceID) -> PushBatch {
        var composition = BatchComposition(message, page, pushes)
        for index in sends { composition.add(index) }
        var batch = PushBatch(
            hub: slice.hub, bodies: composition.bodies, headers: composition.headers,
            targets: PushTargets(
                page, sends, runs: composition.runs, pushIDs: PushID.Naming(slice.notification).ids(of: page, sends)))
        batch.platform = platform
        batch.bodyPlatform = message.bodyPlatform
        return batch
    }
}

/// A batch in the making.
private struct BatchComposition {
    private struct HeaderKey: Hashable {
        var template: TemplateID?
        var topic: String?
    }

    private let message: AcceptedMessage
    private let page: TargetPage
    private let pushes: [TemplateID: RenderedPush]
    private(set) var bodies: [[UInt8]] = []
    private(set) var headers: [PushBatch.Headers] = []
    private(set) var runs: [PushTargets.Run] = []
    private var knownBodies: [TemplateID?: Int] = [:]
    private var knownHeaders: [HeaderKey: Int] = [:]
    /// The first target of the last run.
    private var latest: Int?

    init(_ message: AcceptedMessage, _ page: TargetPage, _ pushes: [TemplateID: RenderedPush]) {
        self.message = message
        self.page = page
        self.pushes = pushes
    }

    /// Takes the target at this place.
    mutating func add(_ index: Int) {
        let position = runs.last?.positions.upperBound ?? 0
        if let latest, page.areAlike(latest, index) {
            let start = runs[runs.count - 1].positions.lowerBound
            runs[runs.count - 1].positions = start..<position + 1
        } else {
            runs.append(run(index, at: position))
            latest = index
        }
    }

    private mutating func run(_ index: Int, at position: Int) -> PushTargets.Run {
        let template = page.template(index)
        let push = template.flatMap { pushes[$0] }
        let key = HeaderKey(template: template, topic: push?.topic ?? message.topic ?? page.topic(index))
        return PushTargets.Run(
            positions: position..<position + 1, environment: page.environment(index), body: body(template, push),
            headers: header(key, push))
    }

    private mutating func body(_ template: TemplateID?, _ push: RenderedPush?) -> Int {
        if let known = knownBodies[template] { return known }
        bodies.append(push?.body ?? message.body)
        knownBodies[template] = bodies.count - 1
        return bodies.count - 1
    }

    private mutating func header(_ key: HeaderKey, _ push: RenderedPush?) -> Int {
        if let known = knownHeaders[key] { return known }
        headers.append(
            PushBatch.Headers(
                pushType: push?.pushType ?? message.pushType, priority: push?.priority ?? message.priority,
                expiration: push.map(\.expiration) ?? message.expiresAt?.seconds,
                collapseID: push.map(\.collapseID) ?? message.collapseID, topic: key.topic))
        knownHeaders[key] = headers.count - 1
        return headers.count - 1
    }
}
