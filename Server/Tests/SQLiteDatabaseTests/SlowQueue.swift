import ClarionTesting
import NIOConcurrencyHelpers
import PushHub
import RichPushModel

/// A queue whose answer to "what next" takes a while, in which others may act.
final class SlowQueue: SliceQueue {
    private let inner: any SliceQueue
    private let clock: ManualClock
    private let delay: Duration
    private let meanwhile: @Sendable () async -> Void
    private let count = NIOLockedValueBox(0)

    init(
        _ inner: any SliceQueue, clock: ManualClock, delay: Duration, meanwhile: @escaping @Sendable () async -> Void = {}
    ) {
        self.inner = inner
        self.clock = clock
        self.delay = delay
        self.meanwhile = meanwhile
    }

    /// How often a lease was lengthened on its own.
    var renewals: Int { count.withLockedValue { $0 } }

    func lease(_ request: LeaseRequest) async throws -> [SliceLease] { try await inner.lease(request) }

    func renew(_ lease: SliceLease, until: Timestamp) async throws -> Bool {
        count.withLockedValue { $0 += 1 }
        return try await inner.renew(lease, until: until)
    }

    func count(_ targets: [SliceKey], for cap: FrequencyCap, of slice: SliceID, at now: Timestamp) async throws -> Set<SliceKey> {
        try await inner.count(targets, for: cap, of: slice, at: now)
    }

    func page(_ request: PageRequest) async throws -> SlicePage? {
        let page = try await inner.page(request)
        clock.advance(by: delay)
        await meanwhile()
        return page
    }

    func checkpoint(_ checkpoint: SliceCheckpoint) async throws -> CheckpointAnswer { try await inner.checkpoint(checkpoint) }

    func releaseAll(of owner: String?, at now: Timestamp) async throws -> Int {
        try await inner.releaseAll(of: owner, at: now)
    }

    func release(of owner: String, except kept: Set<SliceID>) async throws -> Int {
        try await inner.release(of: owner, except: kept)
    }
}
