import NIOCore

/// The timers of a connection.
extension APNsConnectionHandler {
    /// From TCP to the first SETTINGS.
    func scheduleHandshakeLimit(_ context: ChannelHandlerContext) {
        watch = context.eventLoop.assumeIsolated().scheduleTask(in: configuration.handshakeLimit) { self.close(.unreachable) }
    }

    /// Replaces the handshake limit by the watch over liveness and idleness.
    func scheduleWatch() {
        watch?.cancel()
        lookAfter()
    }

    private func lookAfter() {
        guard let context else { return }
        let now = now
        switch connection.watch(at: now) {
        case .dead: close(.connectionClosed)
        case .stuck:
            tellStuck()
            if !isOver { watchAgain(context, at: now + configuration.longestWatch) }
        case .again(let next):
            if inFlight == 0, now - lastUse >= configuration.idleLimit {
                tellIdle()
                return drain(within: .zero)
            }
            flushControl(context)
            let due = inFlight == 0 ? max(next, lastUse + configuration.idleLimit) : next
            watchAgain(context, at: min(due, now + configuration.longestWatch))
        }
    }

    private func watchAgain(_ context: ChannelHandlerContext, at deadline: NIODeadline) {
        watch = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.lookAfter() }
    }

    private func flushControl(_ context: ChannelHandlerContext) {
        guard connection.output.readableBytes > 0 else { return }
        context.writeAndFlush(wrapOutboundOut(connection.takeOutput()), promise: nil)
    }
}
