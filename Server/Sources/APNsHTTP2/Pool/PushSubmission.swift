import APNsProtocol
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One call of `send`: its pushes, and the outcomes as they come.
///
/// `@unchecked Sendable`: it is made by the caller and then handed to the client's event loop, which alone reads and
/// changes it from there on, up to the one resume of the continuation.
final class PushSubmission: @unchecked Sendable {
    let pushes: [APNsPush]
    /// What to send instead of a device push; then there is one push, which only carries the body.
    let request: APNsRequest?
    let lane: APNsSendLane
    let start: NIODeadline
    let deadline: NIODeadline
    /// Outside of an array, so that an outcome is put in its place without any further work.
    private let outcomes: UnsafeMutableBufferPointer<APNsOutcome?>
    private var remaining: Int
    private var continuation: UnsafeContinuation<[APNsOutcome], Never>?
    /// Cancelled before it was queued.
    var isCancelled = false

    /// - Parameter outcomes: as many as there are pushes; those already decided are not sent.
    init(
        pushes: [APNsPush], outcomes: [APNsOutcome?], lane: APNsSendLane, start: NIODeadline, deadline: NIODeadline
    ) {
        self.pushes = pushes
        request = nil
        self.lane = lane
        self.outcomes = .allocate(capacity: outcomes.count)
        _ = self.outcomes.initialize(from: outcomes)
        self.start = start
        self.deadline = deadline
        remaining = outcomes.reduce(0) { $1 == nil ? $0 + 1 : $0 }
    }

    /// A submission of one request that is no device push.
    init(request: APNsRequest, start: NIODeadline, deadline: NIODeadline) {
        let headers = APNsPush.Headers(topic: "", pushType: APNsPushType(rawValue: ""))
        pushes = [APNsPush(deviceToken: "", headers: headers, payload: request.body)]
        self.request = request
        lane = .express
        outcomes = .allocate(capacity: 1)
        outcomes.initialize(repeating: nil)
        self.start = start
        self.deadline = deadline
        remaining = 1
    }

    deinit {
        outcomes.deinitialize()
        outcomes.deallocate()
    }

    /// What the answer to the request carried; to be read when the submission is complete.
    var response: APNsResponse? { request?.response }

    /// Whether every push has its outcome.
    var isComplete: Bool { remaining == 0 }

    func isDecided(_ index: Int) -> Bool { outcomes[index] != nil }

    func outcome(_ index: Int) -> APNsOutcome? { outcomes[index] }

    /// Takes the continuation of the caller; resumed at once when there is nothing to wait for.
    func attach(_ continuation: UnsafeContinuation<[APNsOutcome], Never>) {
        self.continuation = continuation
        if isComplete { complete() }
    }

    /// Ends one push. Only the first outcome counts; returns whether this was it.
    func resolve(_ index: Int, _ outcome: APNsOutcome) -> Bool {
        guard outcomes[index] == nil else { return false }
        outcomes[index] = outcome
        remaining -= 1
        if remaining == 0 { complete() }
        return true
    }

    /// The same for an accepted push.
    func accept(_ index: Int, _ apnsID: UUID?) -> Bool {
        guard outcomes[index] == nil else { return false }
        outcomes[index] = .accepted(apnsID: apnsID, uniqueID: nil)
        remaining -= 1
        if remaining == 0 { complete() }
        return true
    }

    private func complete() {
        // Forgotten before it is resumed, so that it is resumed once.
        guard let continuation else { return }
        self.continuation = nil
        continuation.resume(returning: outcomes.map { $0 ?? .unknown(.cancelled) })
    }
}

/// A push on its way: which one of which call, and how often it was sent in vain.
struct PushTicket {
    let submission: PushSubmission
    let index: Int32
    var resends: UInt8 = 0

    var push: APNsPush { submission.pushes[Int(index)] }
    var deadline: NIODeadline { submission.deadline }
    /// Without a copy of the push.
    var bodySize: Int { submission.pushes.withUnsafeBufferPointer { $0[Int(index)].payload.count } }
}
