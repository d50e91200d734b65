import Logging
import RichPushModel
import ServiceErrors
import Synchronization

/// Works on one leased slice, page by page: read, send, store; until it is done, has to wait, or its turn is over.
struct SliceWorker: Sendable {
    let queue: any SliceQueue
    let checkpoints: GatheredCheckpoints
    let transport: any PushTransport
    let clock: any ServiceClock
    let settings: DispatchSettings
    let pacing: PushPacing
    let unreached: UnreachedPlatforms
    let delays: DelayLog
    let observer: (any HubObserver)?
    let logger: Logger
    let isStopping: @Sendable () -> Bool

    /// A leased slice and the state of the work on it.
    private struct LeasedSlice {
        var lease: SliceLease
        var term: LeaseTerm
        /// A paced send gives its slice back after every page, so the turns have to alternate from lease to lease as well.
        var turn: PageRequest.Turn
        /// The rendered templates of the send, each rendered once per lease.
        var templates = TemplateFilling()
        /// Whether no push of the walk's last page got an answer.
        var isOutOfReach = false
        /// When its turn is over.
        var turnEnd: Duration
        var end = SliceEnd()
    }

    /// Returns once the slice is released.
    func work(_ lease: SliceLease, term: LeaseTerm) async -> SliceEnd {
        var slice = LeasedSlice(
            lease: lease, term: term, turn: lease.epoch.isMultiple(of: 2) ? .walk : .retries,
            turnEnd: clock.uptime + settings.turnDuration)
        do {
            var pages = 0
            while try await step(&slice, pages: pages) { pages += 1 }
        } catch {
            logger.warning("A slice was put back after an error", metadata: metadata(slice, ["error": "\(error)"]))
            // What was sent since the last checkpoint may be sent again; the wait keeps a broken store from repeating it often.
            // The wait is longer than any pace asks for.
            await putBack(&slice, notBefore: clock.now + Self.troublePause)
        }
        return slice.end
    }

    /// How long a slice rests after an error of the store.
    static let troublePause: Duration = .seconds(5)

    /// One page; whether there is more to do now.
    private func step(_ slice: inout LeasedSlice, pages: Int) async throws -> Bool {
        // Pages for an unreachable service expire untried, which takes no time. Another worker would not know that it is unreachable.
        let isLate = clock.uptime >= slice.turnEnd && !slice.isOutOfReach
        let isTurnOver = pages > 0 && (pages >= settings.pagesPerTurn || isLate)
        // The next holder of the slice learns the pace only from `notBefore`.
        if paceMakesWait(&slice) || Task.isCancelled || isStopping() || isTurnOver {
            await putBack(&slice, notBefore: clock.now + slice.end.wait)
            return false
        }
        guard let page = try await queue.page(request(slice)) else { return false }
        guard !page.state.isFinal else { return try await store(closing(slice), decidedAt: clock.uptime, &slice) }
        await transport.prepare(for: slice.lease.id.hub, on: page.message.platform)
        let plan = try await plan(page, &slice)
        guard try await renewLeaseIfNeeded(&slice) else { return false }
        let (checkpoint, decidedAt) = await dispatch(plan, of: page, &slice)
        return try await store(checkpoint, decidedAt: decidedAt, &slice)
    }

    /// What is done with each target of the page. What a frequency cap lets through is counted before it leaves, so that two sends at the
    /// same time cannot both be the last that is allowed.
    private func plan(_ page: SlicePage, _ slice: inout LeasedSlice) async throws -> PagePlan {
        var plan = PagePlan(
            page, lease: slice.lease, now: clock.now, horizon: stretchedSettings.retryHorizon, isOutOfReach: slice.isOutOfReach,
            templates: slice.templates.fill(page, of: slice.lease.id.notification))
        // Targets of a page of retries were counted when it was their turn.
        if let cap = page.cap, case let keys = plan.keysToSend, !keys.isEmpty {
            plan.hold(try await queue.count(keys, for: cap, of: slice.lease.id, at: clock.now))
        }
        return plan
    }

