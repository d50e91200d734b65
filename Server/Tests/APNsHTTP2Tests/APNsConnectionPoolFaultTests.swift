import ClarionTesting
import APNsProtocol
import NIOCore
import Testing

@testable import APNsHTTP2

@Suite("The pool when APNs says no")
struct APNsConnectionPoolFaultTests {
    @Test("at a GOAWAY unprocessed pushes move to a new connection in order, and processed ones are still answered")
    func goAway() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(4)
        rig.advance(.seconds(1))
        try link.say(.goAway(last: 5, debug: #"{"reason":"Shutdown"}"#))
        #expect(rig.links.count == 2)
        #expect(rig.metrics.resends == 2)
        #expect(rig.metrics.goAways == 1)
        #expect(rig.metrics.lastGoAwayReason == .shutdown)
        try link.say(.success(3))
        let next = rig.links[1]
        try next.say(.streamLimit(1000))
        try next.say(.success(1))
        try next.say(.success(3))
        #expect(submission.outcome(1) == nil)
        try link.say(.refusal(5, 400, "BadTopic"))
        #expect(submission.outcome(1) == .rejected(APNsRejection(status: 400, reason: .badTopic)))
        #expect(submission.outcomeList.filter { $0?.isAccepted == true }.count == 3)
        #expect(!link.channel.isActive)
    }

    @Test("a processed push whose connection ends before its answer is unknown and is not sent again")
    func lostAnswer() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(2)
        try link.say(.goAway(last: 3))
        try? link.channel.close().wait()
        rig.loop.run()
        #expect(submission.outcome(0) == .unknown(.connectionClosed))
        #expect(submission.outcome(1) == nil)
        #expect(rig.metrics.resends == 1)
    }

    @Test("an answer that never comes after GOAWAY ends with the drain time")
    func drainLimit() throws {
        var timing = APNsClientTiming()
        timing.drain = .seconds(5)
        let rig = try PoolRig(timing: timing)
        let link = try rig.warmLink()
        let submission = rig.submit(1)
        try link.say(.goAway(last: 0x7FFF_FFFF))
        rig.advance(.seconds(5))
        #expect(submission.outcome(0) == .unknown(.connectionClosed))
        #expect(!link.channel.isActive)
    }

    @Test("a refused stream is sent again, with both of its resets counting once, and not without limit")
    func refusedStream() throws {
        let rig = try PoolRig(limits: APNsClientLimits(resends: 2))
        let link = try rig.warmLink()
        // Nothing else is answered any more.
        rig.advance(.seconds(1))
        let submission = rig.submit(1)
        for stream in [UInt32(3), 5] {
            try link.say(.reset(stream, .refusedStream), .reset(stream, .streamClosed))
            #expect(submission.outcome(0) == nil)
        }
        #expect(rig.metrics.resends == 2)
        try link.say(.reset(7, .refusedStream))
        #expect(submission.outcome(0) == .notSent(.refusedStream))
    }

    @Test("what stands behind refused tokens is sent again as often as they lower the limit, as long as anything is answered")
    func behindRefusals() throws {
        let rig = try PoolRig(limits: APNsClientLimits(connections: 1))
        let link = try rig.warmLink()
        let submission = rig.submit(21)
        var stream: UInt32 = 3
        for round in 0..<20 {
            // The first is refused, everything behind it is reset, and then the limit rises again.
            let behind = (1..<(21 - round)).flatMap { [ByteBuffer.reset(stream + UInt32($0) * 2, .refusedStream)] }
            for bytes in [ByteBuffer.refusal(stream, 400, "BadDeviceToken")] + behind { try link.say(bytes) }
            stream += UInt32(21 - round) * 2
            rig.advance(.milliseconds(100))
        }
        try link.exchange()
        try link.say(.success(stream))
        #expect(submission.outcomeList.count { $0?.refusal == .badDeviceToken } == 20)
        #expect(submission.outcomeList.count { $0?.isAccepted == true } == 1)
    }

