import APNsProtocol
import ClarionTesting
import Crypto
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded

@testable import APNsHTTP2

/// A whole client without sockets and without waiting: the pool on an embedded loop whose time the test moves.
final class PoolRig {
    /// One connection and the scripted server at its end.
    final class Link {
        let channel: EmbeddedChannel
        var server = ScriptedServer()
        /// Set by tests that answer on many links.
        var hasSpoken = false

        init(channel: EmbeddedChannel) { self.channel = channel }

        /// Reads what the client wrote since.
        func exchange() throws {
            while let bytes = try channel.readOutbound(as: ByteBuffer.self) { try server.read(bytes) }
        }

        /// Lets the server speak; all at once, as one read.
        func say(_ bytes: ByteBuffer...) throws {
            for bytes in bytes { channel.pipeline.fireChannelRead(bytes) }
            channel.pipeline.fireChannelReadComplete()
            channel.embeddedEventLoop.run()
        }
    }

    private struct Connector: APNsConnector {
        let make: (APNsConnectionHandler) -> EventLoopFuture<any Channel>

        func connect(_ handler: APNsConnectionHandler) -> EventLoopFuture<any Channel> { make(handler) }
    }

    struct Unreachable: Error {}

    let loop = EmbeddedEventLoop()
    let clock = ManualClock()
    let metricsBox = NIOLockedValueBox(APNsClientMetrics())
    private(set) var pool: APNsConnectionPool!
    var links: [Link] = []
    var isReachable = true
    var connectError: any Error = Unreachable()

    init(
        limits: APNsClientLimits = APNsClientLimits(), timing: APNsClientTiming = APNsClientTiming(), countsStreams: Bool = false,
        authorityOfAnyServer: String? = nil, isOfAPNs: Bool = true, expectedName: String? = nil,
        observer: (any APNsClientObserver)? = nil,
        logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    ) throws {
        let key = try ProviderTokenKey(privateKey: P256.Signing.PrivateKey(), keyID: "KEY4567890", teamID: "TEAM567890")
        var configuration = APNsClientConfiguration(
            environment: .production,
            credential: isOfAPNs ? .token(ProviderTokenCache(key: key, clock: clock, chance: { 0 })) : .none,
            transport: .cleartext, limits: limits, timing: timing)
        configuration.countsStreams = countsStreams
        (configuration.authority, configuration.isAnyServer) = (authorityOfAnyServer, authorityOfAnyServer != nil)
        var ofPool = APNsPoolConfiguration(configuration, observer: observer, logger: logger, chance: { 0 })
        ofPool.connection.expectedServerName = expectedName
        pool = APNsConnectionPool(
            eventLoop: loop, configuration: ofPool, connector: Connector { [unowned self] in connect($0) }, metrics: metricsBox)
    }

    private func connect(_ handler: APNsConnectionHandler) -> EventLoopFuture<any Channel> {
        guard isReachable else { return loop.makeFailedFuture(connectError) }
        let channel = EmbeddedChannel(handler: handler, loop: loop)
        links.append(Link(channel: channel))
        do {
            return channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).map { channel }
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    var metrics: APNsClientMetrics { metricsBox.withLockedValue { $0 } }

    /// Hands pushes to the pool.
    func submit(
        _ pushes: [APNsPush], lane: APNsSendLane = .bulk, deadline: TimeAmount = .seconds(30)
    ) -> PushSubmission {
        let submission = PushSubmission(
            pushes: pushes, outcomes: pushes.map { _ in nil }, lane: lane, timeLimit: deadline)
        pool.submit(submission)
        loop.run()
        return submission
    }

    func submit(_ count: Int, size: Int = 20, lane: APNsSendLane = .bulk) -> PushSubmission {
        submit((0..<count).map { _ in Pushes.push(size: size) }, lane: lane)
    }

    /// Hands over a request that is no device push.
    func submit(_ request: sending HTTP2Request, deadline: TimeAmount = .seconds(30)) -> PushSubmission {
        let submission = PushSubmission(request: request, timeLimit: deadline)
        pool.submit(submission)
        loop.run()
        return submission
    }

    /// Submits, and lets the server open with this limit and answer the first push, so that the connection is warm.
    func warmLink(streamLimit: UInt32 = 1000) throws -> Link {
        let first = submit(1)
        guard let link = links.last else { throw Unreachable() }
        try link.say(.streamLimit(streamLimit))
        try link.exchange()
        try link.say(.success(1))
        precondition(first.outcome(0) != nil)
        try link.exchange()
        _ = link.server.takeRequests()
        _ = link.server.takeFrames()
        return link
    }

    func advance(_ time: TimeAmount) {
        loop.advanceTime(by: time)
        loop.run()
    }
}

extension PushSubmission {
    nonisolated var outcomeList: [APNsOutcome?] { pushes.indices.map { outcome($0) } }
}
