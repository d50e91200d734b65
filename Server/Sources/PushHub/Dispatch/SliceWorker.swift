import Logging
import RichPushModel
import ServiceErrors

/// Works on one leased slice, page by page: read, send, store; until it is done, has to wait, or its turn is over.
struct SliceWorker: Sendable {
    let queue: any SliceQueue
    let transport: any PushTransport
    let clock: any ServiceClock
    let settings: DispatchSettings
    let pacing: PushPacing
    let unreached: UnreachedPlatforms
    let observer: (any HubObserver)?
    let logger: Logger
    let isStopping: @Sendable () -> Bool

    /// A slice in hand.
    private struct Hold {
        var lease: SliceLease
        var term: LeaseTerm
        /// A paced send gives its slice back after every page, so the turns have to alternate from lease to lease as well.
        var turn: PageRequest.Turn
        /// What the templates of the send are filled to, each once while the slice is in hand.
        var templates = TemplateFilling()
        /// Whether the last page of the walk was tried in vain.
        var isOutOfReach = false
        /// When its turn is over.
        var turnEnd: Duration
        var end = SliceEnd()
    }

    /// Returns once the slice is out of hand again.
    func work(_ lease: SliceLease, term: LeaseTerm) async -> SliceEnd {
        var hold = Hold(
            lease: lease, term: term, turn: lease.epoch.isMultiple(of: 2) ? .walk : .retries,
            turnEnd: clock.uptime + settings.turnDuration)
        do {
            var pages = 0
            while try await step(&hold, pages: pages) { pages += 1 }
        } catch {
            logger.warning("A slice was put back after an error", metadata: metadata(hold, ["error": "\(error)"]))
            // What was sent since the last checkpoint may be sent again; the wait keeps a broken store from repeating it often.
            // The wait is longer than any pace asks for.
            await putBack(&hold, notBefore: clock.now + Self.troublePause)
        }
        return hold.end
    }

    /// How long a slice rests after an error of the store.
    static let troublePause: Duration = .seconds(5)

    /// One page; whether there is more to do now.
    private func step(_ hold: inout Hold, pages: Int) async throws -> Bool {
        // Pages of who is out of reach are given up untried, which takes no time and is not known after the turn.
        let isLate = clock.uptime >= hold.turnEnd && !hold.isOutOfReach
        let isTurnOver = pages > 0 && (pages >= settings.pagesPerTurn || isLate)
        // Whoever has the slice next knows of the pace what stands here.
        if paceMakesWait(&hold) || Task.isCancelled || isStopping() || isTurnOver {
            await putBack(&hold, notBefore: clock.now + hold.end.wait)
            return false
        }
        guard let page = try await queue.page(request(hold)) else { return false }
        guard !page.state.isFinal else { return try await store(closing(hold), decidedAt: clock.uptime, &hold) }
        await transport.prepare(for: hold.lease.id.hub)
        guard try await secure(&hold) else { return false }
        let (checkpoint, decidedAt) = await dispatch(page, &hold)
        return try await store(checkpoint, decidedAt: decidedAt, &hold)
    }

    /// Sends what the page asks for and decides what becomes of it, at the moment that is returned or after.
    private func dispatch(_ page: SlicePage, _ hold: inout Hold) async -> (SliceCheckpoint, decidedAt: Duration) {
        let settings = stretchedSettings
        let whole = PagePlan(
            page, lease: hold.lease, now: clock.now, horizon: settings.retryHorizon, isOutOfReach: hold.isOutOfReach,
            templates: hold.templates.fill(page, of: hold.lease.id.notification))
        let plan = paced(whole, page, hold)
        unreached.note(plan, of: hold.lease.id.hub, logger)
        var outcomes: PushOutcomes = []
        if !plan.sends.isEmpty {
            var batch = plan.batch(page.message, of: hold.lease.id)
            batch.isExpress = hold.lease.weight == .single
            batch.dueAt = page.dueAt
            let retries = plan.through == nil ? batch.targets.count : 0
            observer?.sending(batch, of: hold.lease.id.notification, retries: retries, doubtful: plan.doubtful)
            outcomes = await transport.send(batch)
            observer?.sent(batch, of: hold.lease.id.notification, outcomes: outcomes)
        }
        let decidedAt = clock.uptime
        let decision = PageDecision(
            plan, outcomes: outcomes,
            in: PageDecision.Context(
                lease: hold.lease, message: page.message, pendingCount: page.pendingCount,
                nextPendingAt: plan.isLimited && plan.through == nil ? clock.now : page.nextPendingAt, now: clock.now,
                settings: settings, jitter: .random(in: 0...1)))
        hold.turn = plan.through == nil ? .walk : .retries
        if plan.through != nil, decision.answer != .nothingAsked { hold.isOutOfReach = decision.answer == .none }
        tell(decision.trouble, hold)
        var checkpoint = decision.checkpoint
        if paceMakesWait(&hold) {
            switch checkpoint.disposition {
            case .keep: checkpoint.disposition = .release(notBefore: clock.now + hold.end.wait)
            case .release(let moment): checkpoint.disposition = .release(notBefore: max(moment, clock.now + hold.end.wait))
            case .finish: break
            }
        }
        return (checkpoint, decidedAt)
    }

