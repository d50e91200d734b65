import APNsProtocol
import NIOCore
import NIOEmbedded
import Testing

@testable import APNsHTTP2

/// A client with pushes under way, and a server that does what it likes. Whatever that is, the account must balance.
final class HostileRig {
    /// What the client may have written in answer to one scenario: far more than any honest answer, far less than a flood.
    static let outputBound = 4 << 20

    let rig: PoolRig
    private(set) var submissions: [PushSubmission] = []
    private(set) var written = 0

    init() throws { rig = try PoolRig() }

    /// A connection past its warm-up, with this many pushes waiting for their answers.
    func loaded(_ count: Int = 20, streamLimit: UInt32 = 1000) throws -> PoolRig.Link {
        let link = try rig.warmLink(streamLimit: streamLimit)
        submissions.append(rig.submit(count))
        try link.exchange()
        return link
    }

    func submit(_ count: Int, size: Int = 20) { submissions.append(rig.submit(count, size: size)) }

    /// Lets the server speak, as far as it is still listened to.
    func say(_ bytes: ByteBuffer, on link: PoolRig.Link) {
        guard link.channel.isActive else { return }
        link.channel.pipeline.fireChannelRead(bytes)
        link.channel.pipeline.fireChannelReadComplete()
        link.channel.embeddedEventLoop.run()
        drain(link)
    }

    func drain(_ link: PoolRig.Link) {
        while let bytes = try? link.channel.readOutbound(as: ByteBuffer.self) { written += bytes.readableBytes }
    }

    /// Lets all deadlines pass: every push has exactly one outcome, nothing is left, and the client is as usable as before.
    func expectBalance(sourceLocation: SourceLocation = #_sourceLocation) throws {
        rig.isReachable = false
        rig.advance(.seconds(31))
        for link in rig.links { drain(link) }
        let pushes = submissions.reduce(0) { $0 + $1.pushes.count } + (submissions.isEmpty ? 0 : 1)
        #expect(submissions.allSatisfy { $0.isComplete }, sourceLocation: sourceLocation)
        let metrics = rig.metrics
        let ended = metrics.accepted + metrics.rejected + metrics.notSent + metrics.unknown
        #expect(ended == pushes, sourceLocation: sourceLocation)
        #expect(metrics.queued == 0 && metrics.inFlight == 0, sourceLocation: sourceLocation)
        #expect(written < Self.outputBound, sourceLocation: sourceLocation)
        #expect(rig.pool.handlers.count <= APNsClientLimits().connections + 1, sourceLocation: sourceLocation)
        try expectUsable(sourceLocation: sourceLocation)
    }

    private func expectUsable(sourceLocation: SourceLocation) throws {
        for (_, handler) in rig.pool.handlers { handler.close(.connectionClosed) }
        rig.isReachable = true
        rig.advance(.seconds(61))
        let known = rig.links.count
        let submission = rig.submit(1)
        rig.advance(.seconds(1))
        try #require(rig.links.count > known, sourceLocation: sourceLocation)
        let link = rig.links[rig.links.count - 1]
        try link.say(.streamLimit(10))
        try link.say(.success(1))
        #expect(submission.outcome(0)?.isAccepted == true, sourceLocation: sourceLocation)
    }
}
