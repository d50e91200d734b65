import APNsProtocol
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One call of `send`: its pushes, and the outcomes as they come.
///
/// An actor that is its own executor, and that is how its caller waits: `end()` makes the caller's task a job of this executor,
/// which hands the submission to the event loop and keeps the job until every push has its outcome (`resume`). Against a
/// continuation that saves a trip over the global pool for each push: a continuation comes back on the pool first and only then
/// goes where the caller lives, a job runs on the loop and its caller goes on there when that is where it lives.
///
/// `nonisolated(unsafe)` throughout: all of it is made by the caller, handed to the client's event loop when the caller waits,
/// which alone reads and changes it from there on, and is the caller's again after the loop has run the job. The lock or the
/// loop's own queue on the way there, and the runtime's queue on the way back, order the accesses.
actor PushSubmission {
    nonisolated let pushes: [APNsPush]
    /// What to send instead of a device push; then there is one push, which only carries the body.
    nonisolated(unsafe) let request: APNsChannelRequest?
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

    /// A submission of one push.
    init(push: APNsPush, timeLimit: TimeAmount, shard: APNsClientShard? = nil) {
        pushes = [push]
        lane = .express
        self.timeLimit = timeLimit
        self.shard = shard
        request = nil
        outcomes = nil
        remaining = 1
    }

    /// A submission of one request that is no device push.
    init(request: APNsChannelRequest, timeLimit: TimeAmount, shard: APNsClientShard? = nil) {
        let headers = APNsPush.Headers(topic: "", pushType: APNsPushType(rawValue: ""))
        pushes = [APNsPush(deviceToken: "", headers: headers, payload: request.body)]
        self.timeLimit = timeLimit
        self.shard = shard
        self.request = request
        lane = .express
        outcomes = nil
        remaining = 1
    }

    deinit {
        outcomes?.deinitialize()
        outcomes?.deallocate()
    }

    /// What the answer to the request carried; to be read when the submission is complete.
    nonisolated var response: APNsResponse? { request?.response }

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
    nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

    nonisolated func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// The caller waits: only now, with its task kept here, the event loop gets the submission.
    nonisolated func enqueue(_ job: consuming ExecutorJob) {
        self.job = UnownedJob(job)
        shard?.submit(self)
    }

    /// Returns when every push has its outcome. To be called once, and not when it is complete already.
    ///
    /// It does nothing, since being called is the waiting; a compiler that saw that might leave out the call.
    @inline(never)
    func end() { job = nil }

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

/// A push on its way: which one of which call, and how often it was sent in vain.
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
