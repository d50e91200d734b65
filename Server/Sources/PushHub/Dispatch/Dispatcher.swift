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
        /// Leases with a running worker. A slice may be leased again while a worker that lost its lease is still ending.
        var leased: [SliceID: SliceLease] = [:]
        /// When to free leases that no worker here holds; absent when there are none. The answer that granted a lease may have been
        /// lost, or its release may have failed.
        var doubtEnd: Duration?
        var isStopping = false

        /// How many, by weight and hub.
        var held: [SliceWeight: [HubID: Int]] {
            leased.reduce(into: [:]) { $0[$1.value.weight, default: [:]][$1.key.hub, default: 0] += 1 }
        }

        /// How many large ones, by hub and platform.
        var heldPlatforms: [HubID: [String: Int]] {
            leased.values.filter { $0.weight == .large }.reduce(into: [:]) { held, lease in
                held[lease.id.hub, default: [:]][lease.platform?.rawValue ?? "", default: 0] += 1
            }
        }

        mutating func doubt(until moment: Duration) { doubtEnd = max(doubtEnd ?? moment, moment) }
    }

    private let queue: any SliceQueue
    private let checkpoints: GatheredCheckpoints
    private let clock: any ServiceClock
    private let settings: DispatchSettings
    private let signal: DispatchSignal
    private let logger: Logger
    private let reading: TroubleLog
    private let state: Mutex<State>
    private let stop = DispatchSignal()
    private let pacing = PushPacing()
    private let unreached = UnreachedPlatforms()
    private let delays = DelayLog()
    private let transport: any PushTransport
    private let observer: (any HubObserver)?

    /// Creates a dispatcher. `signal` is the one that the hub of this process wakes.
    public init(
        queue: any SliceQueue, transport: any PushTransport, clock: any ServiceClock,
        settings: DispatchSettings = DispatchSettings(), signal: DispatchSignal = DispatchSignal(),
        observer: (any HubObserver)? = nil, logger: Logger
    ) {
        self.queue = queue
        checkpoints = GatheredCheckpoints(queue)
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

    /// Leases once, works until all leased slices are released, and returns their number. For tests with a manual clock.
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
        let (slots, held, heldPlatforms) = state.withLock { ($0.slots, $0.held, $0.heldPlatforms) }
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
                    held: held, heldPlatforms: heldPlatforms))
            reading.succeeded()
            state.withLock { state in
                for lease in leases {
                    state.slots.take(lease.weight)
                    state.leased[lease.id] = lease
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

    /// Frees leases without a worker here; otherwise their slices would stay idle until the leases expire.
    private func endDoubt() async throws {
        let (doubtEnd, kept) = state.withLock { ($0.doubtEnd, Set($0.leased.keys)) }
        guard let doubtEnd, clock.uptime >= doubtEnd else { return }
        let count = try await queue.release(of: settings.owner, except: kept)
        if count > 0 { logger.notice("Leases whose answer was lost are freed", metadata: ["count": "\(count)"]) }
        // Unless there is more of it by now.
        state.withLock { if $0.doubtEnd == doubtEnd { $0.doubtEnd = nil } }
    }

    private func work(_ lease: SliceLease, _ term: LeaseTerm) async -> SliceEnd {
        observer?.leased(lease.weight)
        checkpoints.enter(lease.weight)
        let end = await SliceWorker(
            queue: queue, checkpoints: checkpoints, transport: transport, clock: clock, settings: settings, pacing: pacing,
            unreached: unreached, delays: delays, observer: observer, logger: logger, isStopping: { self.isStopping }
        ).work(lease, term: term)
        checkpoints.leave(lease.weight)
        observer?.released(lease.weight)
        state.withLock { state in
            state.slots.give(lease.weight)
            if state.leased[lease.id]?.epoch == lease.epoch { state.leased[lease.id] = nil }
            // It rests like one that could be put back: what it sent last may be sent again, and a store that takes nothing must not
            // make that often. By then it has waited for its pace as well.
            if end.isInDoubt { state.doubt(until: clock.uptime + SliceWorker.troublePause) }
        }
        return end
    }
}

/// How a node dispatches.
public struct DispatchSettings: Sendable {
    /// Names the node, for operators.
    public var owner = "node"
    /// Targets of a slice that may be past its stored cursor: after a crash at most `slots` times this are repeated, and
    /// `singleSlots` times `SliceWeight.singleLimit`.
    public var window = 1_000
    /// The most records that one page reads.
    public var scanLimit = 10_000
    /// Small and large slices worked on at the same time.
    public var slots = 4
    /// How many of them may be large.
    public var largeSlots = 3
    /// Single slices worked on at the same time as those: a one-device send never waits behind a broadcast.
    public var singleSlots = 16
    /// Pages after which a slice goes back to the end of the queue.
    public var pagesPerTurn = 32
    /// Time after which it does, whatever came of it: a slow page of one hub is not followed by many more while others wait.
    public var turnDuration: Duration = .seconds(2)
    /// How long a lease holds without being lengthened.
    public var leaseDuration: Duration = .seconds(60)
    /// The transport's deadline for a batch.
    public var pushDeadline: Duration = .seconds(30)
    /// How often the queue is polled when no wake-up arrives.
    public var pollInterval: Duration = .milliseconds(500)
    /// How long a target is tried when the caller gave no expiry.
    public var retryHorizon: Duration = .seconds(1800)
    /// How often pushes are tried.
    public var retries = RetryTable()
    /// How long batches that have left may take once the node is asked to stop.
    public var drainDeadline: Duration = .seconds(10)
    /// Which leases that are found at the start are those of a process that died.
    public var takeover = LeaseTakeover.all

    public init() {}

    /// With so many pending rows a slice's walk waits: 5 % of what it has walked, but at least 50.
    func pendingLimit(walked: Int) -> Int { min(max(50, walked / 20), window) }
}

/// Leases that can only be those of a dead process.
public enum LeaseTakeover: Hashable, Sendable {
    /// All: no other process may dispatch from the store.
    case all
    /// Those of this owner: no other process has its name.
    case own
    /// This cannot be known; leases end by themselves.
    case none
}

/// How many slices a node works on and how many more it may take.
///
/// Of the slots for small and large slices one is never taken by large ones and one never by small ones, so that neither can
/// keep the other waiting. Single slices have slots of their own.
struct DispatchSlots: Hashable, Sendable {
    private let limit: Int
    private let largeLimit: Int
    private let smallLimit: Int
    private let singleLimit: Int
    private var taken: [SliceWeight: Int] = [:]

    init(limit: Int, largeLimit: Int, singleLimit: Int) {
        self.limit = limit
        self.largeLimit = min(largeLimit, limit)
        smallLimit = max(limit - 1, 1)
        self.singleLimit = singleLimit
    }

    /// For small and large slices together.
    var free: Int { max(limit - count(.small) - count(.large), 0) }
    var freeForSmall: Int { max(min(smallLimit - count(.small), free), 0) }
    var freeForLarge: Int { max(min(largeLimit - count(.large), free), 0) }
    var freeForSingle: Int { max(singleLimit - count(.single), 0) }

    mutating func take(_ weight: SliceWeight) { taken[weight, default: 0] += 1 }

    mutating func give(_ weight: SliceWeight) { taken[weight, default: 0] -= 1 }

    private func count(_ weight: SliceWeight) -> Int { taken[weight] ?? 0 }
}
