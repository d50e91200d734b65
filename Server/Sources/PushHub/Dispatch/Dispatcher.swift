import Logging
import RichPushModel
import ServiceErrors
import Synchronization

/// The part of a node that sends: leases slices and has workers work on them.
///
/// `run()` lasts until `shutDown()` or the end of its task. Both hand the leases back; `shutDown()` lets batches that have
/// left come back within the drain deadline, cancellation ends them early.
public final class Dispatcher: Sendable {
    private struct State {
        var slots: DispatchSlots
        /// The leases that are worked on. A slice may be leased again while a worker still ends that had lost it.
        var inHand: [SliceID: SliceLease] = [:]
        /// From when on leases are freed that nobody here works on; absent when there can be none. One may have been given in an
        /// answer that never came, or not have been taken back.
        var doubtEnd: Duration?
        var isStopping = false

        /// By kind and hub.
        var held: [SliceWeight: [HubID: Int]] {
            inHand.reduce(into: [:]) { $0[$1.value.weight, default: [:]][$1.key.hub, default: 0] += 1 }
        }

        mutating func doubt(until moment: Duration) { doubtEnd = max(doubtEnd ?? moment, moment) }
    }

    private let queue: GatheredCheckpoints
    private let clock: any ServiceClock
    private let settings: DispatchSettings
    private let signal: DispatchSignal
    private let logger: Logger
    private let reading: TroubleLog
    private let state: Mutex<State>
    private let stop = DispatchSignal()
    private let pacing = PushPacing()
    private let unreached = UnreachedPlatforms()
    private let transport: any PushTransport
    private let observer: (any HubObserver)?

    /// Creates a dispatcher. `signal` is the one that the hub of this process wakes.
    public init(
        queue: any SliceQueue, transport: any PushTransport, clock: any ServiceClock,
        settings: DispatchSettings = DispatchSettings(), signal: DispatchSignal = DispatchSignal(),
        observer: (any HubObserver)? = nil, logger: Logger
    ) {
        self.queue = GatheredCheckpoints(queue)
        self.transport = transport
        self.clock = clock
        self.settings = settings
        self.signal = signal
        self.observer = observer
        self.logger = logger
        reading = TroubleLog("The queue cannot be read", logger: logger)
        state = Mutex(
            State(
                slots: DispatchSlots(
                    limit: settings.slots, largeLimit: settings.largeSlots, singleLimit: settings.singleSlots)))
    }

    /// Dispatches. Call it once.
    public func run() async {
        await takeOver()
        await withTaskGroup { group in
            group.addTask { await self.serve() }
            group.addTask { await self.tick() }
            group.addTask { await self.awaitDrainDeadline() }
            // The first to end is either the work itself or the deadline for it; the tick only ends with the task.
            await group.next()
            group.cancelAll()
        }
    }

    /// Asks `run()` to end: nothing new is leased, batches that have left may come back.
    public func shutDown() {
        state.withLock { $0.isStopping = true }
        signal.wake()
        stop.wake()
    }

    /// Leases once and works until nothing of that is in hand; how many slices it were. For tests, on a clock that stands.
    func pass() async -> Int {
        let leases = await lease()
        await withDiscardingTaskGroup { group in
            for (lease, term) in leases { group.addTask { _ = await self.work(lease, term) } }
        }
        return leases.count
    }

    /// Frees what a process that died has left, before the first lease. Retried until storage answers.
    func takeOver() async {
        guard settings.takeover != .none else { return }
        while !Task.isCancelled, !isStopping {
            do {
                let count = try await queue.releaseAll(of: settings.takeover == .own ? settings.owner : nil, at: clock.now)
                if count > 0 { logger.notice("Slices of an earlier process are taken over", metadata: ["count": "\(count)"]) }
                return
            } catch {
                reading.failed(error)
                try? await clock.sleep(for: settings.pollInterval)
            }
        }
    }

    private var isStopping: Bool { state.withLock { $0.isStopping } }

    private func serve() async {
        await withDiscardingTaskGroup { group in
            signal.wake()
            for await _ in signal.wakes {
                if isStopping { break }
                for (lease, term) in await lease() {
                    group.addTask {
                        let end = await self.work(lease, term)
                        self.signal.wake()
                        await self.wake(after: end.wait)
                    }
                }
            }
        }
    }

    /// The poll comes twice a second, and a paced send has something to do more often.
    private func wake(after wait: Duration) async {
        guard wait > .zero, wait < settings.pollInterval, !isStopping else { return }
        try? await clock.sleep(for: wait)
        signal.wake()
    }

    private func tick() async {
        while !Task.isCancelled {
            try? await clock.sleep(for: settings.pollInterval)
            signal.wake()
        }
    }

    private func awaitDrainDeadline() async {
        for await _ in stop.wakes { break }
        try? await clock.sleep(for: settings.drainDeadline)
    }

    private func lease() async -> [(SliceLease, LeaseTerm)] {
        let (slots, held) = state.withLock { ($0.slots, $0.held) }
        guard slots.free + slots.freeForSingle > 0 else { return [] }
        let term = LeaseTerm(
            askedAt: clock.uptime, duration: settings.leaseDuration, pushDeadline: settings.pushDeadline)
        let now = clock.now
        do {
            try await endDoubt()
            let leases = try await queue.lease(
                LeaseRequest(
                    owner: settings.owner, now: now, until: now + settings.leaseDuration, limit: slots.free,
                    smallLimit: slots.freeForSmall, largeLimit: slots.freeForLarge, singleLimit: slots.freeForSingle,
                    held: held))
            reading.succeeded()
            state.withLock { state in
                for lease in leases {
                    state.slots.take(lease.weight)
                    state.inHand[lease.id] = lease
                }
            }
            return leases.map { ($0, term) }
        } catch {
            // The one error under which leases may have been given.
            if (error as? ServiceError)?.code == .outcomeUnknown { state.withLock { $0.doubt(until: clock.uptime) } }
            reading.failed(error)
            return []
        }
    }

    /// Frees leases that nobody here works on: they would lie idle for as long as they last.
    private func endDoubt() async throws {
        let (doubtEnd, kept) = state.withLock { ($0.doubtEnd, Set($0.inHand.keys)) }
        guard let doubtEnd, clock.uptime >= doubtEnd else { return }
        let count = try await queue.release(of: settings.owner, except: kept)
        if count > 0 { logger.notice("Leases whose answer was lost are freed", metadata: ["count": "\(count)"]) }
        // Unless there is more of it by now.
        state.withLock { if $0.doubtEnd == doubtEnd { $0.doubtEnd = nil } }
    }

    private func work(_ lease: SliceLease, _ term: LeaseTerm) async -> SliceEnd {
        observer?.leased(lease.weight)
        queue.enter(lease.weight)
        let end = await SliceWorker(
            queue: queue, transport: transport, clock: clock, settings: settings, pacing: pacing, unreached: unreached,
            observer: observer, logger: logger,
            isStopping: { self.isStopping }
        ).work(lease, term: term)
        queue.leave(lease.weight)
        observer?.released(lease.weight)
        state.withLock { state in
            state.slots.give(lease.weight)
            if state.inHand[lease.id]?.epoch == lease.epoch { state.inHand[lease.id] = nil }
            // It rests like one that could be put back: what it sent last may be sent again, and a store that takes nothing must not
            // make that often. By then it has waited for its pace as well.
            if end.isInDoubt { state.doubt(until: clock.uptime + SliceWorker.troublePause) }
        }
        return end
    }
}