    /// Sends what the plan of the page asks for and decides what becomes of it, at the moment that is returned or after.
    private func dispatch(
        _ whole: PagePlan, of page: SlicePage, _ slice: inout LeasedSlice
    ) async -> (SliceCheckpoint, decidedAt: Duration) {
        let settings = stretchedSettings
        let plan = paced(whole, page, slice)
        unreached.note(plan, of: slice.lease.id.hub, logger)
        var outcomes: PushOutcomes = []
        if !plan.sends.isEmpty {
            var batch = plan.batch(page.message, of: slice.lease.id)
            batch.isExpress = slice.lease.weight == .single
            batch.dueAt = page.dueAt
            let retries = plan.through == nil ? batch.targets.count : 0
            observer?.sending(batch, of: slice.lease.id.notification, retries: retries, doubtful: plan.doubtful)
            outcomes = await transport.send(batch)
            observer?.sent(batch, of: slice.lease.id.notification, outcomes: outcomes)
        }
        let decidedAt = clock.uptime
        let decision = PageDecision(
            plan, outcomes: outcomes,
            in: PageDecision.Context(
                lease: slice.lease, message: page.message, pendingCount: page.pendingCount,
                nextPendingAt: plan.isLimited && plan.through == nil ? clock.now : page.nextPendingAt, now: clock.now,
                settings: settings, jitter: .random(in: 0...1)))
        slice.turn = plan.through == nil ? .walk : .retries
        if plan.through != nil, decision.answer != .nothingAsked { slice.isOutOfReach = decision.answer == .none }
        log(decision.trouble, of: plan, slice)
        var checkpoint = decision.checkpoint
        if paceMakesWait(&slice) {
            switch checkpoint.disposition {
            case .keep: checkpoint.disposition = .release(notBefore: clock.now + slice.end.wait)
            case .release(let moment): checkpoint.disposition = .release(notBefore: max(moment, clock.now + slice.end.wait))
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

    /// Renews the lease if it might end during the next batch; returns whether it is long enough.
    private func renewLeaseIfNeeded(_ slice: inout LeasedSlice) async throws -> Bool {
        guard slice.term.instruction(at: clock.uptime) == .renew else { return true }
        let asked = clock.uptime
        guard try await queue.renew(slice.lease, until: clock.now + settings.leaseDuration) else { return false }
        slice.term.renewed(askedAt: asked)
        guard slice.term.instruction(at: clock.uptime) == .send else {
            // Renewed so slowly that nothing may leave under it.
            slice.end.isInDoubt = true
            return false
        }
        return true
    }

    /// Stores a checkpoint and returns whether the slice is still leased. The new lease term counts from the decision.
    private func store(_ checkpoint: SliceCheckpoint, decidedAt: Duration, _ slice: inout LeasedSlice) async throws -> Bool {
        let answer = try await persistently(slice.term) { try await checkpoints.checkpoint(checkpoint.handedOver(at: clock.now)) }
        guard case .stored(let ended) = answer else {
            logger.warning("A checkpoint was refused because the lease was lost", metadata: metadata(slice))
            return false
        }
        if let ended {
            logger.info("A send ended", metadata: metadata(slice, ["state": "\(ended.rawValue)"]))
            observer?.ended(slice.lease.id.notification, in: slice.lease.id.hub, state: ended)
        }
        guard case .keep = checkpoint.disposition else { return false }
        slice.lease = checkpoint.lease
        slice.term.renewed(askedAt: decidedAt)
        return true
    }

    private func putBack(_ slice: inout LeasedSlice, notBefore: Timestamp) async {
        let checkpoint = SliceCheckpoint(lease: slice.lease, now: clock.now, disposition: .release(notBefore: notBefore))
        // Refused when another node has the slice, but also when an earlier checkpoint was stored and its answer was lost.
        if case .stored? = try? await checkpoints.checkpoint(checkpoint) { return }
        slice.end.isInDoubt = true
    }

    /// The end of a slice whose send has ended already.
    private func closing(_ slice: LeasedSlice) -> SliceCheckpoint {
        SliceCheckpoint(lease: slice.lease, now: clock.now, disposition: .finish)
    }

    private func request(_ slice: LeasedSlice) -> PageRequest {
        PageRequest(
            lease: slice.lease, now: clock.now,
            limit: min(settings.window, slice.lease.pushesPerSecond.map(PushPace.portion) ?? .max),
            scanLimit: settings.scanLimit,
            pendingLimit: settings.pendingLimit(walked: slice.lease.walked), turn: slice.turn)
    }
}

extension SliceWorker {
    /// Whether the pace allows no push now; sets `end.wait` to the time until it does.
    private func paceMakesWait(_ slice: inout LeasedSlice) -> Bool {
        slice.end.wait = pacing.wait(of: slice.lease.id, at: clock.uptime)
        return slice.end.wait > .zero
    }

    /// The part of the plan that the pace allows now; never empty, since the slice does not have to wait and has one worker.
    private func paced(_ plan: PagePlan, _ page: SlicePage, _ slice: LeasedSlice) -> PagePlan {
        let wanted = plan.sends.count
        guard let rate = share(page, slice.lease), wanted > 0 else { return plan }
        return plan.limited(toPushes: pacing.take(wanted, of: slice.lease.id, rate: rate, at: clock.uptime))
    }

    /// A node of an older version knows of no shares; a large slice that it has planned is one of sixteen at most.
    private func share(_ page: SlicePage, _ lease: SliceLease) -> Int? {
        lease.pushesPerSecond ?? page.pushesPerSecond.map { lease.weight == .large ? max($0 / SlicePlan.split, 1) : $0 }
    }

    /// Retries while nothing was written, until the lease ends: losing the outcomes of a batch means sending it twice.
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

    private func log(_ trouble: PageDecision.Trouble?, of plan: PagePlan, _ slice: LeasedSlice) {
        switch trouble {
        case .none: break
        case .unreachable(let reason), .unavailable(let reason, _):
            guard delays.isDue(plan.platform, at: clock.uptime) else { return }
            logger.warning(
                "Pushes could not leave; they wait and are tried again",
                metadata: metadata(slice, ["platform": "\(plan.platform.rawValue)", "reason": "\(reason)"]))
        case .misconfigured(let reason):
            logger.error(
                "A send waits until an operator corrects the credential or the configuration",
                metadata: metadata(slice, ["hub_id": "\(slice.lease.id.hub.number)", "reason": "\(reason)"]))
        }
    }

    private func metadata(_ slice: LeasedSlice, _ more: Logger.Metadata = [:]) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "notification_id": "\(slice.lease.id.notification)", "slice": "\(slice.lease.id.number)",
        ]
        metadata.merge(more) { _, new in new }
        return metadata
    }
}

/// How work on a leased slice ended.
struct SliceEnd: Hashable {
    /// How long its pace makes it wait; zero when it does not.
    var wait = Duration.zero
    /// Whether the store may still list the slice as leased to this node, because no answer confirmed its release. It would stay idle
    /// until the lease expires.
    var isInDoubt = false
}

/// How long a node may believe in its lease, on its own monotonic clock, counted from before it asked.
///
/// A node sends only while the lease outlasts the deadline of a push: after that another node may have the slice.
struct LeaseTerm: Hashable, Sendable {
    /// What to do before the next batch.
    enum Instruction: Hashable, Sendable {
        case send
        case renew
    }

