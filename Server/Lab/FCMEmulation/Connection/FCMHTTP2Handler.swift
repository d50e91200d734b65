import NIOCore
import NIOHPACK
import NIOHTTP2
import ServiceEmulation

/// One connection over HTTP/2: frames in, requests judged by the service, frames out. Lives on its event loop.
final class FCMHTTP2Handler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// More than a body may have, so that a stream needs no further credit.
    static let streamWindow = 2 * GoogleRequest.largestBody
    /// What the client may send before it has to hear of credit.
    private static let connectionWindow = 4 * GoogleRequest.largestBody
    private static let watchInterval: Duration = .seconds(60)
    /// So many looks a connection lives on which a fault holds everything up.
    private static let longestStall = 10
    /// Between GOAWAY and the end.
    private static let grace: Duration = .seconds(1)

    private let service: LocalFCM
    private var context: ChannelHandlerContext?
    /// Requests that are not answered.
    private var streams: [HTTP2StreamID: GoogleRequest] = [:]
    private var waits: [HTTP2StreamID: Task<Void, Never>] = [:]
    /// Streams that a fault holds open.
    private var held: Set<HTTP2StreamID> = []
    private var watch: Task<Void, Never>?
    private var isLeaving = false
    private var hasCredit = false
    /// Something of a request came since the last look, and how many looks saw nothing.
    private var wasActive = true
    private var silentWatches = 0

    init(service: LocalFCM) { self.service = service }

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
        (waits, streams) = ([:], [:])
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let content):
            // Trailers, which gRPC alone has, say nothing here.
            if streams[frame.streamID] == nil, !isLeaving {
                streams[frame.streamID] = GoogleRequest(
                    method: content.headers.first(name: ":method") ?? "", target: content.headers.first(name: ":path") ?? "",
                    headers: content.headers.map { ($0.name, $0.value) }, isHTTP2: true)
            }
            received(on: frame.streamID, isWhole: content.endStream)
        case .data(let content):
            if case .byteBuffer(let piece) = content.data {
                streams[frame.streamID]?.append(piece, limit: GoogleRequest.largestBody)
            }
            received(on: frame.streamID, isWhole: content.endStream)
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
        service.logger.debug("A connection of the local FCM met an error", metadata: ["error": "\(error)"])
        if !(error is NIOHTTP2Errors.StreamError) { close() }
    }

    private func close() { context?.close(promise: nil) }

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

    /// The rest of a body that is too long is not waited for: it is refused whatever it says.
    private func received(on stream: HTTP2StreamID, isWhole: Bool) {
        wasActive = true
        guard let request = streams[stream], isWhole || request.bodySize > GoogleRequest.largestBody else { return }
        // One that waits or is held was judged before.
        if !isLeaving, waits[stream] == nil, !held.contains(stream) { finish(request, on: stream) }
    }

    private func finish(_ request: GoogleRequest, on stream: HTTP2StreamID) {
        let verdict = service.handle(request)
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
            close()
        case .tooManyRequests, .unavailable, .serverError, .badGateway, .refusal, .revokeTokens, nil:
            send(verdict.answer, on: stream)
        }
    }

    private func send(_ answer: GoogleAnswer, on stream: HTTP2StreamID, isWhole: Bool = true) {
        guard let request = streams[stream] else { return }
        var body = ByteBuffer(string: answer.body)
        let headers = [(":status", "\(answer.status)")] + answer.headers + [("content-length", "\(body.readableBytes)")]
        write(.headers(.init(headers: HPACKHeaders(headers.map { ($0.0, $0.1) }))), on: stream)
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

    /// GOAWAY past the library. After one of its own it takes the connection for ended, and answers what a client has sent by
    /// then, such as an acknowledgement, with PROTOCOL_ERROR.
    private func goAway(_ answer: GoogleAnswer, isProcessed: Bool, on stream: HTTP2StreamID) {
        if isProcessed { send(answer, on: stream) }
        context?.flush()
        context?.pipeline.syncOperations.sendGoAway(last: isProcessed ? Int(stream) : max(0, Int(stream) - 2))
        isLeaving = true
        waits[.rootStream] = wait(Self.grace) { $0.close() }
    }

    private func wait(_ delay: Duration, _ body: @escaping @Sendable (FCMHTTP2Handler) -> Void) -> Task<Void, Never>? {
        LoopTimer.start(delay, of: self, in: context, clock: service.clock, body)
    }

    /// Ends a connection on which nothing happens, and later one on which only a fault holds something up.
    private func watchLater() {
        watch = wait(Self.watchInterval) { handler in
            handler.silentWatches = handler.wasActive ? 0 : handler.silentWatches + 1
            handler.wasActive = false
            let isStalled = !handler.waits.isEmpty || !handler.held.isEmpty
            if handler.silentWatches >= (isStalled ? Self.longestStall : 1) { handler.close() } else { handler.watchLater() }
        }
    }
}
