import NIOCore
import NIOHTTP2

/// Lets a client send longer header lists than the engine's 16 KiB, so that `ServiceResponder` can answer one that is too long.
///
/// The engine closes the connection for a list beyond its limit, with all its other streams; RFC 9113, 10.5.1 allows that and
/// prefers an answer. Its limit is the one that was announced, and counts once the client has acknowledged it: only what comes with
/// a connection's first bytes still meets the small one.
final class HeaderListAllowance: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// In bytes, with 32 for each field (RFC 9113, 6.5.2): twice what is accepted.
    static let announced = 128 << 10

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { announce(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        announce(context)
        context.fireChannelActive()
    }

    private func announce(_ context: ChannelHandlerContext) {
        let settings = [HTTP2Setting(parameter: .maxHeaderListSize, value: Self.announced)]
        context.write(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: .settings(.settings(settings)))), promise: nil)
        // Now would read, too, while others still set up the connection. Later would be after the first request.
        let channel = context.channel
        context.eventLoop.execute { channel.flush() }
    }
}
