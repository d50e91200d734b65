import NIOCore
import ServiceErrors

/// The one timer of a guard. One that is set too early looks, finds nothing and is set again: so most requests cost none.
struct GuardTimer {
    private var pending: (at: NIODeadline, task: Scheduled<Void>)?

    /// Has `look` called at the deadline, unless it will be called before. Call it on the loop.
    mutating func set(_ deadline: NIODeadline?, on loop: any EventLoop, _ look: @escaping () -> Void) {
        guard let deadline else { return }
        if let pending, pending.at <= deadline { return }
        pending?.task.cancel()
        pending = (deadline, loop.assumeIsolated().scheduleTask(deadline: deadline, look))
    }

    /// The timer has fired and may be set again.
    mutating func fired() { pending = nil }

    mutating func cancel() {
        pending?.task.cancel()
        pending = nil
    }
}

extension ChannelHandlerContext {
    /// Ends the stream of a body that is late, so that the handler of the request answers, and the channel soon after.
    func endLateBody(_ metrics: ConnectionMetrics, linger: TimeAmount) {
        metrics.closed(.body)
        fireErrorCaught(ServiceError(.requestTimeout, "the body did not arrive in time"))
        let channel = channel
        eventLoop.scheduleTask(in: linger) { channel.close(promise: nil) }
    }
}
