import NIOCore

/// Counts the bytes that are handed to the socket. Under TLS they are more than those that were handed to TLS.
final class WireCount: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private(set) var written: UInt64 = 0

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        written += UInt64(unwrapOutboundIn(data).readableBytes)
        context.write(data, promise: promise)
    }
}
