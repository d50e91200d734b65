import ClarionTesting
import NIOConcurrencyHelpers
import PushHub
import RichPushModel
import ServiceErrors

/// A queue on the other side of a bad line: the answers to some leases are lost after they were given, and for a while no checkpoint
/// gets through.
final class UncertainQueue: SliceQueue {
    private let inner: any SliceQueue
    private let clock: ManualClock
    private let lostLeases: NIOLockedValueBox<Int>
    private let noCheckpointBefore: Duration

    init(_ inner: any SliceQueue, clock: ManualClock, lostLeases: Int = 0, noCheckpointFor outage: Duration = .zero) {
        self.inner = inner
        self.clock = clock
        self.lostLeases = NIOLockedValueBox(lostLeases)
        noCheckpointBefore = clock.uptime + outage
    }

    func lease(_ request: LeaseRequest) async throws -> [SliceLease] {
        let leases = try await inner.lease(request)
        let isLost = lostLeases.withLockedValue { left in
            defer { left -= 1 }
            return left > 0
        }
        if isLost { throw ServiceError(.outcomeUnknown) }
        return leases
    }

    func renew(_ lease: SliceLease, until: Timestamp) async throws -> Bool { try await inner.renew(lease, until: until) }

    func page(_ request: PageRequest) async throws -> SlicePage? { try await inner.page(request) }

    func checkpoint(_ checkpoint: SliceCheckpoint) async throws -> CheckpointAnswer {
        guard clock.uptime >= noCheckpointBefore else { throw ServiceError(.storageUnavailable) }
        return try await inner.checkpoint(checkpoint)
    }

    func releaseAll(of owner: String?, at now: Timestamp) async throws -> Int {
        try await inner.releaseAll(of: owner, at: now)
    }

    func release(of owner: String, except kept: Set<SliceID>) async throws -> Int {
        try await inner.release(of: owner, except: kept)
    }
}
