import NIOCore
import NIOHPACK
import NIOHTTP2

/// The event-loop half of `WireClient`.
final class WireClientHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    struct Ended: Error, Equatable {
        var code: String
    }

    private struct Pending {
        var promise: EventLoopPromise<WireClient.Answer>
        var answer = WireClient.Answer(status: "", headers: [:], body: "")
    }

    private let earlyRequests: [WireClient.Request]
    private(set) var early: [EventLoopFuture<WireClient.Answer>] = []
    private(set) var observation = WireClient.Observation()
    private var pending: [HTTP2StreamID: Pending] = [:]
    private var next = 1
    private var context: ChannelHandlerContext?

    init(early: [WireClient.Request]) { earlyRequests = early }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func channelActive(context: ChannelHandlerContext) {
        early = earlyRequests.map(send)
        context.fireChannelActive()
    }

    func send(_ request: WireClient.Request) -> EventLoopFuture<WireClient.Answer> {
        guard let context else { preconditionFailure("not connected") }
        let promise = context.eventLoop.makePromise(of: WireClient.Answer.self)
        let stream = HTTP2StreamID(next)
        next += 2
        pending[stream] = Pending(promise: promise)
        let headers = HPACKHeaders(request.headers)
        let head = HTTP2Frame(streamID: stream, payload: .headers(.init(headers: headers, endStream: request.body == nil)))
        context.write(wrapOutboundOut(head), promise: nil)
        if let body = request.body {
            let data = HTTP2Frame.FramePayload.Data(data: .byteBuffer(ByteBuffer(string: body)), endStream: true)
            context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: .data(data))), promise: nil)
        }
        context.flush()
        return promise.futureResult
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let content):
            for (name, value, _) in content.headers { pending[frame.streamID]?.answer.headers[name] = value }
            pending[frame.streamID]?.answer.status = content.headers.first(name: ":status") ?? ""
            if content.endStream { finish(frame.streamID) }
        case .data(let content):
            if case .byteBuffer(let bytes) = content.data {
                pending[frame.streamID]?.answer.body += String(buffer: bytes)
            }
            if content.endStream { finish(frame.streamID) }
        case .settings(.settings(let settings)):
            observation.settings.append(settings.map { "\(Self.name($0.parameter))=\($0.value)" })
        case .goAway(let last, let code, let data):
            observation.order.append("goAway")
            observation.goAways.append((Int(last), code, data.map { String(buffer: $0) } ?? ""))
        case .rstStream(let code): observation.resets.append((Int(frame.streamID), code))
        default: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? StreamClosedEvent, let reason = event.reason {
            pending.removeValue(forKey: event.streamID)?.promise.fail(Ended(code: "\(reason)"))
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        for pending in pending.values { pending.promise.fail(error) }
        pending.removeAll()
    }

    func channelInactive(context: ChannelHandlerContext) {
        for pending in pending.values { pending.promise.fail(Ended(code: "closed")) }
        pending.removeAll()
        context.fireChannelInactive()
    }

    private func finish(_ stream: HTTP2StreamID) {
        guard let done = pending.removeValue(forKey: stream) else { return }
        observation.order.append(done.answer.status)
        done.promise.succeed(done.answer)
    }

    private static func name(_ parameter: HTTP2SettingsParameter) -> String {
        switch parameter {
        case .headerTableSize: "table"
        case .maxConcurrentStreams: "streams"
        case .initialWindowSize: "window"
        case .maxFrameSize: "frame"
        case .maxHeaderListSize: "headers"
        default: "other"
        }
    }
}
