import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

extension BrowserSession {
    /// Connects by WebSocket, as Firefox does. Throws `Failure`, or the error of the connection.
    public static func connect(
        _ browser: SimulatedBrowser, host: String, port: Int, group: any EventLoopGroup
    ) async throws -> BrowserSession {
        try await begin(browser, over: try await wire(host: host, port: port, group: group))
    }

    /// Makes a connection on which nothing is said.
    static func wire(host: String, port: Int, group: any EventLoopGroup) async throws -> Wire {
        let (incoming, continuation) = AsyncStream.makeStream(of: Incoming.self, bufferingPolicy: .bufferingNewest(10_000))
        let eventLoop = group.next()
        let upgraded = eventLoop.makePromise(of: Void.self)
        let channel: any Channel
        do {
            channel = try await ClientBootstrap(group: eventLoop)
                .connectTimeout(.seconds(10))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try configure(
                            channel.pipeline.syncOperations, host: host, port: port, incoming: continuation, upgraded: upgraded)
                    }
                }
                .connect(host: host, port: port).get()
        } catch {
            upgraded.fail(error)
            throw error
        }
        channel.closeFuture.whenComplete { _ in
            continuation.finish()
            upgraded.fail(Failure.closed)
        }
        try await upgraded.futureResult.get()
        // Every frame of a client is masked.
        let send: @Sendable (WebSocketOpcode, ByteBuffer) -> Void = { opcode, data in
            channel.writeAndFlush(WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data), promise: nil)
        }
        return Wire(
            incoming: incoming, send: { send(.text, ByteBuffer(string: $0)) },
            sendBytes: { send(.binary, ByteBuffer(bytes: $0)) }, close: { channel.close(promise: nil) })
    }

    private static func configure(
        _ pipeline: ChannelPipeline.SynchronousOperations, host: String, port: Int, incoming: AsyncStream<Incoming>.Continuation,
        upgraded: EventLoopPromise<Void>
    ) throws {
        let opening = OpeningHandler(host: "\(host):\(port)", upgraded: upgraded)
        let bound = NIOLoopBound(opening, eventLoop: pipeline.eventLoop)
        let upgrader = NIOWebSocketClientUpgrader(
            maxFrameSize: 1 << 20,
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    // The service takes up the subprotocol that is offered.
                    guard head.headers["sec-websocket-protocol"] == ["push-notification"] else { throw Failure.closed }
                    try channel.pipeline.syncOperations.addHandler(FrameHandler(incoming: incoming))
                    upgraded.succeed()
                }
            })
        try pipeline.addHTTPClientHandlers(
            withClientUpgrade: (
                upgraders: [upgrader],
                completionHandler: { context in context.pipeline.syncOperations.removeHandler(bound.value, promise: nil) }
            ))
        try pipeline.addHandler(opening)
    }

    /// Asks for the upgrade. An answer of another kind ends the connection.
    private final class OpeningHandler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias OutboundOut = HTTPClientRequestPart

        private let host: String
        private let upgraded: EventLoopPromise<Void>

        init(host: String, upgraded: EventLoopPromise<Void>) { (self.host, self.upgraded) = (host, upgraded) }

        func channelActive(context: ChannelHandlerContext) {
            let headers: HTTPHeaders = [
                "host": host, "content-length": "0", "sec-websocket-protocol": "push-notification",
            ]
            context.write(
                wrapOutboundOut(.head(.init(version: .http1_1, method: .GET, uri: "/", headers: headers))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            context.fireChannelActive()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            upgraded.fail(Failure.closed)
            context.close(promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            upgraded.fail(error)
            context.close(promise: nil)
        }
    }

    /// Passes text frames on, answers pings and close frames.
    private final class FrameHandler: ChannelInboundHandler {
        typealias InboundIn = WebSocketFrame
        typealias OutboundOut = WebSocketFrame

        private let incoming: AsyncStream<Incoming>.Continuation

        init(incoming: AsyncStream<Incoming>.Continuation) { self.incoming = incoming }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = unwrapInboundIn(data)
            switch frame.opcode {
            case .text: incoming.yield(.text(String(buffer: frame.unmaskedData)))
            case .ping: answer(.pong, frame, in: context)
            case .connectionClose:
                var data = frame.unmaskedData
                if let code = data.readInteger(as: UInt16.self) { incoming.yield(.closed(code)) }
                answer(.connectionClose, frame, in: context)
                context.close(promise: nil)
            default: break
            }
        }

        private func answer(_ opcode: WebSocketOpcode, _ frame: WebSocketFrame, in context: ChannelHandlerContext) {
            let answer = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            incoming.finish()
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
