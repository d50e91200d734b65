import APNsProtocol
import NIOConcurrencyHelpers
import NIOCore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One call of `send`: its pushes, and the outcomes as they come.
///
/// An actor that is its own executor, and that is how its caller waits: `waitUntilComplete()` makes the caller's task a job of this executor,
/// which hands the submission to the event loop and keeps the job until every push has its outcome (`resume`). Compared with
/// a continuation that saves a hop over the global pool for each push: a continuation resumes on the pool first and then hops to
/// the caller's executor. The job runs on the loop, and a caller on that loop resumes there directly.
///
/// `nonisolated(unsafe)` throughout: all of it is made by the caller, handed to the client's event loop when the caller waits,
/// which alone reads and changes it from there on, and is the caller's again after the loop has run the job. The lock or the
/// loop's own queue on the way there, and the runtime's queue on the way back, order the accesses.
actor PushSubmission {
    nonisolated let pushes: [APNsPush]
    /// What to send instead of a device push; then there is one push, which only carries the body. Unsafe because its
    /// response is no `Sendable`: the event loop fills it, and the caller reads it after the loop has run the job.
    nonisolated(unsafe) let request: HTTP2Request?
    /// What it may overtake.
    nonisolated let lane: APNsSendLane
    /// Where it is handed over; absent in tests that hand it over themselves.
    nonisolated let shard: APNsClientShard?
    private nonisolated let timeLimit: TimeAmount
    /// When it was handed over, or something before it in the same turn.
    private(set) nonisolated(unsafe) var start = NIODeadline.uptimeNanoseconds(0)
    private(set) nonisolated(unsafe) var deadline = NIODeadline.distantFuture
    /// The outcome, when there is one push.
    private nonisolated(unsafe) var outcome: APNsOutcome?
    /// The outcomes, when there are several. Outside of an array, so that an outcome is put in its place without any further work.
    private nonisolated(unsafe) let outcomes: UnsafeMutableBufferPointer<APNsOutcome?>?
    private nonisolated(unsafe) var remaining: Int
    /// The caller's task while it waits.
    private nonisolated(unsafe) var job: UnownedJob?
    /// Cancelled before it was queued.
    nonisolated(unsafe) var isCancelled = false

    /// A submission of several pushes.
    ///
    /// - Parameter outcomes: as many as there are pushes; those already decided are not sent.
    init(
        pushes: [APNsPush], outcomes: [APNsOutcome?], lane: APNsSendLane, timeLimit: TimeAmount, shard: APNsClientShard? = nil
    ) {
        self.pushes = pushes
        self.lane = lane
        self.timeLimit = timeLimit
        self.shard = shard
        request = nil
        let buffer = UnsafeMutableBufferPointer<APNsOutcome?>.allocate(capacity: outcomes.count)
        _ = buffer.initialize(from: outcomes)
        self.outcomes = buffer
        remaining = outcomes.reduce(0) { $1 == nil ? $0 + 1 : $0 }
    }

    /// A submission of one push, or of one request in its place.
    private init(_ push: APNsPush, _ request: HTTP2Request?, _ timeLimit: TimeAmount, _ shard: APNsClientShard?) {
        pushes = [push]
        lane = .express
        self.timeLimit = timeLimit
        self.shard = shard
        self.request = request
        outcomes = nil
        remaining = 1
    }

    /// A submission of one push.
    init(push: APNsPush, timeLimit: TimeAmount, shard: APNsClientShard? = nil) { self.init(push, nil, timeLimit, shard) }

    /// A submission of one request that is no device push.
    init(request: HTTP2Request, timeLimit: TimeAmount, shard: APNsClientShard? = nil) {
        let headers = APNsPush.Headers(topic: "", pushType: APNsPushType(rawValue: ""))
        self.init(APNsPush(deviceToken: "", headers: headers, payload: request.body), request, timeLimit, shard)
    }

    deinit {
        outcomes?.deinitialize()
        outcomes?.deallocate()
    }

    /// What the answer to the request carried; to be read when the submission is complete.
    nonisolated var response: HTTP2Response? { request?.response }

    /// Whether every push has its outcome.
    nonisolated var isComplete: Bool { remaining == 0 }

    /// Whether it was made for one push or one request, and not for a batch.
    nonisolated var isSingle: Bool { outcomes == nil }

    nonisolated func isDecided(_ index: Int) -> Bool {
        if let outcomes { outcomes[index] != nil } else { outcome != nil }
    }

    nonisolated func outcome(_ index: Int) -> APNsOutcome? {
        if let outcomes { outcomes[index] } else { outcome }
    }

    /// The outcomes in the order of the pushes; to be read when the submission is complete.
    nonisolated func allOutcomes() -> [APNsOutcome] { pushes.indices.map { outcome($0) ?? .unknown(.cancelled) } }

    /// The event loop takes it: its time runs from the moment when it was handed over.
    nonisolated func begin(at start: NIODeadline) {
        self.start = start
        deadline = start + timeLimit
    }

    /// Ends one push. Only the first outcome counts; returns whether this was it.
    nonisolated func resolve(_ index: Int, _ outcome: APNsOutcome) -> Bool {
        guard !isDecided(index) else { return false }
        put(outcome, index)
        return true
    }

    /// Ends all that is not decided without handing it over; to be called instead of that. Returns how many.
    nonisolated func turnAway() -> Int {
        pushes.indices.count { resolve($0, .notSent(.queueFull)) }
    }

    /// The same for an accepted push.
    @inline(__always)
    nonisolated func accept(_ index: Int, _ apnsID: UUID?, _ uniqueID: UUID?) -> Bool {
        guard !isDecided(index) else { return false }
        put(.accepted(apnsID: apnsID, uniqueID: uniqueID), index)
        return true
    }

    @inline(__always)
    private nonisolated func put(_ outcome: APNsOutcome, _ index: Int) {
        if let outcomes { outcomes[index] = outcome } else { self.outcome = outcome }
        remaining -= 1
    }
}

