import NIOCore

/// Answers a connection that is one too many, before it can say what it wants.
final class ConnectionRefusal: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
        let answer = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        context.fireChannelActive()
        context.close(promise: nil)
    }

    /// Nothing of it is looked at.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}
