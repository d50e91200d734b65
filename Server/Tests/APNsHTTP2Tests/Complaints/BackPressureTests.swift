import APNsProtocol
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("More pushes than the queue takes")
struct BackPressureTests {
    /// A single push, as `send(_:)` of one makes it.
    private func submitOne(_ rig: PoolRig) -> PushSubmission {
        let submission = PushSubmission(push: Pushes.push(), timeLimit: .seconds(30))
        rig.pool.submit(submission)
        rig.loop.run()
        return submission
    }

    private func push(_ number: Int) -> APNsPush {
        var push = Pushes.push()
        let digits = String(number)
        push.deviceToken = String(repeating: "0", count: 64 - digits.count) + digits
        return push
    }

    /// Answers everything that is open.
    private func answer(_ link: PoolRig.Link) throws -> [SeenRequest] {
        try link.exchange()
        let requests = link.server.takeRequests()
        var bytes = ByteBuffer()
        for request in requests {
            bytes.writeImmutableBuffer(.credit(UInt32(request.body.count)))
            bytes.writeImmutableBuffer(.success(request.stream))
        }
        try link.say(bytes)
        return requests
    }

    @Test(
        "complaint 16: a batch beyond the queue enters in portions, in order, and none of it is refused", arguments: [1, 7, 1000])
    func portions(streamLimit: UInt32) throws {
        let rig = try PoolRig(limits: APNsClientLimits(connections: 1, queuedPushes: 100))
        let link = try rig.warmLink(streamLimit: streamLimit)
        let submission = rig.submit((0..<5000).map(push))
        #expect(rig.metrics.queued <= 100)
        var seen: [String?] = []
        for _ in 0..<6000 where !submission.isComplete {
            seen += try answer(link).map { $0.value(":path") }
            #expect(rig.metrics.queued <= 100)
        }
        #expect(submission.outcomeList.allSatisfy { $0?.isAccepted == true })
        #expect(seen == (0..<5000).map { "/3/device/" + push($0).deviceToken })
    }

    @Test("complaint 16: the queue is bounded: a batch waits, and a single push that does not fit fails at once")
    func bounded() throws {
        let rig = try PoolRig(limits: APNsClientLimits(queuedPushes: 100))
        rig.isReachable = false
        let batch = rig.submit(5000)
        #expect(rig.metrics.queued == 100)
        #expect(batch.outcomeList.allSatisfy { $0 == nil })
        // The express lane has a queue of its own.
        let singles = (0..<150).map { _ in submitOne(rig) }
        #expect(rig.metrics.queued == 200)
        #expect(singles.count { $0.outcome(0) == .notSent(.queueFull) } == 50)
        // As many batches may wait, and no more.
        let batches = (0..<120).map { _ in rig.submit(2) }
        #expect(batches.count { $0.outcomeList == [.notSent(.queueFull), .notSent(.queueFull)] } == 21)
        #expect(rig.metrics.queued == 200)
    }

    @Test("what waits for the queue ends at its deadline, and when its caller gives up")
    func ends() throws {
        let rig = try PoolRig(limits: APNsClientLimits(queuedPushes: 10))
        rig.isReachable = false
        let first = rig.submit((0..<50).map(push), deadline: .seconds(5))
        let second = rig.submit((0..<50).map(push), deadline: .seconds(60))
        let third = rig.submit((0..<50).map(push), deadline: .seconds(60))
        rig.advance(.seconds(5))
        #expect(first.outcomeList.allSatisfy { $0 == .notSent(.unreachable) })
        #expect(second.outcomeList.allSatisfy { $0 == nil })
        #expect(rig.metrics.queued == 10)
        rig.pool.cancel(second)
        rig.loop.run()
        #expect(second.outcomeList.allSatisfy { $0 == .notSent(.cancelled) })
        #expect(third.outcomeList.allSatisfy { $0 == nil })
        #expect(rig.metrics.queued == 10)
        rig.advance(.seconds(56))
        #expect(third.outcomeList.allSatisfy { $0 == .notSent(.unreachable) })
        #expect(rig.metrics.queued == 0)
        #expect(rig.metrics.notSent == 150)
    }

    @Test("a refused credential ends what waits for the queue as well")
    func credentialRefused() throws {
        let rig = try PoolRig(limits: APNsClientLimits(queuedPushes: 10))
        let submission = rig.submit(5000)
        try rig.links[0].say(.streamLimit(1000))
        try rig.links[0].say(.refusal(1, 403, "InvalidProviderToken"))
        #expect(submission.isComplete)
        #expect(rig.metrics.requests == 1)
        #expect(submission.outcomeList.count { $0 == .notSent(.credentialRefused) } == 4999)
    }

    @Test("shutting down lets what waits for the queue end, as far as there is time")
    func shutdown() throws {
        let rig = try PoolRig(limits: APNsClientLimits(queuedPushes: 10))
        let link = try rig.warmLink(streamLimit: 5)
        let submission = rig.submit((0..<50).map(push))
        rig.pool.stop(within: .seconds(5), waiter: nil)
        rig.loop.run()
        for _ in 0..<8 { _ = try answer(link) }
        #expect(!rig.pool.isStopped)
        #expect(submission.outcomeList.count { $0?.isAccepted == true } == 40)
        rig.advance(.seconds(5))
        #expect(rig.pool.isStopped)
        #expect(submission.isComplete)
        #expect(submission.outcomeList.count { $0 == .notSent(.cancelled) } == 5)
    }
}
