import APNsProtocol
import NIOConcurrencyHelpers
import NIOCore
import NIOSSL
import Testing

@testable import APNsHTTP2

@Suite("The pool and its connections")
struct APNsConnectionPoolTests {
    @Test("one push makes a connection, warms it up, and the rest follow in one write")
    func warmUp() throws {
        let rig = try PoolRig()
        let submission = rig.submit(50)
        #expect(rig.links.count == 1)
        let link = rig.links[0]
        try link.exchange()
        #expect(link.server.requests.isEmpty)
        try link.say(.streamLimit(1000))
        try link.exchange()
        #expect(link.server.takeRequests().map(\.stream) == [1])
        try link.say(.success(1))
        try link.exchange()
        #expect(link.server.requests.count == 49)
        for request in link.server.requests { try link.say(.success(request.stream)) }
        #expect(submission.outcomeList.allSatisfy { $0?.isAccepted == true })
        #expect(rig.metrics.accepted == 50)
        #expect(rig.metrics.requests == 50)
        #expect(rig.metrics.inFlight == 0)
        #expect(rig.metrics.connections == 1)
        #expect(rig.metrics.streamLimit == 1000)
    }

    @Test("writes are at most a TLS record long")
    func records() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        _ = rig.submit(300, size: 200)
        var sizes: [Int] = []
        while let bytes = try link.channel.readOutbound(as: ByteBuffer.self) { sizes.append(bytes.readableBytes) }
        #expect(sizes.allSatisfy { $0 <= 16_384 })
        #expect(sizes.count == sizes.reduce(0, +) / 16_384 + 1 || sizes.count == sizes.reduce(0, +) / 16_200 + 1)
    }

    @Test("what APNs says of each push comes back at its place")
    func places() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(3)
        try link.say(
            .refusal(5, 410, "Unregistered", timestamp: 1_800_000_000_123), .success(7), .refusal(3, 400, "BadDeviceToken"))
        #expect(submission.outcome(0) == .rejected(APNsRejection(status: 400, reason: .badDeviceToken)))
        #expect(
            submission.outcome(1) == .rejected(APNsRejection(status: 410, reason: .unregistered, timestamp: 1_800_000_000_123)))
        #expect(submission.outcome(2) == .accepted(apnsID: nil, uniqueID: nil))
        #expect(rig.metrics.rejected == 2)
    }

    @Test("a push that is never answered ends unknown at its deadline, and its stream is given back")
    func deadline() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(2)
        try link.exchange()
        // The server lives: it answers the probe, but not the pushes.
        rig.advance(.seconds(12))
        try link.say(.frame(0x6, flags: 0x1, [0, 0, 0, 0, 0, 0, 0, 1]))
        rig.advance(.seconds(12))
        try link.say(.frame(0x6, flags: 0x1, [0, 0, 0, 0, 0, 0, 0, 2]), .success(3))
        #expect(submission.outcome(0)?.isAccepted == true)
        #expect(submission.outcome(1) == nil)
        rig.advance(.seconds(6))
        #expect(submission.outcome(1) == .unknown(.deadline))
        try link.exchange()
        #expect(link.server.takeFrames().contains(.resetStream(stream: 5, code: .cancel)))
        #expect(rig.metrics.inFlight == 0)
    }

    @Test("a push that never got a connection ends unreachable at its deadline, without hurry in between")
    func unreachable() throws {
        let rig = try PoolRig()
        rig.isReachable = false
        let submission = rig.submit(3)
        rig.advance(.seconds(29))
        #expect(submission.outcome(0) == nil)
        // 0, 1, 3, and then every 3 seconds to 27: pushes wait, and APNs may return at any moment.
        #expect(rig.metrics.connectFailures == 11)
        rig.advance(.seconds(1))
        #expect(submission.outcomeList == Array(repeating: .notSent(.unreachable), count: 3))
        rig.isReachable = true
        let next = rig.submit(1)
        for _ in 0..<16 where rig.links.isEmpty { rig.advance(.seconds(1)) }
        try rig.links[0].say(.streamLimit(1))
        try rig.links[0].say(.success(1))
        #expect(next.outcome(0)?.isAccepted == true)
    }

    @Test("a handshake that does not end is given up after ten seconds, and another is tried beside it after three")
    func handshakeLimit() throws {
        let rig = try PoolRig()
        let submission = rig.submit(1)
        rig.advance(.milliseconds(2_999))
        #expect(rig.links.count == 1)
        rig.advance(.milliseconds(1))
        try #require(rig.links.count == 2)
        rig.advance(.milliseconds(6_999))
        #expect(rig.links[0].channel.isActive)
        #expect(rig.links.count == 2)
        rig.advance(.milliseconds(1))
        #expect(!rig.links[0].channel.isActive)
        try rig.links[1].say(.streamLimit(1))
        try rig.links[1].say(.success(1))
        #expect(submission.outcome(0)?.isAccepted == true)
    }

    @Test("a server that is not trusted is named as such")
    func untrusted() throws {
        let rig = try PoolRig()
        rig.isReachable = false
        rig.connectError = NIOSSLError.handshakeFailed(.zeroReturn)
        let submission = rig.submit(1)
        rig.advance(.seconds(30))
        #expect(submission.outcome(0) == .notSent(.tlsFailed))
    }

    @Test("a cancelled call ends: unknown what was written, not sent what was not")
    func cancellation() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink(streamLimit: 2)
        let submission = rig.submit(3)
        rig.pool.cancel(submission)
        rig.loop.run()
        #expect(submission.outcomeList == [.unknown(.cancelled), .unknown(.cancelled), .notSent(.cancelled)])
        try link.exchange()
        #expect(link.server.takeFrames().count == 2)
        try link.say(.success(3))
        #expect(rig.metrics.unknown == 2)
    }

    @Test("a stalled connection is probed, declared dead, and its pushes are unknown, those queued are not lost")
    func blackHole() throws {
        let rig = try PoolRig(limits: APNsClientLimits(connections: 1))
        let link = try rig.warmLink(streamLimit: 1)
        let submission = rig.submit(2)
        rig.advance(.seconds(19))
        #expect(submission.outcome(0) == .unknown(.connectionClosed))
        #expect(!link.channel.isActive)
        #expect(rig.links.count == 2)
        try rig.links[1].say(.streamLimit(1))
        try rig.links[1].say(.success(1))
        #expect(submission.outcome(1)?.isAccepted == true)
    }

    @Test("an idle connection closes, and the next push makes a new one")
    func idle() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        rig.advance(.minutes(14))
        #expect(link.channel.isActive)
        rig.advance(.minutes(2))
        #expect(!link.channel.isActive)
        #expect(rig.metrics.connections == 0)
        _ = rig.submit(1)
        #expect(rig.links.count == 2)
    }

    @Test("a connection that is reused after a long silence is probed in the same write")
    func silence() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        rig.advance(.minutes(5))
        _ = rig.submit(1)
        let written = try #require(try link.channel.readOutbound(as: ByteBuffer.self))
        try link.server.read(written)
        #expect(link.server.frames == [.ping(1)])
        #expect(link.server.requests.count == 1)
    }

    @Test("the observer sees requests and answers without secrets")
    func observer() throws {
        let observer = Recorder()
        let rig = try PoolRig(observer: observer)
        _ = try rig.warmLink()
        let (requests, answers) = observer.seen.withLockedValue { $0 }
        #expect(requests.count == 1)
        #expect(answers.count == 1)
        let fields = try #require(requests.first?.fields)
        #expect(fields.first { $0.name == ":path" }?.value == "/3/device/001122…")
        #expect(!fields.contains { $0.name == "authorization" })
        #expect(answers.first?.outcome.isAccepted == true)
    }

    @Test("shutting down lets what was accepted end, and then closes")
    func shutdown() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(2)
        rig.pool.stop(within: .seconds(30), waiter: nil)
        rig.loop.run()
        let late = rig.submit(1)
        #expect(late.outcome(0) == .notSent(.cancelled))
        try link.say(.success(3))
        #expect(link.channel.isActive)
        try link.say(.success(5))
        #expect(submission.outcomeList.allSatisfy { $0?.isAccepted == true })
        #expect(!link.channel.isActive)
        #expect(rig.pool.isStopped)
    }

    @Test("shutting down does not wait longer than it may")
    func shutdownLimit() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink(streamLimit: 1)
        let submission = rig.submit(2)
        rig.pool.stop(within: .seconds(3), waiter: nil)
        rig.advance(.seconds(3))
        #expect(submission.outcomeList == [.unknown(.cancelled), .notSent(.cancelled)])
        #expect(!link.channel.isActive)
        #expect(rig.pool.isStopped)
    }

    @Test("of several limits for shutting down the one that ends first holds", arguments: [(30, 3), (3, 30)])
    func shutdownLimits(first: Int64, second: Int64) throws {
        let rig = try PoolRig()
        _ = try rig.warmLink()
        let submission = rig.submit(1)
        rig.pool.stop(within: .seconds(first), waiter: nil)
        rig.pool.stop(within: .seconds(second), waiter: nil)
        rig.advance(.milliseconds(2999))
        #expect(submission.outcome(0) == nil)
        rig.advance(.milliseconds(1))
        #expect(submission.outcome(0) == .unknown(.cancelled))
        #expect(rig.pool.isStopped)
    }
}

/// Keeps what an observer receives.
private struct Recorder: APNsClientObserver {
    let seen = NIOLockedValueBox<([APNsRequestReport], [APNsAnswerReport])>(([], []))

    func clientDidSend(_ request: APNsRequestReport) { seen.withLockedValue { $0.0.append(request) } }
    func clientDidFinish(_ answer: APNsAnswerReport) { seen.withLockedValue { $0.1.append(answer) } }
}
