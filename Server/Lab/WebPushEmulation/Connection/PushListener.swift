import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import NIOTLS
import NIOWebSocket
import ServiceEmulation

/// Accepts connections: one port serves senders by HTTP/1.1 and browsers by WebSocket. With TLS senders may choose HTTP/2.
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
        let port = try await listener.start(isOpen: { [core] in !core.refusesConnections }) { () throws(LocalWebPushError) in
            guard let tls = try tlsContext() else {
                return { channel in try self.speakHTTP1(on: channel.pipeline.syncOperations) }
            }
            return { channel in try self.negotiate(on: channel.pipeline.syncOperations, tls) }
        }
        core.with { $0.origin = settings.origin(port: port) }
        logger.info("The local push service listens", metadata: ["host": "\(settings.host)", "port": "\(port)"])
        return port
    }

    /// Ends every connection.
    func shutdown() async {
        core.closeAll(.goingAway)
        let isSecure = core.settings.identity != nil
        await listener.shutdown { connection in
            connection.eventLoop.execute {
                connection.pipeline.fireUserInboundEventTriggered(PushShutdown())
                // One of HTTP/2, or in its handshake, has no handler for that.
                if isSecure { connection.close(promise: nil) }
            }
        }
    }

    private func tlsContext() throws(LocalWebPushError) -> NIOSSLContext? {
        guard let identity = core.settings.identity else { return nil }
        do {
            let chain = try NIOSSLCertificate.fromPEMBytes(Array(identity.certificatePEM.utf8))
            let key = try NIOSSLPrivateKey(bytes: Array(identity.privateKeyPEM.utf8), format: .pem)
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            tls.minimumTLSVersion = .tlsv12
            tls.applicationProtocols = core.settings.speaksHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
            tls.shutdownTimeout = .milliseconds(500)
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw .badIdentity(cause: "\(error)")
        }
    }

    private func negotiate(on pipeline: ChannelPipeline.SynchronousOperations, _ tls: NIOSSLContext) throws {
        try pipeline.addHandler(NIOSSLServerHandler(context: tls))
        // A client that names no protocol speaks HTTP/1.1.
        try pipeline.addHandler(
            ApplicationProtocolNegotiationHandler { result, channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if result == .negotiated("h2") {
                        try self.speakHTTP2(on: pipeline)
                    } else {
                        try self.speakHTTP1(on: pipeline)
                    }
                }
            })
    }

    /// Each request is a stream with a handler of its own. Browsers connect by HTTP/1.1.
    private func speakHTTP2(on pipeline: ChannelPipeline.SynchronousOperations) throws {
        let core = core
        let end = NIOLoopBoundBox(HTTP2StreamID.maxID, eventLoop: pipeline.eventLoop)
        _ = try pipeline.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                let id = try stream.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)
                let place = id.flatMap { id in
                    stream.parent.map { SenderHTTPHandler.Stream(id: id, connection: $0, end: end) }
                }
                let handler = SenderHTTPHandler(core: core, stream: place)
                try stream.pipeline.syncOperations.addHandlers([HTTP2FramePayloadToHTTP1ServerCodec(), handler])
            }
        }
    }

    private func speakHTTP1(on pipeline: ChannelPipeline.SynchronousOperations) throws {
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
