import NIOConcurrencyHelpers
import PushHub
import RichPushModel
import ServiceErrors

/// A queue whose process dies: after some checkpoints nothing that is written reaches the store any more.
final class DyingQueue: SliceQueue {
    private let inner: any SliceQueue
    private let left: NIOLockedValueBox<Int>

    init(_ inner: any SliceQueue, checkpointsBeforeDeath: Int) {
        self.inner = inner
        left = NIOLockedValueBox(checkpointsBeforeDeath)
    }

    private var isDead: Bool { left.withLockedValue { $0 < 0 } }

    func lease(_ request: LeaseRequest) async throws -> [SliceLease] { isDead ? [] : try await inner.lease(request) }

    func renew(_ lease: SliceLease, until: Timestamp) async throws -> Bool {
        isDead ? false : try await inner.renew(lease, until: until)
    }

    func page(_ request: PageRequest) async throws -> SlicePage? { isDead ? nil : try await inner.page(request) }

    func checkpoint(_ checkpoint: SliceCheckpoint) async throws -> CheckpointAnswer {
        let dies = left.withLockedValue { left in
            left -= 1
            return left < 0
        }
        if dies { throw ServiceError(.outcomeUnknown) }
        return try await inner.checkpoint(checkpoint)
    }

    func releaseAll(at now: Timestamp) async throws -> Int { try await inner.releaseAll(at: now) }
}
