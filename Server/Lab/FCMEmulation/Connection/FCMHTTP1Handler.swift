import NIOCore
import NIOHTTP1
import ServiceEmulation

/// One connection over HTTP/1.1: requests in, answers out, one at a time. Lives on its event loop.
final class FCMHTTP1Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// A client that sends nothing for so long has gone away. A fault may hold an answer up as long.
    private static let longestSilence: Duration = .seconds(60)
    /// Beyond it a body is not read to the end.
    private static let readBody = 4 * GoogleRequest.largestBody

    private let core: FCMServiceCore
    private var request: GoogleRequest?
    private var isKeptAlive = true
    private var watch: Task<Void, Never>?
    private var context: ChannelHandlerContext?

    init(core: FCMServiceCore) { self.core = core }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        watchAnew()
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    private func leave() {
        watch?.cancel()
        context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            // An answer to HEAD would need to leave its body out, which is not worth a rule here.
            isKeptAlive = head.isKeepAlive && head.method != .HEAD
            request = GoogleRequest(
                method: head.method.rawValue, target: head.uri, headers: head.headers.map { ($0.name, $0.value) })
        case .body(let piece):
            request?.append(piece)
            if request?.bodySize ?? 0 > Self.readBody { context.close(promise: nil) }
        case .end:
            guard let request else { return }
            self.request = nil
            finish(request)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func finish(_ request: GoogleRequest) {
        let verdict = core.handle(request)
        watchAnew()
        switch verdict.fault {
        case .delay(let milliseconds): wait(.milliseconds(milliseconds)) { $0.send(verdict.answer) }
        case .goAway(processed: true):
            isKeptAlive = false
            send(verdict.answer)
        case .goAway(processed: false), .resetStream, .loseAnswer: context?.close(promise: nil)
        case .stall: break
        case .halfAnswer: send(verdict.answer, isWhole: false)
        case .tooManyRequests, .unavailable, .serverError, .badGateway, .refusal, .revokeTokens, nil: send(verdict.answer)
        }
    }

    private func send(_ answer: GoogleAnswer, isWhole: Bool = true) {
        guard let context else { return }
        var headers = HTTPHeaders(answer.headers.map { ($0.name, $0.value) })
        var body = ByteBuffer(string: answer.body)
        headers.add(name: "content-length", value: "\(body.readableBytes)")
        if !isKeptAlive { headers.add(name: "connection", value: "close") }
        let status = HTTPResponseStatus(statusCode: answer.status)
        context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))), promise: nil)
        if !isWhole { body = body.getSlice(at: body.readerIndex, length: body.readableBytes / 2) ?? ByteBuffer() }
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        guard isWhole else { return }
        let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if !isKeptAlive { written.assumeIsolated().whenComplete { _ in self.context?.close(promise: nil) } }
    }

    @discardableResult
    private func wait(_ delay: Duration, _ body: @escaping @Sendable (FCMHTTP1Handler) -> Void) -> Task<Void, Never>? {
        LoopTimer.start(delay, of: self, in: context, clock: core.clock, body)
    }

    private func watchAnew() {
        watch?.cancel()
        watch = wait(Self.longestSilence) { $0.context?.close(promise: nil) }
    }
}

extension GoogleRequest {
    /// Takes in a piece of the body; of one that is too long nothing is kept.
    mutating func append(_ piece: ByteBuffer) {
        bodySize += piece.readableBytes
        if bodySize <= Self.largestBody { body += piece.readableBytesView } else { body = [] }
    }
}
