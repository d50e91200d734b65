import NIOCore
import NIOWebSocket
import ServiceEmulation

/// One connection of a sender.
final class SenderHTTPHandler: LocalHTTPHandler {
    private let core: PushServiceCore

    init(core: PushServiceCore) {
        self.core = core
        super.init(clock: core.clock, keptBody: 8_192, readBody: 1 << 20)
    }

    override func takesBody(of request: LocalRequest) -> Bool { !core.failsInBody(SenderRequest(request)) }

    override func serve(_ request: LocalRequest) {
        guard let answer = core.judge(SenderRequest(request)) else { return close() }
        send(status: answer.status, headers: answer.headers, body: answer.body)
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
