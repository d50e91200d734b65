import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import RichPushModel
import SharedAccess
import Synchronization

/// Owns the listening socket and the open connections. One port serves senders by HTTP/1.1 and browsers by WebSocket.
final class PushListener: Sendable {
    private struct State: Sendable {
        var wasStarted = false
        var isShutDown = false
        var server: (any Channel)?
        var connections: [ObjectIdentifier: any Channel] = [:]
    }

    let core: PushServiceCore
    let logger: Logger
    private let group: any EventLoopGroup
    private let state = Mutex(State())

    init(core: PushServiceCore, group: any EventLoopGroup, logger: Logger) {
        (self.core, self.group, self.logger) = (core, group, logger)
    }

    /// Returns the port that it got.
    func start() async throws -> Int {
        let settings = core.settings
        guard settings.allowsRemoteClients || AddressRange.isLoopback(host: settings.host) else {
            throw LocalWebPushError.notLoopback(host: settings.host)
        }
        let wasStarted = state.withLock { state in
            defer { state.wasStarted = true }
            return state.wasStarted
        }
        guard !wasStarted else { throw LocalWebPushError.alreadyStarted }
        let server: any Channel
        do {
            server = try await bootstrap().bind(host: settings.host, port: settings.port).get()
        } catch {
            throw LocalWebPushError.cannotListen(host: settings.host, port: settings.port, cause: "\(error)")
        }
        let port = server.localAddress?.port ?? settings.port
        core.with { $0.origin = settings.origin(port: port) }
        let isShutDown = state.withLock { state in
            state.server = server
            return state.isShutDown
        }
        if isShutDown { try? await server.close() }
        logger.info("The local push service listens", metadata: ["host": "\(settings.host)", "port": "\(port)"])
        return port
    }

    /// Ends every connection; one that comes while it ends is closed at once.
    func shutdown() async {
        let server = state.withLock { state in
            state.isShutDown = true
            return state.server
        }
        try? await server?.close()
        core.closeAll(.goingAway)
        let connections = state.withLock { Array($0.connections.values) }
        for connection in connections {
            connection.eventLoop.execute { connection.pipeline.fireUserInboundEventTriggered(PushShutdown()) }
        }
        for connection in connections { try? await connection.closeFuture.get() }
    }

    private func bootstrap() -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                guard self.add(channel) else { return channel.close() }
                return channel.eventLoop.makeCompletedFuture { try self.configure(channel.pipeline.syncOperations) }
            }
    }

    /// Returns whether the connection is welcome.
    private func add(_ channel: any Channel) -> Bool {
        let (limit, refuses) = (core.settings.bounds.connections, core.refusesConnections)
        let isWelcome = state.withLock { state in
            guard !state.isShutDown, !refuses, state.connections.count < limit else { return false }
            state.connections[ObjectIdentifier(channel)] = channel
            return true
        }
        guard isWelcome else { return false }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { $0.connections[ObjectIdentifier(channel)] = nil }
        }
        return true
    }

    private func configure(_ pipeline: ChannelPipeline.SynchronousOperations) throws {
        let handler = SenderHTTPHandler(core: core)
        let bound = NIOLoopBound(handler, eventLoop: pipeline.eventLoop)
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: true,
            withServerUpgrade: (
                upgraders: [upgrader()],
                completionHandler: { context in context.pipeline.syncOperations.removeHandler(bound.value, promise: nil) }
            ), withErrorHandling: true)
        try pipeline.addHandler(handler)
    }

    /// Browsers connect at the root. The subprotocol is answered when it is offered, and nothing insists on it
    /// (Reference/WebPush.md#6).
    private func upgrader() -> NIOWebSocketServerUpgrader {
        let (core, logger) = (core, logger)
        let limit = core.settings.bounds.browserMessage
        return NIOWebSocketServerUpgrader(
            maxFrameSize: limit, automaticErrorHandling: false,
            shouldUpgrade: { channel, head in
                var headers = HTTPHeaders()
                if head.headers[canonicalForm: "sec-websocket-protocol"].contains("push-notification") {
                    headers.add(name: "sec-websocket-protocol", value: "push-notification")
                }
                return channel.eventLoop.makeSucceededFuture(head.uri == "/" ? headers : nil)
            },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(
                        NIOWebSocketFrameAggregator(
                            minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 64, maxAccumulatedFrameSize: limit))
                    try pipeline.addHandler(BrowserSocketHandler(core: core, logger: logger))
                }
            })
    }
}

/// The service ends: an event in the pipeline of each connection.
struct PushShutdown: Sendable {}

/// Runs something on an event loop when a time of the service's clock has passed.
enum LoopTimer {
    static func start(
        _ delay: Duration, on eventLoop: any EventLoop, clock: any ServiceClock, _ body: @escaping @Sendable () -> Void
    ) -> Task<Void, Never> {
        Task {
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            eventLoop.execute(body)
        }
    }
}
