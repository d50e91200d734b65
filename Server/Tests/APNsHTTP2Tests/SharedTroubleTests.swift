import APNsProtocol
import NIOCore
import Testing

@testable import APNsHTTP2

/// One trouble on APNs' side meets all connections of a pool in the same moment.
@Suite("Trouble that several connections share")
struct SharedTroubleTests {
    /// So many warm connections, each with one push under way.
    private func busyLinks(_ count: Int) throws -> (PoolRig, [PoolRig.Link], PushSubmission) {
        let rig = try PoolRig(limits: APNsClientLimits(connections: count))
        let submission = rig.submit(2 * count)
        for index in 0..<count {
            try #require(rig.links.count == index + 1)
            try rig.links[index].say(.streamLimit(1))
            try rig.links[index].say(.success(1))
            rig.advance(.milliseconds(100))
        }
        try #require(rig.metrics.inFlight == count)
        for link in rig.links {
            try link.exchange()
            _ = link.server.takeRequests()
        }
        return (rig, rig.links, submission)
    }

    @Test("a hiccup of a moment costs the pause of one failure, not of as many as there are connections")
    func oneHiccup() throws {
        let (rig, links, submission) = try busyLinks(8)
        let more = rig.submit(16)
        for stream: UInt32 in [3, 5, 7] {
            for link in links { try link.say(.refusal(stream, 503, "ServiceUnavailable")) }
        }
        #expect(submission.isComplete)
        #expect(more.isComplete)
        #expect(links.allSatisfy { !$0.channel.isActive })
        let next = rig.submit(1)
        rig.advance(.milliseconds(999))
        #expect(rig.links.count == 8)
        rig.advance(.milliseconds(1))
        try #require(rig.links.count == 9)
        try rig.links[8].say(.streamLimit(1))
        try rig.links[8].say(.success(1))
        #expect(next.outcome(0)?.isAccepted == true)
    }

    @Test("when one connection hears that the token has expired, none goes on with it")
    func expired() throws {
        let (rig, links, submission) = try busyLinks(3)
        rig.clock.advance(by: .seconds(30 * 60))
        let later = rig.submit(2)
        try links[0].say(.refusal(3, 403, "ExpiredProviderToken"))
        try links[1].say(.success(3))
        try links[2].say(.success(3))
        // A connection that is not the first with the new token would use the one before, if that were still valid.
        let carried = try links.dropFirst().map { link in
            try link.exchange()
            return try #require(link.server.takeRequests().last?.value("authorization"))
        }
        #expect(Set(carried).count == 1)
        try links[1].say(.success(5))
        try links[2].say(.success(5))
        rig.advance(.seconds(1))
        for link in rig.links.dropFirst() { try? link.say(.success(7)) }
        if let replacement = rig.links.dropFirst(3).first {
            try replacement.say(.streamLimit(1))
            try replacement.say(.success(1))
        }
        #expect(submission.outcomeList.allSatisfy { $0?.isAccepted == true })
        #expect(later.outcomeList.allSatisfy { $0?.isAccepted == true })
    }

    @Test("connections on which everything is refused, and that APNs ends for it, are replaced ever more slowly")
    func errorBudget() throws {
        let rig = try PoolRig()
        var waits: [Int] = []
        for round in 0..<4 {
            let refused = rig.submit([Pushes.push()], deadline: .minutes(5))
            let link = try #require(rig.links.last)
            try link.say(.streamLimit(1))
            try link.say(.refusal(1, 400, "BadDeviceToken"))
            #expect(refused.outcome(0)?.refusal == .badDeviceToken)
            try link.say(.goAway(last: 1))
            let waiting = rig.submit([Pushes.push()], deadline: .minutes(5))
            var seconds = 0
            while rig.links.count == round + 1, seconds < 60 {
                rig.advance(.seconds(1))
                seconds += 1
            }
            rig.pool.cancel(waiting)
            rig.loop.run()
            waits.append(seconds)
        }
        #expect(waits == [1, 2, 4, 8])
    }

    @Test("an app that is newer than the connections is reached over a new one, and a wrong topic costs connections once")
    func newApp() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        rig.advance(.minutes(2))
        let submission = rig.submit(1)
        try link.say(.refusal(3, 400, "TopicDisallowed"))
        #expect(submission.outcome(0) == nil)
        #expect(!link.channel.isActive)
        try #require(rig.links.count == 2)
        let next = rig.links[1]
        try next.say(.streamLimit(1000))
        try next.say(.success(1))
        #expect(submission.outcome(0)?.isAccepted == true)
        rig.advance(.minutes(2))
        let wrong = rig.submit(1)
        try next.say(.refusal(3, 400, "TopicDisallowed"))
        #expect(wrong.outcome(0)?.refusal == .topicDisallowed)
        #expect(next.channel.isActive)
        #expect(rig.links.count == 2)
    }

    @Test("a topic that the new connection refuses too is refused")
    func wrongTopic() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        rig.advance(.minutes(2))
        let submission = rig.submit(1)
        try link.say(.refusal(3, 400, "TopicDisallowed"))
        try #require(rig.links.count == 2)
        try rig.links[1].say(.streamLimit(1000))
        try rig.links[1].say(.refusal(1, 400, "TopicDisallowed"))
        #expect(submission.outcome(0)?.refusal == .topicDisallowed)
        #expect(rig.links[1].channel.isActive)
    }

    /// Closes the channel in the middle of a write, as a socket does whose other end is gone.
    private final class BreakingWrite: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        var isArmed = false

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            guard isArmed else { return context.write(data, promise: promise) }
            promise?.fail(ChannelError.ioOnClosedChannel)
            context.close(promise: nil)
        }
    }

    @Test("a push that comes back because its connection breaks while deadlines are checked keeps its own deadline")
    func sweptBack() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let breaking = BreakingWrite()
        try link.channel.pipeline.syncOperations.addHandler(breaking, position: .first)
        // The server takes no body: both requests stay incomplete.
        try link.say(.settings((HTTP2Settings.Identifier.initialWindowSize, 0)))
        let first = rig.submit([Pushes.push()], deadline: .seconds(5))
        let second = rig.submit([Pushes.push()], deadline: .seconds(9))
        rig.isReachable = false
        breaking.isArmed = true
        rig.advance(.seconds(6))
        #expect(first.outcome(0) == .notSent(.deadline))
        #expect(!link.channel.isActive)
        #expect(second.outcome(0) == nil)
        rig.advance(.seconds(4))
        #expect(second.isComplete)
        if case .notSent = second.outcome(0) {} else { Issue.record("\(String(describing: second.outcome(0)))") }
    }
}
