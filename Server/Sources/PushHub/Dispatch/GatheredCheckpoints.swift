import RichPushModel
import ServiceErrors
import Synchronization

/// The queue as the slices of a node use it: the checkpoints of large ones are written together, since what a commit costs, in
/// processor time as well, is mostly the same for one as for all.
///
/// Whoever comes first waits a moment for the others, and writes for all who came. Nobody else's slowness is waited for longer
/// than `patience`, and the last checkpoint of a slice does not wait at all.
final class GatheredCheckpoints: SliceQueue {
    /// How long a checkpoint waits for others. Far below what a page takes at the push service, and far above what it takes here.
    static let patience: Duration = .milliseconds(3)

    private struct Follower {
        let checkpoint: SliceCheckpoint
        let continuation: CheckedContinuation<CheckpointAnswer, any Error>
    }

    private struct State {
        /// Large slices in hand.
        var inHand = 0
        /// Wakes the one who waits for others; absent when nobody does.
        var leader: AsyncStream<Void>.Continuation?
        var followers: [Follower] = []

        /// Whether there is nobody left to wait for.
        var isComplete: Bool { followers.count + 1 >= inHand }
    }

    private let queue: any SliceQueue
    private let patience: Duration
    private let state = Mutex(State())

    init(_ queue: any SliceQueue, patience: Duration = GatheredCheckpoints.patience) {
        self.queue = queue
        self.patience = patience
    }

    /// A slice has come into hand.
    func enter(_ weight: SliceWeight) {
        if weight == .large { state.withLock { $0.inHand += 1 } }
    }

    /// A slice is out of hand: it is not waited for any more.
    func leave(_ weight: SliceWeight) {
        guard weight == .large else { return }
        state.withLock { state in
            state.inHand -= 1
            if state.isComplete { state.leader?.finish() }
        }
    }

    func checkpoint(_ checkpoint: SliceCheckpoint) async throws -> CheckpointAnswer {
        guard case .keep = checkpoint.disposition, checkpoint.lease.weight == .large else {
            return try await queue.checkpoint(checkpoint)
        }
        while true {
            if let wakes = lead() {
                await wait(for: wakes)
                return try await write(checkpoint)
            }
            do { return try await follow(checkpoint) } catch is TooLate { continue } catch is Apart {
                return try await queue.checkpoint(checkpoint)
            }
        }
    }

    /// Makes the caller the one who waits, if nobody does; what it is woken by.
    private func lead() -> AsyncStream<Void>? {
        state.withLock { state in
            guard state.leader == nil else { return nil }
            let (wakes, leader) = AsyncStream<Void>.makeStream()
            state.leader = leader
            if state.isComplete { leader.finish() }
            return wakes
        }
    }

    private func follow(_ checkpoint: SliceCheckpoint) async throws -> CheckpointAnswer {
        try await withCheckedThrowingContinuation { continuation in
            let isLate = state.withLock { state in
                // Since it was looked, the leader may have gone to write.
                guard let leader = state.leader else { return true }
                state.followers.append(Follower(checkpoint: checkpoint, continuation: continuation))
                if state.isComplete { leader.finish() }
                return false
            }
            if isLate { continuation.resume(throwing: TooLate()) }
        }
    }

    /// The one who waited has gone to write.
    private struct TooLate: Error {}

    /// By the clock of the machine, and not by the hub's: it decides nothing that could be told later.
    private func wait(for wakes: AsyncStream<Void>) async {
        await withDiscardingTaskGroup { group in
            group.addTask { [patience] in
                try? await Task.sleep(for: patience)
                self.state.withLock { _ = $0.leader?.finish() }
            }
            for await _ in wakes {}
            group.cancelAll()
        }
    }

    private func write(_ own: SliceCheckpoint) async throws -> CheckpointAnswer {
        let followers = state.withLock { state in
            defer {
                state.leader = nil
                state.followers = []
            }
            return state.followers
        }
        guard !followers.isEmpty else { return try await queue.checkpoint(own) }
        do {
            let answers = try await queue.checkpoints([own] + followers.map(\.checkpoint))
            for (follower, answer) in zip(followers, answers.dropFirst()) { follower.continuation.resume(returning: answer) }
            return answers[0]
        } catch let error as ServiceError where error.code == .outcomeUnknown {
            for follower in followers { follower.continuation.resume(throwing: error) }
            throw error
        } catch {
            // Nothing was written, and one of them may be at fault: each writes its own, once and beside the others, so that none has
            // another's error or waits for another's repetitions.
            for follower in followers { follower.continuation.resume(throwing: Apart()) }
            return try await queue.checkpoint(own)
        }
    }

    /// Written together they could not be.
    private struct Apart: Error {}
}

extension GatheredCheckpoints {
    func lease(_ request: LeaseRequest) async throws -> [SliceLease] { try await queue.lease(request) }

    func renew(_ lease: SliceLease, until: Timestamp) async throws -> Bool { try await queue.renew(lease, until: until) }

    func page(_ request: PageRequest) async throws -> SlicePage? { try await queue.page(request) }

    func checkpoints(_ checkpoints: [SliceCheckpoint]) async throws -> [CheckpointAnswer] {
        try await queue.checkpoints(checkpoints)
    }

    func releaseAll(of owner: String?, at now: Timestamp) async throws -> Int {
        try await queue.releaseAll(of: owner, at: now)
    }

    func release(of owner: String, except kept: Set<SliceID>) async throws -> Int {
        try await queue.release(of: owner, except: kept)
    }
}
