import NIOCore
import NIOHTTP1

/// Tells the connection's guard where requests and answers begin and end, and refuses heads that break the protocol. Stands behind the
/// decoder.
///
/// A refused head is passed on as an error of the parser: the requests before it are answered, then comes one 400, and the connection
/// ends. Nothing behind it is looked at.
final class RequestBoundaries: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let connection: ConnectionGuard
    private var isRefused = false

    init(connection: ConnectionGuard) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            guard RequestHeadCheck.accepts(&head) else { return refuse(context) }
            connection.headEnded(expectsContinue: Self.expectsContinue(head))
            return context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body(let bytes): connection.receivedBody(bytes.readableBytes)
        case .end: connection.requestEnded()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        if case .head(let head) = part, head.status.code >= 200 { connection.answerBegan() }
        context.write(data, promise: promise)
        if case .end = part { connection.answerEnded() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isRefused { context.fireErrorCaught(error) }
    }

    private func refuse(_ context: ChannelHandlerContext) {
        isRefused = true
        connection.requestRefused()
        context.fireErrorCaught(HTTPParserError.unknown)
    }

    /// An older client cannot read an interim answer.
    private static func expectsContinue(_ head: HTTPRequestHead) -> Bool {
        guard (head.version.major, head.version.minor) >= (1, 1) else { return false }
        return head.headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
    }
}