    @Test("pushes that come back keep their order, and stay before what was waiting", arguments: [true, false])
    func orderOfReturned(connectionEnds: Bool) throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        // More than the server reads: the requests stay incomplete.
        try link.say(.settings((HTTP2Settings.Identifier.initialWindowSize, 0)))
        let pushes = (0..<6).map { number in
            var push = Pushes.push()
            push.deviceToken = String(repeating: "\(number)", count: 64)
            return push
        }
        let submission = rig.submit(pushes)
        if connectionEnds {
            try? link.channel.close().wait()
            rig.loop.run()
        } else {
            try link.say(.reset(3, .refusedStream), .reset(5, .refusedStream), .reset(7, .refusedStream), .goAway(last: 7))
        }
        rig.advance(.seconds(1))
        let next = rig.links[1]
        try next.say(.streamLimit(1000))
        try next.say(.success(1))
        try next.exchange()
        #expect(next.server.takeRequests().map { $0.value(":path")?.last } == ["0", "1", "2", "3", "4", "5"])
        #expect(submission.outcome(0)?.isAccepted == true)
    }

    @Test("a stream reset for another reason is unknown and not sent again")
    func otherReset() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(1)
        try link.say(.reset(3, .internalError))
        #expect(submission.outcome(0) == .unknown(.streamReset))
        #expect(rig.metrics.resends == 0)
    }

    @Test("a stream reset because of haste is unknown, and the connection is left with a pause before the next")
    func enhanceYourCalm() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(2)
        try link.say(.reset(3, .enhanceYourCalm))
        #expect(submission.outcome(0) == .unknown(.streamReset))
        let next = rig.submit(1)
        try link.say(.success(5))
        #expect(submission.outcome(1)?.isAccepted == true)
        #expect(!link.channel.isActive)
        rig.advance(.milliseconds(999))
        #expect(rig.links.count == 1)
        rig.advance(.milliseconds(1))
        try #require(rig.links.count == 2)
        try rig.links[1].say(.streamLimit(1))
        try rig.links[1].say(.success(1))
        #expect(next.outcome(0)?.isAccepted == true)
        #expect(rig.metrics.resends == 0)
        #expect(rig.metrics.resets == 1)
    }

    @Test("a connection that breaks HTTP/2 is closed with the reason, and its pushes are unknown")
    func protocolError() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(1)
        try link.say(.frame(0x0, stream: 99, [1]))
        #expect(submission.outcome(0) == .unknown(.protocolError))
        try link.exchange()
        #expect(link.server.takeFrames().last == .goAway(lastStream: 0, code: .protocolError, debug: ByteBuffer()))
        #expect(!link.channel.isActive)
    }

    @Test("a refused credential ends pushes at once and causes no reconnecting")
    func credentialRefused() throws {
        let rig = try PoolRig()
        let submission = rig.submit(2)
        try rig.links[0].say(.streamLimit(1))
        try rig.links[0].say(.goAway(last: 0, debug: #"{"reason":"BadCertificate"}"#))
        #expect(submission.outcomeList == [.notSent(.credentialRefused), .notSent(.credentialRefused)])
        rig.advance(.seconds(59))
        #expect(rig.submit(1).outcome(0) == .notSent(.credentialRefused))
        #expect(rig.links.count == 1)
        rig.advance(.seconds(1))
        _ = rig.submit(1)
        #expect(rig.links.count == 2)
    }

    @Test("an expired token is replaced when it is old enough, on a new connection, and the push is sent again")
    func expiredToken() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        rig.clock.advance(by: .seconds(21 * 60))
        let submission = rig.submit(1)
        try link.exchange()
        let old = link.server.takeRequests().first?.value("authorization")
        try link.say(.refusal(3, 403, "ExpiredProviderToken"))
        #expect(submission.outcome(0) == nil)
        #expect(!link.channel.isActive)
        rig.advance(.seconds(1))
        let next = rig.links[1]
        try next.say(.streamLimit(1))
        try next.exchange()
        let new = try #require(next.server.takeRequests().first?.value("authorization"))
        #expect(new != old)
        try next.say(.success(1))
        #expect(submission.outcome(0)?.isAccepted == true)
    }

    @Test("a young token that is called expired is a wrong clock: the push is refused, the connection is left")
    func youngToken() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(1)
        try link.say(.refusal(3, 403, "ExpiredProviderToken"))
        #expect(submission.outcome(0) == .rejected(APNsRejection(status: 403, reason: .expiredProviderToken)))
        #expect(!link.channel.isActive)
    }

    @Test("after too many token updates the connection is left with a pause, and the token stays")
    func tooManyUpdates() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(2)
        try link.exchange()
        let token = link.server.takeRequests().first?.value("authorization")
        try link.say(.refusal(3, 429, "TooManyProviderTokenUpdates"))
        #expect(
            submission.outcome(0) == .rejected(APNsRejection(status: 429, reason: .tooManyProviderTokenUpdates)))
        let later = rig.submit(1)
        #expect(rig.links.count == 1)
        rig.advance(.seconds(1))
        try rig.links[1].say(.streamLimit(1))
        try rig.links[1].exchange()
        #expect(rig.links[1].server.takeRequests().first?.value("authorization") == token)
        try rig.links[1].say(.success(1))
        #expect(later.outcome(0)?.isAccepted == true)
        // The other push of the spoilt connection is not answered any more.
        rig.advance(.seconds(4))
        #expect(submission.outcome(1) == .unknown(.connectionClosed))
    }

    @Test("a queue that waits on a full connection gets a second one, and both are used")
    func scaling() throws {
        let rig = try PoolRig(limits: APNsClientLimits(connections: 2))
        let link = try rig.warmLink(streamLimit: 1)
        let submission = rig.submit(4)
        #expect(rig.links.count == 1)
        rig.advance(.milliseconds(100))
        #expect(rig.links.count == 2)
        try rig.links[1].say(.streamLimit(1))
        rig.advance(.seconds(1))
        #expect(rig.links.count == 2)
        try rig.links[1].say(.success(1))
        try link.say(.success(3))
        try link.say(.success(5))
        try rig.links[1].say(.success(3))
        #expect(submission.outcomeList.allSatisfy { $0?.isAccepted == true })
    }

    @Test("in a storm of faults every push has exactly one outcome and none is answered twice")
    func storm() throws {
        let seed = SeededGenerator.newSeed()
        print("Storm seed \(seed)")
        var random = SeededRandom(seed: seed)
        var timing = APNsClientTiming()
        timing.initialBackOff = .milliseconds(10)
        timing.maximumBackOff = .milliseconds(20)
        let rig = try PoolRig(limits: APNsClientLimits(connections: 3, resends: 100), timing: timing)
        var submissions: [PushSubmission] = []
        var answered = 0
        for _ in 0..<600 {
            submissions.append(rig.submit(Int.random(in: 1...20, using: &random)))
            for link in rig.links where link.channel.isActive {
                if link.isFresh() { try link.say(.streamLimit(UInt32.random(in: 1...30, using: &random))) }
                try link.exchange()
                for request in link.server.takeRequests() where link.channel.isActive {
                    switch Int.random(in: 0..<60, using: &random) {
                    case 0: try link.say(.goAway(last: request.stream))
                    case 1, 2: try link.say(.reset(request.stream, .refusedStream))
                    case 3: try link.say(.reset(request.stream, .cancel))
                    case 4: try link.say(.streamLimit(UInt32.random(in: 1...30, using: &random)))
                    case 5: try? link.channel.close().wait()
                    case 6: break
                    default:
                        answered += 1
                        try link.say(.success(request.stream))
                    }
                }
            }
            rig.links.removeAll { !$0.channel.isActive }
            rig.advance(.milliseconds(Int64.random(in: 1...200, using: &random)))
        }
        rig.advance(.seconds(31))
        let outcomes = submissions.flatMap(\.outcomeList)
        #expect(outcomes.allSatisfy { $0 != nil }, "seed \(seed)")
        #expect(outcomes.filter { $0?.isAccepted == true }.count <= answered, "seed \(seed)")
        let metrics = rig.metrics
        #expect(metrics.accepted + metrics.rejected + metrics.notSent + metrics.unknown == outcomes.count, "seed \(seed)")
        #expect(metrics.inFlight == 0 && metrics.queued == 0, "seed \(seed)")
    }
}

extension PoolRig.Link {
    /// Whether the server has not spoken yet.
    fileprivate func isFresh() -> Bool {
        defer { hasSpoken = true }
        return !hasSpoken
    }
}
