import Logging
import NIOCore
import NIOHPACK
import NIOHTTP2
import ServiceEmulation

/// One connection over HTTP/2: frames in, requests judged by the core, frames out. Lives on its event loop.
final class FCMHTTP2Handler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// More than a body may have, so that a stream needs no further credit.
    static let streamWindow = 2 * GoogleRequest.largestBody
    /// What the client may send before it has to hear of credit.
    private static let connectionWindow = 4 * GoogleRequest.largestBody
    /// How often it is looked whether something happens.
    private static let watchInterval: Duration = .seconds(60)
    /// So long a connection lives on which a fault holds everything up.
    private static let longestStall = 10
    /// Between GOAWAY and the end.
    private static let grace: Duration = .seconds(1)

    private let core: FCMServiceCore
    private let logger: Logger
    private var context: ChannelHandlerContext?
    /// Requests that are not answered.
    private var streams: [HTTP2StreamID: GoogleRequest] = [:]
    /// Answers that come later.
    private var waits: [HTTP2StreamID: Task<Void, Never>] = [:]
    /// Streams that a fault holds open.
    private var held: Set<HTTP2StreamID> = []
    private var watch: Task<Void, Never>?
    private var isLeaving = false
    /// Something of a request came since the last look.
    private var wasActive = true
    private var silentWatches = 0
    private var hasCredit = false

    init(core: FCMServiceCore, logger: Logger) { (self.core, self.logger) = (core, logger) }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        watchLater()
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    private func leave() {
        context = nil
        watch?.cancel()
        for wait in waits.values { wait.cancel() }
        waits.removeAll()
        streams.removeAll()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let content):
            wasActive = true
            // Trailers, which gRPC alone has, say nothing here.
            if streams[frame.streamID] == nil, !isLeaving { streams[frame.streamID] = Self.request(content.headers) }
            if content.endStream { finish(frame.streamID) }
        case .data(let content):
            wasActive = true
            if case .byteBuffer(let piece) = content.data { receive(piece, on: frame.streamID) }
            if content.endStream { finish(frame.streamID) }
        default: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !hasCredit {
            hasCredit = true
            write(.windowUpdate(windowSizeIncrement: Self.connectionWindow - 65_535), on: .rootStream)
        }
        context.flush()
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as StreamClosedEvent: forget(event.streamID)
        case let event as NIOHTTP2WindowUpdatedEvent where event.streamID == .rootStream: returnCredit(event)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// A stream error leaves the connection alone; anything else ends it.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.debug("A connection of the local FCM met an error", metadata: ["error": "\(error)"])
        if !(error is NIOHTTP2Errors.StreamError) { context.close(promise: nil) }
    }

    private func forget(_ stream: HTTP2StreamID) {
        streams[stream] = nil
        held.remove(stream)
        waits.removeValue(forKey: stream)?.cancel()
    }

    private func returnCredit(_ event: NIOHTTP2WindowUpdatedEvent) {
        guard let window = event.inboundWindowSize, hasCredit, window < Self.connectionWindow / 2 else { return }
        write(.windowUpdate(windowSizeIncrement: Self.connectionWindow - window), on: .rootStream)
    }

    private func write(_ payload: HTTP2Frame.FramePayload, on stream: HTTP2StreamID) {
        context?.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
    }

    // MARK: Requests

    private static func request(_ headers: HPACKHeaders) -> GoogleRequest {
        var request = GoogleRequest(method: "", target: "", isHTTP2: true)
        for (name, value, _) in headers {
            switch name {
            case ":method": request.method = value
            case ":path": request.target = value
            default: request.headers.append((name, value))
            }
        }
        return request
    }

    private func receive(_ piece: ByteBuffer, on stream: HTTP2StreamID) {
        guard streams[stream] != nil else { return }
        streams[stream]?.append(piece)
        // The rest is not waited for: what is too long is refused whatever it says.
        if streams[stream]?.bodySize ?? 0 > GoogleRequest.largestBody { finish(stream) }
    }

    private func finish(_ stream: HTTP2StreamID) {
        // One that waits or is held was judged before.
        guard let request = streams[stream], !isLeaving, waits[stream] == nil, !held.contains(stream) else { return }
        let verdict = core.handle(request)
        switch verdict.fault {
        case .delay(let milliseconds):
            waits[stream] = wait(.milliseconds(milliseconds)) { handler in
                handler.send(verdict.answer, on: stream)
                handler.context?.flush()
            }
        case .goAway(let isProcessed): goAway(verdict.answer, isProcessed: isProcessed, on: stream)
        case .resetStream:
            forget(stream)
            write(.rstStream(.internalError), on: stream)
        case .stall: held.insert(stream)
        case .halfAnswer:
            held.insert(stream)
            send(verdict.answer, on: stream, isWhole: false)
        case .loseAnswer:
            // What was answered before is not taken back.
            context?.flush()
            context?.close(promise: nil)
        case .tooManyRequests, .unavailable, .serverError, .badGateway, .refusal, .revokeTokens, nil:
            send(verdict.answer, on: stream)
        }
    }

    private func send(_ answer: GoogleAnswer, on stream: HTTP2StreamID, isWhole: Bool = true) {
        guard let request = streams[stream] else { return }
        var headers = HPACKHeaders()
        headers.add(name: ":status", value: "\(answer.status)")
        for (name, value) in answer.headers { headers.add(name: name, value: value) }
        var body = ByteBuffer(string: answer.body)
        headers.add(name: "content-length", value: "\(body.readableBytes)")
        write(.headers(.init(headers: headers)), on: stream)
        if !isWhole { body = body.getSlice(at: body.readerIndex, length: body.readableBytes / 2) ?? ByteBuffer() }
        write(.data(.init(data: .byteBuffer(body), endStream: isWhole)), on: stream)
        guard isWhole else { return }
        forget(stream)
        // Of a body that is too long the rest is not wanted.
        if request.bodySize > GoogleRequest.largestBody {
            context?.flush()
            write(.rstStream(.noError), on: stream)
        }
    }

    private func goAway(_ answer: GoogleAnswer, isProcessed: Bool, on stream: HTTP2StreamID) {
        if isProcessed { send(answer, on: stream) }
        context?.flush()
        context?.pipeline.syncOperations.sendGoAway(last: isProcessed ? Int(stream) : max(0, Int(stream) - 2))
        isLeaving = true
        waits[.rootStream] = wait(Self.grace) { $0.context?.close(promise: nil) }
    }

    // MARK: Time

    private func wait(_ delay: Duration, _ body: @escaping @Sendable (FCMHTTP2Handler) -> Void) -> Task<Void, Never>? {
        LoopTimer.start(delay, of: self, in: context, clock: core.clock, body)
    }

    /// Ends a connection on which nothing happens, and later one on which only a fault holds something up.
    private func watchLater() {
        watch = wait(Self.watchInterval) { handler in
            handler.silentWatches = handler.wasActive ? 0 : handler.silentWatches + 1
            handler.wasActive = false
            let isStalled = !handler.waits.isEmpty || !handler.held.isEmpty
            if handler.silentWatches >= (isStalled ? Self.longestStall : 1) {
                handler.context?.close(promise: nil)
            } else {
                handler.watchLater()
            }
        }
    }
}
