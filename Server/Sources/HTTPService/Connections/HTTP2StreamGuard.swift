import NIOCore
import NIOHTTP2

/// Keeps one stream of HTTP/2 to the limits that a connection of HTTP/1.1 keeps to. The handler next to the connection.
///
/// A body that is late ends the body's stream with `request-timeout`, so that the handler of the request answers; an answer of which
/// nothing is taken for too long is cut off.
final class HTTP2StreamGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let limits: ConnectionLimits
    private let metrics: ConnectionMetrics
    private let acknowledged: (any Channel) -> EventLoopFuture<UInt64>
    private var progress: ConnectionProgress
    private var connection: HTTP2ConnectionGuard?
    private var hasHead = false
    private var isRefused = false
    /// Bytes of the answer that were handed over and have not gone to the socket, and those that have.
    private var pending = 0
    private var gone: UInt64 = 0
    private var timer = GuardTimer()
    private var context: ChannelHandlerContext?

    init(
        limits: ConnectionLimits, metrics: ConnectionMetrics,
        acknowledged: @escaping (any Channel) -> EventLoopFuture<UInt64> = PeerAcknowledgement.bytes
    ) {
        self.limits = limits
        self.metrics = metrics
        self.acknowledged = acknowledged
        progress = ConnectionProgress(limits: limits)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        connection = try? context.channel.parent?.pipeline.syncOperations.handler(type: HTTP2ConnectionGuard.self)
        connection?.streamOpened()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer.cancel()
        self.context = nil
        connection?.streamClosed()
        connection = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        let now = context.eventLoop.now
        switch unwrapInboundIn(data) {
        case .headers(let headers):
            if !hasHead, !RequestHeadCheck.accepts(headers.headers) { return refuse(context) }
            if !hasHead { progress.headEnded(expectsContinue: false, at: now) }
            hasHead = true
            if headers.endStream { progress.requestEnded() }
        case .data(let body):
            progress.receivedBody(body.data.readableBytes, at: now)
            if body.endStream { progress.requestEnded() }
        default: break
        }
        context.fireChannelRead(data)
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

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let now = context.eventLoop.now
        switch unwrapOutboundIn(data) {
        case .headers(var headers):
            // HTTP/2 has no such field (RFC 9113, 8.2.2); that the rest of a body is not wanted it says by the end of the stream.
            headers.headers.remove(name: "connection")
            progress.answerBegan(at: now)
            if headers.endStream { progress.answerEnded(at: now) }
            context.write(wrapOutboundOut(.headers(headers)), promise: promise)
        case .data(let body):
            if body.endStream { progress.answerEnded(at: now) }
            context.write(data, promise: counted(body.data.readableBytes, promise, context))
        default: context.write(data, promise: promise)
        }
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        guard pending > 0, progress.waitsToWrite(passed: gone, at: context.eventLoop.now) else { return }
        // From here on what counts is what has moved since; the first look only takes the measure.
        lookAtWriting(context)
        schedule(context)
    }

    /// Sends no `100 Continue` over HTTP/2: clients do not wait for it for long, and the window bounds what they send.
    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is WantsBody else { return context.triggerUserOutboundEvent(event, promise: promise) }
        promise?.succeed()
    }

    /// A malformed request is an error of its stream (RFC 9113, 8.1.1).
    private func refuse(_ context: ChannelHandlerContext) {
        isRefused = true
        context.writeAndFlush(wrapOutboundOut(.rstStream(.protocolError)), promise: nil)
    }

    private func counted(_ count: Int, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) -> EventLoopPromise<
        Void
    > {
        let counted = promise ?? context.eventLoop.makePromise()
        pending += count
        counted.futureResult.assumeIsolated().whenComplete { [weak self] _ in
            self?.pending -= count
            self?.gone &+= UInt64(count)
        }
        return counted
    }
}

/// The one timer, and what happens when it fires.
extension HTTP2StreamGuard {
    private func schedule(_ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        timer.set(progress.deadline, on: context.eventLoop) { [weak self] in
            guard let self, let context = self.context else { return }
            self.timer.fired()
            if self.progress.checkReading(at: context.eventLoop.now) != nil {
                context.endLateBody(self.metrics, linger: self.limits.lingerTime)
            }
            self.lookAtWriting(context)
            self.schedule(context)
        }
    }

    private func lookAtWriting(_ context: ChannelHandlerContext) {
        let connection = context.channel.parent ?? context.channel
        acknowledged(connection).assumeIsolated().whenSuccess { [weak self] acknowledged in
            guard let self, let context = self.context else { return }
            let stall = self.progress.checkWriting(
                pending: self.pending, passed: self.gone &+ acknowledged, at: context.eventLoop.now)
            guard stall != nil else { return self.schedule(context) }
            self.metrics.closed(.write)
            context.close(promise: nil)
        }
    }
}

/// Stands among the handlers of a stream, behind those that translate, only to put the guard in front of them.
final class HTTP2StreamGuardPlacer: ChannelInboundHandler, RemovableChannelHandler {
    /// It lets everything pass unread.
    typealias InboundIn = Never

    private let limits: ConnectionLimits
    private let metrics: ConnectionMetrics

    init(limits: ConnectionLimits, metrics: ConnectionMetrics) {
        self.limits = limits
        self.metrics = metrics
    }

    func handlerAdded(context: ChannelHandlerContext) {
        do {
            let guarding = HTTP2StreamGuard(limits: limits, metrics: metrics)
            try context.pipeline.syncOperations.addHandler(guarding, position: .first)
        } catch {
            context.close(promise: nil)
        }
    }
}

/// Ends an idle HTTP/2 connection, whether or not its client reacts to the GOAWAY.
/// Each stream has its own guard, which reports its start and end to this one.
final class HTTP2ConnectionGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let limit: TimeAmount
    private var openStreams = 0
    /// Since when there has been no stream.
    private var idleSince = NIODeadline.uptimeNanoseconds(0)
    private var timer = GuardTimer()
    private var context: ChannelHandlerContext?

    init(limits: ConnectionLimits) { limit = limits.idleTime + limits.lingerTime }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        idleSince = context.eventLoop.now
        schedule()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer.cancel()
        self.context = nil
    }

    func streamOpened() { openStreams += 1 }

    func streamClosed() {
        guard let context else { return }
        openStreams = max(0, openStreams - 1)
        if openStreams == 0 { idleSince = context.eventLoop.now }
        schedule()
    }

    /// When the connection must end if nothing happens; `nil` while a stream is open.
    private var deadline: NIODeadline? { openStreams == 0 ? idleSince + limit : nil }

    private func schedule() {
        guard let context else { return }
        timer.set(deadline, on: context.eventLoop) { [weak self] in
            guard let self, let context = self.context else { return }
            self.timer.fired()
            guard let deadline = self.deadline, deadline <= context.eventLoop.now else { return self.schedule() }
            context.close(promise: nil)
        }
    }
}
