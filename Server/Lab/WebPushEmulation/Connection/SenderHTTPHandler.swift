import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOWebSocket
import ServiceEmulation

/// One connection of a sender, or one stream of HTTP/2: requests in, answers out, one at a time. Lives on its event loop.
final class SenderHTTPHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// A sender that sends nothing for so long has gone away.
    private static let timeout: Duration = .seconds(60)
    /// What is read of a body at most. A longer one is counted and thrown away.
    private static let keptBody = 8_192
    /// Beyond it the sender is not read to the end.
    private static let readBody = 1 << 20

    private let core: PushServiceCore
    /// A stream, and the first one of its connection that is not taken any more.
    typealias Stream = (id: HTTP2StreamID, end: NIOLoopBoundBox<HTTP2StreamID>)

    /// Absent for HTTP/1.1.
    private let stream: Stream?
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var bodySize = 0
    private var timer: Task<Void, Never>?
    private var context: ChannelHandlerContext?

    init(core: PushServiceCore, stream: Stream? = nil) { (self.core, self.stream) = (core, stream) }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        wait(in: context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body, bodySize) = (head, [], 0)
        case .body(let piece): receive(piece, in: context)
        case .end: finish(in: context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is PushShutdown { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An upgrade that is refused is no error of the connection: the request is answered as any other one.
        if error is NIOWebSocketUpgradeError { return }
        context.close(promise: nil)
    }

    private func receive(_ piece: ByteBuffer, in context: ChannelHandlerContext) {
        guard let head else { return }
        if bodySize == 0, core.failsInBody(request(head)) { return end(in: context) }
        bodySize += piece.readableBytes
        guard bodySize <= Self.readBody else { return end(in: context) }
        if bodySize <= Self.keptBody { body += piece.readableBytesView } else { body = [] }
    }

    private func end(in context: ChannelHandlerContext) {
        head = nil
        context.close(promise: nil)
    }

    private func request(_ head: HTTPRequestHead) -> SenderRequest {
        SenderRequest(
            method: head.method.rawValue, path: head.uri, headers: head.headers.map { ($0.name, $0.value) }, body: body,
            bodySize: bodySize)
    }

    private func finish(in context: ChannelHandlerContext) {
        guard let head else { return }
        self.head = nil
        if let stream, stream.id >= stream.end.value { return }
        let verdict = core.judge(request(head))
        guard let answer = verdict.answer else {
            guard verdict.endsInOrder, let stream else { return context.close(promise: nil) }
            stream.end.value = stream.id
            context.channel.parent?.pipeline.syncOperations.sendGoAway(last: max(0, Int(stream.id) - 2))
            return
        }
        var headers = HTTPHeaders(answer.headers.map { ($0.name, $0.value) })
        // A 204 has no body and so no length (RFC 9110, section 8.6).
        if answer.status != 204 { headers.add(name: "content-length", value: "\(answer.body.utf8.count)") }
        if !head.isKeepAlive { headers.add(name: "connection", value: "close") }
        let status = HTTPResponseStatus(statusCode: answer.status)
        context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))), promise: nil)
        if !answer.body.isEmpty, head.method != .HEAD {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: answer.body)))), promise: nil)
        }
        let isLast = !head.isKeepAlive
        let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if isLast { written.assumeIsolated().whenComplete { _ in self.context?.close(promise: nil) } }
        wait(in: context)
    }

    /// Ends the connection when nothing comes.
    private func wait(in context: ChannelHandlerContext) {
        timer?.cancel()
        timer = LoopTimer.start(Self.timeout, of: self, in: context, clock: core.clock) { $0.context?.close(promise: nil) }
    }
}
