import NIOCore
import ServiceErrors

/// Keeps one connection to its limits. The handler next to the socket: it sees the bytes, and `RequestBoundaries` behind the
/// decoder reports requests and answers to it.
///
/// A head that is late is answered 408 here, since there is no request yet that a handler could answer. A body that is late ends
/// the body's stream with `request-timeout`, so that the handler of the request answers. Both connections end.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let limits: ConnectionLimits
    private let metrics: ConnectionMetrics
    private let acknowledged: (any Channel) -> EventLoopFuture<UInt64>
    private var progress: ConnectionProgress
    /// What TLS makes of the bytes; absent where they go to the socket as they are.
    private let wire: WireCount?
    private var written: UInt64 = 0
    /// Whether the bytes that are being decoded began, continued or ended a request.
    private var understood = false
    private var timer = GuardTimer()
    private var context: ChannelHandlerContext?

    init(
        limits: ConnectionLimits, metrics: ConnectionMetrics, wire: WireCount? = nil,
        acknowledged: @escaping (any Channel) -> EventLoopFuture<UInt64> = PeerAcknowledgement.bytes
    ) {
        self.limits = limits
        self.metrics = metrics
        self.wire = wire
        self.acknowledged = acknowledged
        progress = ConnectionProgress(limits: limits)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer.cancel()
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        understood = false
        let bytes = unwrapInboundIn(data)
        context.fireChannelRead(data)
        // Empty lines before a request mean nothing (RFC 9112, 2.2); the idle time bounds them.
        if !understood, bytes.readableBytesView.contains(where: { $0 != 0x0D && $0 != 0x0A }) {
            progress.receivedPartOfHead(at: context.eventLoop.now)
        }
        schedule(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        progress.pauses(at: context.eventLoop.now)
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        progress.reads(at: context.eventLoop.now)
        context.read()
        schedule(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { progress.inputClosed() }
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        written += UInt64(unwrapOutboundIn(data).readableBytes)
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        let pending = pendingBytes(context)
        guard pending > 0, progress.waitsToWrite(passed: 0, at: context.eventLoop.now) else { return }
        // From here on what counts is what has moved since; the first look only takes the measure.
        lookAtWriting(context)
        schedule(context)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is WantsBody else { return context.triggerUserOutboundEvent(event, promise: promise) }
        if progress.wantsBody(at: context.eventLoop.now) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: promise)
            schedule(context)
        } else {
            promise?.succeed()
        }
    }
}

/// What the decoder found.
extension ConnectionGuard {
    func headEnded(expectsContinue: Bool) { note { $0.headEnded(expectsContinue: expectsContinue, at: $1) } }

    func receivedBody(_ count: Int) { note { $0.receivedBody(count, at: $1) } }

    /// The client broke the protocol: no more is expected of it. A connection that merely ended early has no fault to count.
    func requestRefused(_ fault: ConnectionMetrics.Fault?) {
        if let fault { metrics.refused(fault) }
        note { progress, _ in progress.inputClosed() }
    }

    /// Closes the connection once the client can have read what was sent: at once would reset it under the last answer.
    func endSoon() {
        guard let channel = context?.channel else { return }
        channel.eventLoop.scheduleTask(in: limits.lingerTime) { channel.close(promise: nil) }
    }

    func requestEnded() { note { progress, _ in progress.requestEnded() } }

    func answerBegan() { note { $0.answerBegan(at: $1) } }

    func answerEnded() {
        note { $0.answerEnded(at: $1) }
        if let context { schedule(context) }
    }

    private func note(_ change: (inout ConnectionProgress, NIODeadline) -> Void) {
        guard let context else { return }
        understood = true
        change(&progress, context.eventLoop.now)
    }
}

/// The one timer, and what happens when it fires.
extension ConnectionGuard {
    private func schedule(_ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        timer.set(progress.deadline, on: context.eventLoop) { [weak self] in
            guard let self, let context = self.context else { return }
            self.timer.fired()
            self.look(context)
        }
    }

    private func look(_ context: ChannelHandlerContext) {
        switch progress.checkReading(at: context.eventLoop.now) {
        case .head?: endLateHead(context)
        case .body?: context.endLateBody(metrics, linger: limits.lingerTime)
        case .write?, nil: break
        }
        lookAtWriting(context)
        schedule(context)
    }

    private func endLateHead(_ context: ChannelHandlerContext) {
        metrics.closed(.head)
        let answer = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        context.close(promise: nil)
    }

    private func lookAtWriting(_ context: ChannelHandlerContext) {
        let left = (wire?.written ?? written) - UInt64(clamping: pendingBytes(context))
        acknowledged(context.channel).assumeIsolated().whenSuccess { [weak self] acknowledged in
            guard let self, let context = self.context else { return }
            let stall = self.progress.checkWriting(
                pending: self.pendingBytes(context), passed: left &+ acknowledged, at: context.eventLoop.now)
            guard stall != nil else { return self.schedule(context) }
            self.metrics.closed(.write)
            context.close(promise: nil)
        }
    }

    private func pendingBytes(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}

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

/// How much of what was sent the peer has acknowledged, as the kernel knows it.
///
/// Bytes leave the process in large steps when the kernel's buffer has room again; on a slow phone that can take longer than
/// any sensible deadline. What the phone acknowledges moves with every packet.
enum PeerAcknowledgement {
    /// The count in bytes; 0 where the system does not report it.
    static func bytes(on channel: any Channel) -> EventLoopFuture<UInt64> {
        #if os(Linux)
            if let socket = channel as? any SocketOptionProvider {
                let info: EventLoopFuture<TCPInfo> = socket.unsafeGetSocketOption(level: .tcp, name: .init(rawValue: 11))
                return info.map(\.acknowledged).recover { _ in 0 }
            }
        #endif
        return channel.eventLoop.makeSucceededFuture(0)
    }

    /// The beginning of `struct tcp_info` of linux/tcp.h, up to `tcpi_bytes_acked` at offset 120 (Linux 4.1). The C library's
    /// own declaration ends before it. An older kernel fills less and leaves the rest 0.
    private struct TCPInfo: Sendable {
        // One number of eight bytes for each of the fifteen before it.
        let before:
            (
                UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64,
                UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64
            )
        let acknowledged: UInt64
    }
}

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

/// Notifies the connection that the handler is going to read the request's body, so that a client that expects it gets
/// `100 Continue` (RFC 9110, 10.1.1).
struct WantsBody: Sendable {}
