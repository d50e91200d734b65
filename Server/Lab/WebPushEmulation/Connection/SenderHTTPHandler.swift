import NIOCore
import NIOHTTP2
import NIOWebSocket
import ServiceEmulation

/// One connection of a sender, or one stream of HTTP/2.
final class SenderHTTPHandler: LocalHTTPHandler {
    /// A stream of HTTP/2.
    struct Stream {
        let id: HTTP2StreamID
        let connection: any Channel
        /// The first stream of the connection that is not taken any more.
        let end: NIOLoopBoundBox<HTTP2StreamID>
    }

    private let core: PushServiceCore
    /// Absent for HTTP/1.1.
    private let stream: Stream?

    init(core: PushServiceCore, stream: Stream? = nil) {
        (self.core, self.stream) = (core, stream)
        super.init(clock: core.clock, keptBody: 8_192, readBody: 1 << 20)
    }

    override func takesBody(of request: LocalRequest) -> Bool { !core.failsInBody(SenderRequest(request)) }

    override func serve(_ request: LocalRequest) {
        if let stream, stream.id >= stream.end.value { return }
        let verdict = core.judge(SenderRequest(request))
        if let answer = verdict.answer { return send(status: answer.status, headers: answer.headers, body: answer.body) }
        guard verdict.endsInOrder, let stream else { return close() }
        stream.end.value = stream.id
        stream.connection.pipeline.syncOperations.sendGoAway(last: max(0, Int(stream.id) - 2))
    }

    override func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is PushShutdown { close() }
        super.userInboundEventTriggered(context: context, event: event)
    }

    override func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An upgrade that is refused is no error of the connection: the request is answered as any other one.
        if !(error is NIOWebSocketUpgradeError) { close() }
    }
}

extension SenderRequest {
    fileprivate init(_ request: LocalRequest) {
        self.init(
            method: request.method, path: request.target, headers: request.headers, body: request.body, bodySize: request.bodySize
        )
    }
}
