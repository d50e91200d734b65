import NIOCore
import NIOHTTP1
import RichPushModel
import WireText

/// A request of HTTP, as it arrived at a local service.
public struct LocalRequest: Sendable {
    public var method: String
    /// With its query.
    public var target: String
    public var headers: [(name: String, value: String)]
    /// What was read of the body: nothing of one that is too long.
    public var body: [UInt8]
    /// How long the body is, also where it is too long to be kept.
    public var bodySize: Int
    public var isHTTP2: Bool

    /// - Parameter bodySize: `nil` for a body that was read whole.
    public init(
        method: String = "POST", target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        bodySize: Int? = nil, isHTTP2: Bool = false
    ) {
        (self.method, self.target, self.headers, self.body, self.isHTTP2) = (method, target, headers, body, isHTTP2)
        self.bodySize = bodySize ?? body.count
    }

    /// The value of a header, in any case. One that came twice is one list (RFC 9110, section 5.3), so it breaks each rule about
    /// single values.
    public func header(_ name: String) -> String? {
        var found: String?
        for header in headers where header.name.utf8.count == name.utf8.count && header.name.lowercased() == name {
            let value = header.value.trimmingBlanks
            found = found.map { $0 + ", " + value } ?? value
        }
        return found
    }

    /// Takes in a piece of the body. Of one that is longer than `limit` nothing is kept.
    public mutating func append(_ piece: ByteBuffer, limit: Int) {
        bodySize += piece.readableBytes
        if bodySize <= limit { body += piece.readableBytesView } else { body = [] }
    }
}

/// One connection over HTTP/1.1 to a local service: requests in, answers out, one at a time. Lives on its event loop.
///
/// A service overrides `serve`.
open class LocalHTTPHandler: ChannelInboundHandler, RemovableChannelHandler {
    public typealias InboundIn = HTTPServerRequestPart
    public typealias OutboundOut = HTTPServerResponsePart

    /// A client that sends nothing for so long has gone away. An answer may be held up as long.
    private static let longestSilence: Duration = .seconds(60)

    private let clock: any ServiceClock
    private let keptBody: Int
    private let readBody: Int
    private var request: LocalRequest?
    private var hasHeadAlone = false
    private var watch: Task<Void, Never>?
    private var context: ChannelHandlerContext?
    /// Whether another request may follow.
    public var isKeptAlive = true

    /// - Parameters:
    ///   - keptBody: what a request has of a body at most.
    ///   - readBody: beyond it a body is not read to the end.
    public init(clock: any ServiceClock, keptBody: Int, readBody: Int) {
        (self.clock, self.keptBody, self.readBody) = (clock, keptBody, readBody)
    }

    /// Answers a request, by `send` or `close`.
    open func serve(_ request: LocalRequest) {}

    /// Whether a request whose body begins is welcome. The connection ends for others.
    open func takesBody(of request: LocalRequest) -> Bool { true }

    public func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        watchAnew()
    }

    public func handlerRemoved(context: ChannelHandlerContext) { leave() }

    public func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    private func leave() {
        watch?.cancel()
        context = nil
    }

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            (isKeptAlive, hasHeadAlone) = (head.isKeepAlive, head.method == .HEAD)
            request = LocalRequest(
                method: head.method.rawValue, target: head.uri, headers: head.headers.map { ($0.name, $0.value) })
        case .body(let piece): receive(piece)
        case .end:
            guard let request else { return }
            self.request = nil
            serve(request)
            watchAnew()
        }
    }

    private func receive(_ piece: ByteBuffer) {
        guard var request else { return }
        let isWelcome = request.bodySize > 0 || takesBody(of: request)
        self.request = nil
        request.append(piece, limit: keptBody)
        guard isWelcome, request.bodySize <= readBody else { return close() }
        self.request = request
    }

    open func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
    }

    open func errorCaught(context: ChannelHandlerContext, error: any Error) { close() }

    /// Ends the connection.
    public func close() { context?.close(promise: nil) }

    /// Answers; of an answer that is not whole, half of the body comes and then nothing.
    public func send(status: Int, headers: [(name: String, value: String)], body: String, isWhole: Bool = true) {
        guard let context else { return }
        var fields = HTTPHeaders(headers.map { ($0.name, $0.value) })
        var content = ByteBuffer(string: body)
        // A 204 has no body and so no length (RFC 9110, section 8.6).
        if status != 204 { fields.add(name: "content-length", value: "\(content.readableBytes)") }
        if !isKeptAlive { fields.add(name: "connection", value: "close") }
        if !isWhole { content = content.getSlice(at: content.readerIndex, length: content.readableBytes / 2) ?? ByteBuffer() }
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if content.readableBytes > 0, !hasHeadAlone {
            context.write(wrapOutboundOut(.body(.byteBuffer(content))), promise: nil)
        }
        guard isWhole else { return context.flush() }
        let (written, isLast) = (context.writeAndFlush(wrapOutboundOut(.end(nil))), !isKeptAlive)
        if isLast { written.assumeIsolated().whenComplete { _ in self.close() } }
    }

    /// Does something later, unless the connection has ended by then.
    public func wait(_ delay: Duration, _ body: @escaping @Sendable (LocalHTTPHandler) -> Void) {
        _ = LoopTimer.start(delay, of: self, in: context, clock: clock, body)
    }

    private func watchAnew() {
        watch?.cancel()
        watch = LoopTimer.start(Self.longestSilence, of: self, in: context, clock: clock) { $0.close() }
    }
}
