import APNsProtocol
import ClarionTesting
import NIOCore
import RichPushModel
import Testing

@testable import APNsHTTP2

@Suite("Provider tokens on connections")
struct ProviderTokenUseTests {
    private func expired(_ stream: UInt32, date: String) -> ByteBuffer {
        let block = ByteBuffer.headerBlock(status: 403) + [0x00, 0x04] + Array("date".utf8) + [29] + Array(date.utf8)
        var buffer = ByteBuffer.frame(0x1, flags: 0x4, stream: stream, block)
        buffer.writeImmutableBuffer(.frame(0x0, flags: 0x1, stream: stream, Array(#"{"reason":"ExpiredProviderToken"}"#.utf8)))
        return buffer
    }

    @Test("a young token that APNs calls expired shows a wrong clock, by how much, and is not replaced")
    func skew() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(1)
        try link.say(expired(3, date: "Sun, 06 Nov 1994 08:49:37 GMT"))
        guard case .rejected(let rejection) = submission.outcome(0) else {
            Issue.record("not rejected")
            return
        }
        #expect(rejection.serverDate == Timestamp(seconds: 784_111_777))
        #expect(rig.metrics.clockSkew == Timestamp(seconds: 784_111_777) - rig.clock.now)
        #expect(rig.metrics.resends == 0)
        try link.exchange()
        rig.advance(.seconds(2))
        let next = rig.submit(1)
        rig.advance(.seconds(2))
        let second = try #require(rig.links.last)
        try second.say(.streamLimit(1))
        try second.exchange()
        let before = link.server.requests.first?.value("authorization")
        #expect(before != nil)
        #expect(second.server.requests.first?.value("authorization") == before)
        try second.say(.success(1))
        #expect(next.outcome(0)?.isAccepted == true)
    }

    @Test("a new token that comes too soon for APNs spoils one connection: the others and their replacements keep the old one")
    func tooManyUpdates() throws {
        let rig = try PoolRig(limits: APNsClientLimits(connections: 2))
        let first = try rig.warmLink(streamLimit: 1)
        let warming = rig.submit(2)
        rig.advance(.milliseconds(100))
        let second = try #require(rig.links.dropFirst().first)
        try second.say(.streamLimit(1))
        try first.say(.success(3))
        try second.say(.success(1))
        #expect(warming.isComplete)
        for link in rig.links { try link.exchange() }
        let old = first.server.takeRequests().first?.value("authorization")
        _ = second.server.takeRequests()
        rig.clock.advance(by: .seconds(45 * 60))
        let pushes = rig.submit(2)
        for link in rig.links { try link.exchange() }
        // One of them goes first with the new token.
        let carried = rig.links.map { $0.server.takeRequests().first }
        let pioneer = try #require(carried.firstIndex { $0?.value("authorization") != old })
        let follower = rig.links[1 - pioneer]
        #expect(carried[1 - pioneer]?.value("authorization") == old)
        try rig.links[pioneer].say(.refusal(try #require(carried[pioneer]?.stream), 429, "TooManyProviderTokenUpdates"))
        try follower.say(.success(try #require(carried[1 - pioneer]?.stream)))
        #expect(pushes.isComplete)
        // The other one goes on with the old token, and so does the replacement.
        let later = rig.submit(2)
        rig.advance(.seconds(2))
        let replacement = try #require(rig.links.dropFirst(2).first)
        try replacement.say(.streamLimit(1))
        for link in [follower, replacement] {
            try link.exchange()
            let request = try #require(link.server.takeRequests().last)
            #expect(request.value("authorization") == old)
            try link.say(.success(request.stream))
        }
        #expect(later.outcomeList.allSatisfy { $0?.isAccepted == true })
        #expect(rig.links.count == 3)
    }

    @Test("the token that a refused request carried is the one that has expired, whatever was sent after it")
    func blame() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let old = rig.submit(1)
        rig.clock.advance(by: .seconds(50 * 60))
        let new = rig.submit(1)
        try link.exchange()
        #expect(Set(link.server.takeRequests().compactMap { $0.value("authorization") }).count == 2)
        try link.say(.refusal(3, 403, "ExpiredProviderToken"))
        #expect(old.outcome(0) == nil)
        #expect(rig.metrics.resends == 1)
        try link.say(.success(5))
        #expect(new.outcome(0)?.isAccepted == true)
        rig.advance(.seconds(1))
        let next = try #require(rig.links.last)
        try next.say(.streamLimit(1))
        try next.say(.success(1))
        #expect(old.outcome(0)?.isAccepted == true)
    }

    @Test("a wrong clock is said once for each connection, however many pushes it refuses")
    func saidOnce() throws {
        let notes = LogNotes()
        let rig = try PoolRig(logger: notes.logger)
        let link = try rig.warmLink()
        let submission = rig.submit(100)
        for stream in stride(from: UInt32(3), to: 203, by: 2) { try link.say(.refusal(stream, 403, "ExpiredProviderToken")) }
        #expect(submission.outcomeList.allSatisfy { if case .rejected? = $0 { true } else { false } })
        #expect(notes.lines.count { $0.level == .error } == 1)
    }
}
