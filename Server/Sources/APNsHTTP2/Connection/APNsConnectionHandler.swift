import APNsProtocol
import NIOCore
import NIOSSL
import NIOTLS

/// One connection to APNs: the only handler above TLS. It moves bytes between the channel and `HTTP2Connection`, obeys
/// its events and keeps its timers. Lives on the channel's event loop.
final class APNsConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let id: Int
    let configuration: APNsConnectionConfiguration
    var connection: HTTP2Connection<PushTicket>
    private var owner: (any APNsConnectionOwner)?
    var context: ChannelHandlerContext?
    private var input = ByteBuffer()
    /// Working memory, kept to save allocations.
    private var successes: [HTTP2Success<PushTicket>] = []
    private var isStarted = false
    private var isClosed = false
    private var failure: APNsFailure?
    var watch: Scheduled<Void>?
    var drainLimit: Scheduled<Void>?
    /// When the last push was written, or the connection was made.
    var lastUse: NIODeadline
    var throughput = BusyThroughput()
    private(set) var carriedTokens = CarriedTokens()

    init(id: Int, configuration: APNsConnectionConfiguration, owner: any APNsConnectionOwner, now: NIODeadline) {
        self.id = id
        self.configuration = configuration
        self.owner = owner
        lastUse = now
        connection = HTTP2Connection(authority: configuration.authority, limits: configuration.limits, now: now)
    }

    var now: NIODeadline { context?.eventLoop.now ?? lastUse }
    var inFlight: Int { connection.streams.count }
    var streamLimit: Int { connection.streamLimit }
    /// Body bytes that the server takes now; none before it may be sent any.
    var window: Int { connection.phase == .open ? max(0, connection.sendWindow) : 0 }
    var isUsable: Bool { !isClosed && connection.isUsable }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { channelBecameActive(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        channelBecameActive(context)
        context.fireChannelActive()
    }

    private func channelBecameActive(_ context: ChannelHandlerContext) {
        // Given up while it was being made.
        guard !isClosed else { return context.close(promise: nil) }
        guard watch == nil else { return }
        scheduleHandshakeLimit(context)
        if !configuration.waitsForTLS { start(context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let negotiated)? = event as? TLSUserEvent {
            // A server without ALPN is accepted (Reference/APNs.md#1-3); one that chose something else is not APNs.
            guard negotiated == nil || negotiated == "h2" else { return failHandshake(HandshakeWords.otherProtocol) }
            guard serverHasExpectedName(context) else { return failHandshake(HandshakeWords.otherName) }
            start(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Nothing, and so no provider token, is sent before this was true.
    private func serverHasExpectedName(_ context: ChannelHandlerContext) -> Bool {
        guard let name = configuration.expectedServerName else { return true }
        let certificate = try? context.channel.pipeline.syncOperations.nioSSL_peerCertificate()
        return certificate?.isIssued(toName: name) == true
    }

    private func start(_ context: ChannelHandlerContext) {
        guard !isStarted else { return }
        isStarted = true
        connection.start(at: now)
        writeOut(context)
        context.flush()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosed else { return }
        var bytes = unwrapInboundIn(data)
        connection.noteRead(at: now)
        if input.readableBytes == 0 { input = bytes } else { input.writeBuffer(&bytes) }
        do throws(HTTP2Fault) {
            let now = now
            while !isClosed {
                takeSuccesses()
                guard !isClosed, let frame = try HTTP2FrameReader.next(&input) else { break }
                obey(try connection.receive(frame, at: now))
            }
        } catch {
            configuration.logger.warning(
                "The APNs connection was ended because the server broke HTTP/2",
                metadata: [
                    "apns.connection": "\(id)", "error": "\(error.explanation)",
                ])
            connection.output.writeHTTP2GoAway(code: error.code)
            close(.protocolError)
        }
        // Keeps at most the beginning of one frame, without the memory of a large read behind it.
        if input.readableBytes == 0 { input = ByteBuffer() } else { input.discardReadBytes() }
    }

    /// Nearly everything that APNs says: successes, handed on together.
    private func takeSuccesses() {
        var batch = successes
        successes = []
        let size = input.withUnsafeReadableBytes { connection.receiveSuccesses($0, into: &batch) }
        guard size > 0 else { return successes = batch }
        input.moveReaderIndex(forwardBy: size)
        owner?.connection(id, accepted: batch)
        batch.removeAll(keepingCapacity: true)
        successes = batch
    }

    private func obey(_ event: HTTP2Event<PushTicket>) {
        switch event {
        case .none: break
        case .finished(let ticket, let stream, let end): owner?.connection(id, finished: ticket, stream: stream, end)
        case .ready:
            scheduleWatch()
            owner?.connectionIsReady(id)
        case .goAway(let goAway, let refused): owner?.connection(id, received: goAway, notProcessed: refused)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard !isClosed else { return }
        owner?.connectionMayTakeMore(id)
        flushOutput()
        closeIfDrained()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, !isClosed { owner?.connectionMayTakeMore(id) }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let failure = APNsFailure(connectionError: error, wasReady: connection.phase != .awaitingSettings)
        if failure == .tlsFailed { failHandshake(HandshakeWords.sentence(for: error)) } else { close(failure) }
    }

    /// At once, and not when pushes have waited in vain: the operator has to mend this. The pool's pauses bound the lines.
    private func failHandshake(_ reason: String) {
        guard !isClosed else { return }
        configuration.logger.warning(
            "The TLS handshake with APNs failed",
            metadata: ["host": "\(configuration.host)", "port": "\(configuration.port)", "error": "\(reason)"])
        close(.tlsFailed)
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(endOfChannel)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish(endOfChannel)
        self.context = nil
    }

    private var endOfChannel: APNsFailure {
        failure ?? (connection.phase == .awaitingSettings ? .unreachable : .connectionClosed)
    }

    /// Ends the connection: what is left to say is written, and every open push gets its end now.
    func close(_ failure: APNsFailure) {
        guard !isClosed else { return }
        self.failure = failure
        if let context {
            writeOut(context)
            context.flush()
        }
        finish(failure)
        context?.close(promise: nil)
    }

    private func finish(_ failure: APNsFailure) {
        guard !isClosed else { return }
        isClosed = true
        watch?.cancel()
        drainLimit?.cancel()
        owner?.connection(id, closed: failure, unanswered: connection.takeAll())
        owner = nil
    }
}

extension APNsConnectionHandler {
    /// Writes as many pushes from the queue as the connection takes now. Returns how many, and the bytes of their bodies.
    func fill(from queue: PushQueue, authorization: APNsAuthorization?) -> (count: Int, bytes: Int) {
        guard !isClosed, let context, context.channel.isWritable, let size = queue.firstBodySize else { return (0, 0) }
        let now = now
        guard connection.canOpen(bodySize: size) else {
            connection.noteUnfit(at: now)
            return (0, 0)
        }
        lastUse = now
        carriedTokens.note(authorization?.generation ?? 0, from: connection.streams.nextID)
        connection.probeAfterSilence(at: now)
        var count = 0
        var bytes = 0
        while context.channel.isWritable {
            let record = connection.fillRecord(from: queue, authorization: authorization) { [self] ticket, stream in
                if let observer = configuration.observer { observer.clientDidSend(report(ticket, stream: stream)) }
            }
            guard record.count > 0 else { break }
            count += record.count
            bytes += record.bytes
            writeOut(context)
        }
        writeOut(context)
        context.flush()
        return (count, bytes)
    }

    /// Gives up the pushes that satisfy the condition. `true` marks those that cannot have been processed.
    func cancelAll(where condition: (PushTicket) -> Bool) -> [(ticket: PushTicket, isIncomplete: Bool)] {
        let cancelled = connection.cancelAll(where: condition)
        if !cancelled.isEmpty {
            flushOutput()
            closeIfDrained()
        }
        return cancelled
    }

    /// Takes no more pushes, waits for the answers still owed, then closes.
    func drain(within limit: TimeAmount) {
        guard !isClosed, let context else { return close(.connectionClosed) }
        connection.drain()
        closeIfDrained()
        guard !isClosed, drainLimit == nil else { return }
        drainLimit = context.eventLoop.assumeIsolated().scheduleTask(in: limit) { self.close(.connectionClosed) }
    }

    func closeIfDrained() {
        guard !isClosed, connection.isDrained else { return }
        connection.output.writeHTTP2GoAway(code: .noError)
        close(.connectionClosed)
    }

    func tellIdle() { owner?.connectionIsIdle(id) }

    func tellStuck() { owner?.connectionIsStuck(id) }

    var isOver: Bool { isClosed }

    private func flushOutput() {
        guard let context, connection.output.readableBytes > 0 else { return }
        writeOut(context)
        context.flush()
    }

    private func writeOut(_ context: ChannelHandlerContext) {
        guard connection.output.readableBytes > 0 else { return }
        context.write(wrapOutboundOut(connection.takeOutput()), promise: nil)
    }
}
