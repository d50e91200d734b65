import Logging
import NIOCore
import NIOHTTP1
import NIOWebSocket
import ServiceEmulation

/// Accepts connections: one port serves senders by HTTP/1.1 and browsers by WebSocket.
final class PushListener: Sendable {
    let core: PushServiceCore
    let logger: Logger
    private let listener: LocalListener<LocalWebPushError>

    init(core: PushServiceCore, group: any EventLoopGroup, logger: Logger) {
        (self.core, self.logger) = (core, logger)
        let settings = core.settings
        listener = LocalListener(
            host: settings.host, port: settings.port, allowsRemoteClients: settings.allowsRemoteClients,
            limit: settings.bounds.connections, group: group)
    }

    /// Returns the port that it got.
    func start() async throws(LocalWebPushError) -> Int {
        let settings = core.settings
        let port = try await listener.start(isOpen: { [core] in !core.refusesConnections }) {
            { channel in try self.configure(channel.pipeline.syncOperations) }
        }
        core.with { $0.origin = settings.origin(port: port) }
        logger.info("The local push service listens", metadata: ["host": "\(settings.host)", "port": "\(port)"])
        return port
    }

    /// Ends every connection.
    func shutdown() async {
        core.closeAll(.goingAway)
        await listener.shutdown { connection in
            connection.eventLoop.execute { connection.pipeline.fireUserInboundEventTriggered(PushShutdown()) }
        }
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
