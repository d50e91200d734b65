import ClarionTesting
import RichPushModel
import ServiceErrors
import Synchronization
import Testing

@testable import PushHub

@Suite("Checkpoints of a node's slices")
struct GatheredCheckpointsTests {
    /// So long that a test with a needless wait does not end.
    private static let unlimited: Duration = .seconds(3600)

    private func checkpoint(
        _ slice: Int64, _ disposition: SliceCheckpoint.Disposition = .keep(until: Timestamp(seconds: 60)),
        weight: SliceWeight = .large
    ) -> SliceCheckpoint {
        let id = SliceID(hub: HubID(1), notification: Self.send, number: slice)
        let lease = SliceLease(id: id, cursor: .beforeAll, last: .last, weight: weight, epoch: 1)
        return SliceCheckpoint(lease: lease, now: Timestamp(seconds: 0), disposition: disposition)
    }

    private static let send = NotificationID()

    private func store(
        _ checkpoints: [SliceCheckpoint], in gathered: GatheredCheckpoints
    ) async -> [Int64: Result<CheckpointAnswer, ServiceError>] {
        await withTaskGroup(of: (Int64, Result<CheckpointAnswer, ServiceError>).self) { group in
            for checkpoint in checkpoints {
                group.addTask { (checkpoint.lease.id.number, await self.answer(checkpoint, in: gathered)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    private func answer(
        _ checkpoint: SliceCheckpoint, in gathered: GatheredCheckpoints
    ) async -> Result<CheckpointAnswer, ServiceError> {
        do {
            return .success(try await gathered.checkpoint(checkpoint))
        } catch {
            return .failure(error as? ServiceError ?? ServiceError(.outcomeUnknown))
        }
    }

    @Test("those of all leased large slices are written together, and each gets its own answer")
    func together() async throws {
        let queue = CheckpointLog(refusing: [2])
        let gathered = GatheredCheckpoints(queue, timeout: Self.unlimited)
        for _ in 0..<3 { gathered.enter(.large) }
        let answers = await store([checkpoint(1), checkpoint(2), checkpoint(3)], in: gathered)
        #expect(queue.groups.map { Set($0) } == [[1, 2, 3]])
        #expect(answers == [1: .success(.stored(ended: nil)), 2: .success(.refused), 3: .success(.stored(ended: nil))])
        _ = await store([checkpoint(1), checkpoint(2), checkpoint(3)], in: gathered)
        #expect(queue.groups.map(\.count) == [3, 3])
    }

    @Test("one that has no others to wait for is written at once, as are the last of a slice and those of small ones")
    func atOnce() async throws {
        let queue = CheckpointLog()
        let gathered = GatheredCheckpoints(queue, timeout: Self.unlimited)
        gathered.enter(.large)
        gathered.enter(.small)
        gathered.enter(.single)
        _ = try await gathered.checkpoint(checkpoint(1))
        gathered.enter(.large)
        _ = try await gathered.checkpoint(checkpoint(2, .finish))
        _ = try await gathered.checkpoint(checkpoint(3, .release(notBefore: Timestamp(seconds: 1))))
        _ = try await gathered.checkpoint(checkpoint(4, weight: .small))
        #expect(queue.groups == [[1], [2], [3], [4]])
    }

    @Test("a slice that goes out of hand is not waited for any more")
    func leaving() async throws {
        let queue = CheckpointLog()
        let gathered = GatheredCheckpoints(queue, timeout: Self.unlimited)
        gathered.enter(.large)
        gathered.enter(.large)
        async let answer = gathered.checkpoint(checkpoint(1))
        gathered.leave(.large)
        #expect(try await answer == .stored(ended: nil))
    }

    @Test("a slice that does not come is waited for no longer than a moment")
    func timeout() async throws {
        let queue = CheckpointLog()
        let gathered = GatheredCheckpoints(queue, timeout: .milliseconds(1))
        gathered.enter(.large)
        gathered.enter(.large)
        #expect(try await gathered.checkpoint(checkpoint(1)) == .stored(ended: nil))
    }

    @Test("one that cannot be written does not keep the others from it; all get the error of an unreachable store")
    func faults() async throws {
        let queue = CheckpointLog(failing: [2: .internal])
        let gathered = GatheredCheckpoints(queue, timeout: Self.unlimited)
        for _ in 0..<3 { gathered.enter(.large) }
        let answers = await store([checkpoint(1), checkpoint(2), checkpoint(3)], in: gathered)
        #expect(answers[1] == .success(.stored(ended: nil)) && answers[3] == .success(.stored(ended: nil)))
        #expect(answers[2] == .failure(ServiceError(.internal)))

        let away = CheckpointLog(failing: [1: .storageUnavailable, 2: .storageUnavailable])
        let other = GatheredCheckpoints(away, timeout: Self.unlimited)
        for _ in 0..<2 { other.enter(.large) }
        let refusals = await store([checkpoint(1), checkpoint(2)], in: other)
        #expect(refusals.values.allSatisfy { $0 == .failure(ServiceError(.storageUnavailable)) })
        #expect(away.groups.isEmpty)

        let broken = CheckpointLog(failing: [1: .outcomeUnknown])
        let third = GatheredCheckpoints(broken, timeout: Self.unlimited)
        for _ in 0..<2 { third.enter(.large) }
        let unknown = await store([checkpoint(1), checkpoint(2)], in: third)
        #expect(
            unknown.values.allSatisfy { $0 == .failure(ServiceError(.outcomeUnknown)) },
            "the outcome is unknown: none is written again")
        #expect(broken.groups.isEmpty)
    }

    @Test("one that others are in the way of neither keeps the rest from being written nor is waited for by them")
    func conflict() async throws {
        let gate = Gate(isOpen: false)
        let queue = CheckpointLog(failing: [2: .storageUnavailable], conflicting: [2]) { if $0 == 2 { await gate.pass() } }
        let gathered = GatheredCheckpoints(queue, timeout: Self.unlimited)
        for _ in 0..<3 { gathered.enter(.large) }
        async let stuck = answer(checkpoint(2), in: gathered)
        let answers = await store([checkpoint(1), checkpoint(3)], in: gathered)
        #expect(answers == [1: .success(.stored(ended: nil)), 3: .success(.stored(ended: nil))])
        #expect(Set(queue.groups) == [[1], [3]])
        gate.open()
        #expect(await stuck == .failure(ServiceError(.storageUnavailable)), "its own error, and no other's")
        #expect(gate.arrivals == 1, "once; what comes of it is its caller's business")
    }

    @Test("whatever order many rounds of slices come in, each is answered and written once")
    func manyRounds() async throws {
        let queue = CheckpointLog()
        let gathered = GatheredCheckpoints(queue, timeout: .milliseconds(1))
        await withDiscardingTaskGroup { group in
            for slice in Int64(0)..<6 {
                gathered.enter(.large)
                group.addTask {
                    for _ in 0..<200 { _ = try? await gathered.checkpoint(self.checkpoint(slice)) }
                    gathered.leave(.large)
                }
            }
        }
        let written = queue.groups.flatMap { $0 }
        #expect((Int64(0)..<6).allSatisfy { slice in written.count { $0 == slice } == 200 })
        #expect(queue.groups.allSatisfy { Set($0).count == $0.count })
    }
}
