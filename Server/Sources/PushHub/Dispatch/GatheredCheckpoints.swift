import RichPushModel
import ServiceErrors
import Synchronization

/// Writes the checkpoints of a node's slices: those of large ones together, since what a commit costs, in processor time as well, is
/// mostly the same for one as for all.
///
/// The first caller waits up to `timeout` for the others and writes all gathered checkpoints. The last checkpoint of a slice does
/// not wait.
final class GatheredCheckpoints: Sendable {
    /// How long a checkpoint waits for others. Far below what a page takes at the push service, and far above what it takes here.
    static let gatherTimeout: Duration = .milliseconds(3)

    private struct Follower {
        let checkpoint: SliceCheckpoint
        let continuation: CheckedContinuation<CheckpointAnswer, any Error>
    }

    private struct State {
        /// Large slices that are leased.
        var largeSlices = 0
        /// Wakes the caller that waits for others; absent when none does.
        var leader: AsyncStream<Void>.Continuation?
        var followers: [Follower] = []

        /// Whether every large slice has a waiting checkpoint.
        var isComplete: Bool { followers.count + 1 >= largeSlices }
    }

    private let queue: any SliceQueue
    private let timeout: Duration
    private let state = Mutex(State())

    init(_ queue: any SliceQueue, timeout: Duration = GatheredCheckpoints.gatherTimeout) {
        self.queue = queue
        self.timeout = timeout
    }

    /// A slice was leased.
    func enter(_ weight: SliceWeight) {
        if weight == .large { state.withLock { $0.largeSlices += 1 } }
    }

    /// A slice was released: its checkpoint is no longer waited for.
    func leave(_ weight: SliceWeight) {
        guard weight == .large else { return }
        state.withLock { state in
            state.largeSlices -= 1
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

    /// Makes the caller the leader if there is none, and returns the stream that wakes it.
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
                // The leader may have begun to write since `lead()` was called.
                guard let leader = state.leader else { return true }
                state.followers.append(Follower(checkpoint: checkpoint, continuation: continuation))
                if state.isComplete { leader.finish() }
                return false
            }
            if isLate { continuation.resume(throwing: TooLate()) }
        }
    }

    /// The leader has begun to write.
    private struct TooLate: Error {}

    /// Uses the system clock rather than the hub's clock: this wait affects no stored value.
    private func wait(for wakes: AsyncStream<Void>) async {
        await withDiscardingTaskGroup { group in
            group.addTask { [timeout] in
                try? await Task.sleep(for: timeout)
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

    /// The checkpoints could not be written together.
    private struct Apart: Error {}
}
