import NIOConcurrencyHelpers
import PushHub
import RichPushModel
import ServiceErrors

/// A queue that fails after some checkpoints: its process dies, and nothing that is written reaches the store any more; or
/// one checkpoint is written and its answer is lost.
final class DyingQueue: SliceQueue {
    private let inner: any SliceQueue
    private let left: NIOLockedValueBox<Int>
    private let losesAnswerOnly: Bool

    init(_ inner: any SliceQueue, checkpointsBeforeDeath: Int, losesAnswerOnly: Bool = false) {
        self.inner = inner
        self.losesAnswerOnly = losesAnswerOnly
        left = NIOLockedValueBox(checkpointsBeforeDeath)
    }

    private var isDead: Bool { !losesAnswerOnly && left.withLockedValue { $0 < 0 } }

    func lease(_ request: LeaseRequest) async throws -> [SliceLease] { isDead ? [] : try await inner.lease(request) }

    func renew(_ lease: SliceLease, until: Timestamp) async throws -> Bool {
        isDead ? false : try await inner.renew(lease, until: until)
    }

    func count(_ targets: [SliceKey], for cap: FrequencyCap, of slice: SliceID, at now: Timestamp) async throws -> Set<SliceKey> {
        isDead ? [] : try await inner.count(targets, for: cap, of: slice, at: now)
    }

    func page(_ request: PageRequest) async throws -> SlicePage? { isDead ? nil : try await inner.page(request) }

    func checkpoint(_ checkpoint: SliceCheckpoint) async throws -> CheckpointAnswer {
        let dies = left.withLockedValue { left in
            left -= 1
            return losesAnswerOnly ? left == -1 : left < 0
        }
        if dies, losesAnswerOnly { _ = try await inner.checkpoint(checkpoint) }
        if dies { throw ServiceError(.outcomeUnknown) }
        return try await inner.checkpoint(checkpoint)
    }

    func releaseAll(of owner: String?, at now: Timestamp) async throws -> Int {
        try await inner.releaseAll(of: owner, at: now)
    }

    func release(of owner: String, except kept: Set<SliceID>) async throws -> Int {
        try await inner.release(of: owner, except: kept)
    }
}
