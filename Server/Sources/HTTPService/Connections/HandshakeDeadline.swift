import NIOCore
import NIOTLS

/// Ends a connection whose TLS handshake takes too long.
final class HandshakeDeadline: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let limit: TimeAmount
    private let metrics: ConnectionMetrics
    private var timer: Scheduled<Void>?

    init(limit: TimeAmount, metrics: ConnectionMetrics) {
        self.limit = limit
        self.metrics = metrics
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: limit) { [metrics] in
            metrics.closed(.head)
            channel.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { timer?.cancel() }
        context.fireUserInboundEventTriggered(event)
    }
}