    /// The settings with a retry horizon that leaves recent steps forward of the wall clock out: in them no push could be tried.
    private var stretchedSettings: DispatchSettings {
        var stretched = settings
        stretched.retryHorizon += clock.advance(within: settings.retryHorizon)
        return stretched
    }

    /// Makes sure that the lease outlasts what is sent next; whether it does.
    private func secure(_ hold: inout Hold) async throws -> Bool {
        guard hold.term.instruction(at: clock.uptime) == .renew else { return true }
        let asked = clock.uptime
        guard try await queue.renew(hold.lease, until: clock.now + settings.leaseDuration) else { return false }
        hold.term.renewed(askedAt: asked)
        guard hold.term.instruction(at: clock.uptime) == .send else {
            // Renewed so slowly that nothing may leave under it.
            hold.end.isInDoubt = true
            return false
        }
        return true
    }

    /// Stores a checkpoint; whether the slice is still in hand afterwards. The lease that it asks for counts from the decision.
    private func store(_ checkpoint: SliceCheckpoint, decidedAt: Duration, _ hold: inout Hold) async throws -> Bool {
        let answer = try await persistently(hold.term) { try await queue.checkpoint(checkpoint.handedOver(at: clock.now)) }
        guard case .stored(let ended) = answer else {
            logger.warning("A checkpoint was refused because the lease was lost", metadata: metadata(hold))
            return false
        }
        if let ended {
            logger.info("A send ended", metadata: metadata(hold, ["state": "\(ended.rawValue)"]))
            observer?.ended(hold.lease.id.notification, in: hold.lease.id.hub, state: ended)
        }
        guard case .keep = checkpoint.disposition else { return false }
        hold.lease = checkpoint.lease
        hold.term.renewed(askedAt: decidedAt)
        return true
    }

    private func putBack(_ hold: inout Hold, notBefore: Timestamp) async {
        let checkpoint = SliceCheckpoint(lease: hold.lease, now: clock.now, disposition: .release(notBefore: notBefore))
        // Refused it is when another has the slice, but also when a checkpoint before it was stored though its answer was lost.
        if case .stored? = try? await queue.checkpoint(checkpoint) { return }
        hold.end.isInDoubt = true
    }

    /// The end of a slice whose send has ended already.
    private func closing(_ hold: Hold) -> SliceCheckpoint {
        SliceCheckpoint(lease: hold.lease, now: clock.now, disposition: .finish)
    }

    private func request(_ hold: Hold) -> PageRequest {
        PageRequest(
            lease: hold.lease, now: clock.now,
            limit: min(settings.window, hold.lease.pushesPerSecond.map(PushPace.portion) ?? .max),
            scanLimit: settings.scanLimit,
            pendingLimit: settings.pendingLimit(walked: hold.lease.walked), turn: hold.turn)
    }
}

extension SliceWorker {
    /// Whether nothing of the slice may leave now, and says in the hold for how long.
    private func paceMakesWait(_ hold: inout Hold) -> Bool {
        hold.end.wait = pacing.wait(of: hold.lease.id, at: clock.uptime)
        return hold.end.wait > .zero
    }

    /// As much of the plan as may leave now. That is something: the slice does not have to wait, and is nobody else's.
    private func paced(_ plan: PagePlan, _ page: SlicePage, _ hold: Hold) -> PagePlan {
        let wanted = plan.sends.count
        guard let rate = share(page, hold.lease), wanted > 0 else { return plan }
        return plan.limited(toPushes: pacing.take(wanted, of: hold.lease.id, rate: rate, at: clock.uptime))
    }

    /// A node of an older version knows of no shares; a large slice that it has planned is one of sixteen at most.
    private func share(_ page: SlicePage, _ lease: SliceLease) -> Int? {
        lease.pushesPerSecond ?? page.pushesPerSecond.map { lease.weight == .large ? max($0 / SlicePlan.split, 1) : $0 }
    }

    /// Tries again when nothing was written, until the slice may be another's: throwing away the outcomes of a batch means sending
    /// it twice.
    private func persistently<Result>(_ term: LeaseTerm, _ body: () async throws -> Result) async throws -> Result {
        var delay = Duration.milliseconds(100)
        while clock.uptime + delay < term.end {
            do {
                return try await body()
            } catch let error as ServiceError where error.code == .storageUnavailable {
                try await clock.sleep(for: delay)
                delay = min(delay * 2, .seconds(2))
            }
        }
        return try await body()
    }

    private func tell(_ trouble: PageDecision.Trouble?, _ hold: Hold) {
        switch trouble {
        case .none: break
        case .unreachable(let reason):
            logger.warning("The push service cannot be reached", metadata: metadata(hold, ["apns.reason": "\(reason)"]))
        case .unavailable(let reason, _):
            logger.warning(
                "The push service answers that it cannot serve now", metadata: metadata(hold, ["apns.reason": "\(reason)"]))
        case .misconfigured(let reason):
            logger.error(
                "A send waits until an operator corrects the credential or the configuration",
                metadata: metadata(hold, ["hub": "\(hold.lease.id.hub.number)", "apns.reason": "\(reason)"]))
        }
    }

    private func metadata(_ hold: Hold, _ more: Logger.Metadata = [:]) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "notification_id": "\(hold.lease.id.notification)", "slice": "\(hold.lease.id.number)",
        ]
        metadata.merge(more) { _, new in new }
        return metadata
    }
}