    private(set) var askedAt: Duration
    let duration: Duration
    let pushDeadline: Duration

    init(askedAt: Duration, duration: Duration, pushDeadline: Duration) {
        self.askedAt = askedAt
        self.duration = duration
        self.pushDeadline = pushDeadline
    }

    func instruction(at uptime: Duration) -> Instruction {
        askedAt + duration - uptime > pushDeadline ? .send : .renew
    }

    /// When another node may have the slice.
    var end: Duration { askedAt + duration }

    /// The lease was lengthened by a request made at that moment.
    mutating func renewed(askedAt uptime: Duration) { askedAt = max(askedAt, uptime) }
}

/// Says when the log may report again that pushes of a platform wait: once a minute, however many slices meet the same trouble. The
/// transports themselves say which service it is.
final class DelayLog: Sendable {
    static let interval: Duration = .seconds(60)

    private let reportedAt = Mutex<[Platform: Duration]>([:])

    /// Whether a report is due; then it counts as made.
    func isDue(_ platform: Platform, at uptime: Duration) -> Bool {
        reportedAt.withLock { reportedAt in
            if let last = reportedAt[platform], uptime - last < Self.interval { return false }
            reportedAt[platform] = uptime
            return true
        }
    }
}

/// Logs, once for each hub and platform in a process, that a send met only devices without a transport in this version. The send's
/// status counts their pushes as `no-transport`, which a sender may overlook.
final class UnreachedPlatforms: Sendable {
    private struct Key: Hashable {
        var hub: HubID
        var platform: Platform
    }

    /// The log reports at most this many pairs.
    private static let capacity = 1_000

    private let logged = Mutex<Set<Key>>([])

    /// Notes the plan of a page of which nothing is sent.
    func note(_ plan: PagePlan, of hub: HubID, _ logger: Logger) {
        guard plan.sends.isEmpty, plan.count > 0 else { return }
        let platforms = Set(plan.indices.filter { !plan.page.isGone($0) }.map(plan.page.platform))
        guard platforms.allSatisfy({ !$0.hasTransport }) else { return }
        for platform in platforms {
            let isNew = logged.withLock { $0.count < Self.capacity && $0.insert(Key(hub: hub, platform: platform)).inserted }
            guard isNew else { continue }
            logger.warning(
                "A send met only devices of a platform without a transport: their pushes count as no-transport",
                metadata: ["hub_id": "\(hub.number)", "platform": "\(platform.rawValue)"])
        }
    }
}
