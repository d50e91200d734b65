import NIOCore
import NIOHTTP1

/// Tells the connection's guard where requests and answers begin and end. Stands behind the decoder.
final class RequestBoundaries: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let connection: ConnectionGuard

    init(connection: ConnectionGuard) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): connection.headEnded(expectsContinue: Self.expectsContinue(head))
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

    /// An older client cannot read an interim answer.
    private static func expectsContinue(_ head: HTTPRequestHead) -> Bool {
        guard (head.version.major, head.version.minor) >= (1, 1) else { return false }
        return head.headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
    }
}