extension PushSubmission: SerialExecutor {
    nonisolated var unownedExecutor: UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    nonisolated func asUnownedSerialExecutor() -> UnownedSerialExecutor { unownedExecutor }

    /// The caller waits: only now, with its task kept here, the event loop gets the submission.
    nonisolated func enqueue(_ job: consuming ExecutorJob) {
        self.job = UnownedJob(job)
        shard?.submit(self)
    }

    /// Returns when every push has its outcome. To be called once, and not when it is complete already.
    ///
    /// It does nothing, since being called is the waiting; a compiler that saw that might leave out the call.
    @inline(never)
    func waitUntilComplete() { job = nil }

    /// Whether a caller waits.
    nonisolated var isAwaited: Bool { job != nil }

    /// Lets the caller go on. On the event loop, once, when the submission is complete.
    ///
    /// - Parameter executor: the event loop's, which is where this runs.
    nonisolated func resume(on executor: UnownedSerialExecutor) {
        guard let job else { return }
        job.runSynchronously(on: executor)
    }
}

/// A push in flight: its call, its index there, and how often it was resent.
struct PushTicket {
    let submission: PushSubmission
    let index: Int32
    var resends: UInt8 = 0
    /// Whether a refusal that ended a connection sent it on to another one: that happens once.
    var hasMoved = false

    var push: APNsPush { submission.pushes[Int(index)] }
    var deadline: NIODeadline { submission.deadline }
    /// Without a copy of the push.
    var bodySize: Int { submission.pushes.withUnsafeBufferPointer { $0[Int(index)].payload.count } }
}

/// The share of a client that lives on one event loop: its connections and their queue, and the way there from any thread.
final class APNsClientShard: Sendable {
    let eventLoop: any EventLoop
    private let pool: NIOLoopBoundBox<APNsConnectionPool>
    private let numbers: NIOLockedValueBox<APNsClientMetrics>
    /// What was handed over from other threads and not yet taken by the event loop, so that many calls wake it once.
    private let inbox = NIOLockedValueBox(Inbox())

    /// The most calls in the inbox, and how many there are.
    private let inboxLimit: Int
    private let inboxCount = Atomic(0)
    /// Pushes of calls that found it full.
    private let turnedAway = Atomic(0)

    private struct Inbox {
        var submissions: [PushSubmission] = []
        /// When the first of them was handed over.
        var since = NIODeadline.uptimeNanoseconds(0)
    }

    init(eventLoop: any EventLoop, pool: sending APNsPoolConfiguration, connector: sending any APNsConnector) {
        self.eventLoop = eventLoop
        let numbers = NIOLockedValueBox(APNsClientMetrics())
        self.numbers = numbers
        inboxLimit = pool.queuedPushes
        self.pool = NIOLoopBoundBox.makeBoxSendingValue(
            APNsConnectionPool(eventLoop: eventLoop, configuration: pool, connector: connector, metrics: numbers),
            eventLoop: eventLoop)
    }

    /// What the shard has and has done, as of the last turn of its event loop.
    var metrics: APNsClientMetrics {
        var metrics = numbers.withLockedValue { $0 }
        metrics.notSent += turnedAway.load(ordering: .relaxed)
        return metrics
    }

    /// Whether one more call may be handed over. An event loop that is far behind would only collect them.
    var hasRoom: Bool { inboxCount.load(ordering: .relaxed) < inboxLimit }

    /// Ends the pushes of a call for which there is no room.
    func turnAway(_ submission: PushSubmission) { turnedAway.add(submission.turnAway(), ordering: .relaxed) }

    /// Hands over the pushes of one call, from any thread.
    func submit(_ submission: PushSubmission) {
        if eventLoop.inEventLoop { return pool.value.submit(submission) }
        let isFirst = inbox.withLockedValue { inbox in
            let isFirst = inbox.submissions.isEmpty
            if isFirst { inbox.since = eventLoop.now }
            inbox.submissions.append(submission)
            inboxCount.store(inbox.submissions.count, ordering: .relaxed)
            return isFirst
        }
        if isFirst { eventLoop.execute { self.takeInbox() } }
    }

    private func takeInbox() {
        let taken = inbox.withLockedValue { inbox in
            defer {
                inbox.submissions = []
                inboxCount.store(0, ordering: .relaxed)
            }
            return inbox
        }
        let pool = pool.value
        for submission in taken.submissions { pool.submit(submission, since: taken.since) }
    }

    /// Ends what is not answered yet of a call whose task was cancelled.
    func cancel(_ submission: PushSubmission) { onLoop { self.pool.value.cancel(submission) } }

    /// Ends in order. Returns when every push has its outcome and every connection is closed.
    func stop(within limit: TimeAmount) async {
        await withCheckedContinuation { continuation in
            onLoop { self.pool.value.stop(within: limit, waiter: continuation) }
        }
    }

    /// The same without waiting for it.
    func beginToStop(within limit: TimeAmount) { onLoop { self.pool.value.stop(within: limit, waiter: nil) } }

    private func onLoop(_ body: @escaping @Sendable () -> Void) {
        if eventLoop.inEventLoop { body() } else { eventLoop.execute(body) }
    }
}
