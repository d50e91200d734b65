import NIOCore

/// Ends a connection of HTTP/2 on which nothing is asked for too long, whether or not its client says good-bye when it is told to.
/// Each of its streams has a guard of its own, which tells this one when it comes and goes.
final class HTTP2ConnectionGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let limit: TimeAmount
    private var idleness: HTTP2Idleness?
    private var timer: Scheduled<Void>?
    private var context: ChannelHandlerContext?

    init(limits: ConnectionLimits) { limit = limits.idleTime + limits.lingerTime }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        idleness = HTTP2Idleness(limit: limit, at: context.eventLoop.now)
        schedule()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        self.context = nil
    }

    func streamOpened() { idleness?.streamOpened() }

    func streamClosed() {
        guard let context else { return }
        idleness?.streamClosed(at: context.eventLoop.now)
        schedule()
    }

    /// A timer that is set too early looks, finds nothing and is set again.
    private func schedule() {
        guard timer == nil, let context, let deadline = idleness?.deadline else { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in
            guard let self, let context = self.context else { return }
            self.timer = nil
            guard self.idleness?.isOver(at: context.eventLoop.now) == true else { return self.schedule() }
            context.close(promise: nil)
        }
    }
}
