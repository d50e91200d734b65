import ClarionTesting
import NIOConcurrencyHelpers
import PushHub
import RichPushModel
import ServiceErrors

/// A queue on the other side of a bad line: the answers to some leases are lost after they were given, and for a while no checkpoint
/// gets through, or no page, or an answer takes its time.
final class UncertainQueue: SliceQueue {
    private let inner: any SliceQueue
    private let clock: ManualClock
    private let lost: Range<Int>
    private let asked = NIOLockedValueBox(0)
    private let kept = NIOLockedValueBox<[Set<SliceID>]>([])
    private let error: ServiceError
    private let noCheckpointBefore: Duration
    private let noPageBefore: Duration
    private let delays: NIOLockedValueBox<[Call: Duration]>

    enum Call { case page, renewal }

    /// - Parameters:
    ///   - lostLeases: how many answers are lost.
    ///   - afterLeases: how many come before those.
    ///   - error: what is said instead.
    ///   - delays: how long the first answer of a kind takes.
    init(
        _ inner: any SliceQueue, clock: ManualClock, lostLeases: Int = 0, afterLeases: Int = 0,
        error: ServiceError = ServiceError(.outcomeUnknown), noCheckpointFor outage: Duration = .zero,
        noPageFor pageOutage: Duration = .zero, delays: [Call: Duration] = [:]
    ) {
        self.inner = inner
        self.clock = clock
        lost = afterLeases..<afterLeases + lostLeases
        self.error = error
        noCheckpointBefore = clock.uptime + outage
        noPageBefore = clock.uptime + pageOutage
        self.delays = NIOLockedValueBox(delays)
    }

    /// What was to be kept each time when leases were freed.
    var releases: [Set<SliceID>] { kept.withLockedValue { $0 } }

    func lease(_ request: LeaseRequest) async throws -> [SliceLease] {
        let leases = try await inner.lease(request)
        let number = asked.withLockedValue { asked in
            defer { asked += 1 }
            return asked
        }
        if lost.contains(number) { throw error }
        return leases
    }

    func renew(_ lease: SliceLease, until: Timestamp) async throws -> Bool {
        let isRenewed = try await inner.renew(lease, until: until)
        delay(.renewal)
        return isRenewed
    }

    func count(_ targets: [SliceKey], for cap: FrequencyCap, of slice: SliceID, at now: Timestamp) async throws -> Set<SliceKey> {
        try await inner.count(targets, for: cap, of: slice, at: now)
    }

    func page(_ request: PageRequest) async throws -> SlicePage? {
        guard clock.uptime >= noPageBefore else { throw ServiceError(.storageUnavailable) }
        let page = try await inner.page(request)
        delay(.page)
        return page
    }

    private func delay(_ call: Call) {
        if let delay = delays.withLockedValue({ $0.removeValue(forKey: call) }) { clock.advance(by: delay) }
    }

    func checkpoint(_ checkpoint: SliceCheckpoint) async throws -> CheckpointAnswer {
        guard clock.uptime >= noCheckpointBefore else { throw ServiceError(.storageUnavailable) }
        return try await inner.checkpoint(checkpoint)
    }

    func releaseAll(of owner: String?, at now: Timestamp) async throws -> Int {
        try await inner.releaseAll(of: owner, at: now)
    }

    func release(of owner: String, except kept: Set<SliceID>) async throws -> Int {
        self.kept.withLockedValue { $0.append(kept) }
        return try await inner.release(of: owner, except: kept)
    }
}
