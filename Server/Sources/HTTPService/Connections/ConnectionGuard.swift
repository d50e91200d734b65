import NIOCore

/// Keeps one connection to its limits. The handler next to the socket: it sees the bytes, and `RequestBoundaries` behind the
/// decoder tells it what they meant.
///
/// A head that is late is answered 408 here, since there is no request that anybody could answer. A body that is late ends
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

    /// The head of a request was refused: no more is expected of the client.
    func requestRefused() { note { progress, _ in progress.inputClosed() } }

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
