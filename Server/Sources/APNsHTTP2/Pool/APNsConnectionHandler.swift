import APNsProtocol
import Logging
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
    private var owner: APNsConnectionPool?
    private var context: ChannelHandlerContext?
    private var input = ByteBuffer()
    /// Working memory, kept to save allocations.
    private var successes: [HTTP2Success<PushTicket>] = []
    private var isStarted = false
    private var isClosed = false
    private var failure: APNsFailure?
    private var watch: Scheduled<Void>?
    private var drainLimit: Scheduled<Void>?
    /// When the last push was written, or the connection was made.
    private var lastUse: NIODeadline
    var throughput = BusyThroughput()
    private(set) var carriedTokens = CarriedTokens()

    init(id: Int, configuration: APNsConnectionConfiguration, owner: APNsConnectionPool, now: NIODeadline) {
        self.id = id
        self.configuration = configuration
        self.owner = owner
        lastUse = now
        connection = HTTP2Connection(authority: configuration.authority, limits: configuration.limits, now: now)
    }

    private var now: NIODeadline { context?.eventLoop.now ?? lastUse }
    var inFlight: Int { connection.streams.count }
    var streamLimit: Int { connection.streamLimit }
    /// Body bytes that the server takes now; none before it may be sent any.
    var window: Int { connection.phase == .open ? max(0, connection.sendWindow) : 0 }

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
        // From TCP to the first SETTINGS.
        watch = context.eventLoop.assumeIsolated().scheduleTask(in: configuration.handshakeLimit) { self.close(.unreachable) }
        if !configuration.waitsForTLS { start(context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let negotiated)? = event as? TLSUserEvent {
            // First, since the request goes by another protocol to the server that chose one.
            guard serverHasExpectedName(context) else { return failHandshake(TLSErrorDescription.otherName) }
            // A server without ALPN is accepted (Reference/APNs.md#1-3); one that chose something else is not APNs.
            guard negotiated == "h2" || (negotiated == nil && !configuration.isAnyServer) else {
                return configuration.isAnyServer ? close(.otherProtocol) : failHandshake(TLSErrorDescription.otherProtocol)
            }
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
                "The connection to \(configuration.service) was ended because the server broke HTTP/2",
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
            // The watch over liveness and idleness takes the place of the handshake limit.
            watch?.cancel()
            lookAfter()
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
        if failure == .tlsFailed { failHandshake(TLSErrorDescription.sentence(for: error)) } else { close(failure) }
    }

    /// Logs at once, without waiting for pushes to expire: the operator has to fix this. The pool's pauses limit the log lines.
    private func failHandshake(_ reason: String) {
        guard !isClosed else { return }
        configuration.logger.warning(
            "The TLS handshake with \(configuration.service) failed",
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

    private func closeIfDrained() {
        guard !isClosed, connection.isDrained else { return }
        connection.output.writeHTTP2GoAway(code: .noError)
        close(.connectionClosed)
    }

    private func flushOutput() {
        guard let context, connection.output.readableBytes > 0 else { return }
        writeOut(context)
        context.flush()
    }

    private func writeOut(_ context: ChannelHandlerContext) {
        guard connection.output.readableBytes > 0 else { return }
        context.write(wrapOutboundOut(connection.takeOutput()), promise: nil)
    }

    private func lookAfter() {
        guard let context else { return }
        let now = now
        switch connection.watch(at: now) {
        case .dead: close(.connectionClosed)
        case .stuck:
            owner?.connectionIsStuck(id)
            if !isClosed { watchAgain(context, at: now + configuration.longestWatch) }
        case .again(let next):
            if inFlight == 0, now - lastUse >= configuration.idleLimit {
                owner?.connectionIsIdle(id)
                return drain(within: .zero)
            }
            flushOutput()
            let due = inFlight == 0 ? max(next, lastUse + configuration.idleLimit) : next
            watchAgain(context, at: min(due, now + configuration.longestWatch))
        }
    }

    private func watchAgain(_ context: ChannelHandlerContext, at deadline: NIODeadline) {
        watch = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.lookAfter() }
    }

    /// What the observer is shown.
    private func report(_ ticket: PushTicket, stream: UInt32) -> APNsRequestReport {
        let push = ticket.push
        let request = ticket.submission.request
        let fields: [(name: String, value: String?)] = [
            (":method", request?.method.rawValue ?? "POST"), (":scheme", "https"), (":authority", configuration.authority),
            (":path", request?.path ?? "/3/device/\(push.deviceToken.prefix(6).lowercased())…"),
        ]
        return APNsRequestReport(
            apnsID: push.apnsID,
            fields: (fields + (request?.reportedFields ?? push.reportedFields)).compactMap { field in
                field.value.map { APNsRequestReport.Field(name: field.name, value: $0) }
            },
            payloadSize: push.payload.count, connection: id, stream: Int(stream), isResend: ticket.resends > 0)
    }
}

/// Taking pushes from the queue.
extension HTTP2Connection where Ticket == PushTicket {
    /// NIOSSL makes one TLS record of each write, so writes are as large as a record and no larger.
    static var recordSize: Int { 16_384 }

    /// Writes pushes to `output` until it holds a TLS record or nothing more may be opened. Returns how many, and the bytes of
    /// their bodies. `opened` is called for each and must not call this connection.
    mutating func fillRecord(
        from queue: PushQueue, authorization: APNsAuthorization?, opened: (PushTicket, UInt32) -> Void
    ) -> (count: Int, bytes: Int) {
        var count = 0
        var bytes = 0
        while !streams.isExhausted {
            // A request in steady state has about 110 bytes besides its body (Reference/APNs.md#9-2).
            let room = count > 0 ? Self.recordSize - output.readableBytes - 128 : .max
            guard let ticket = queue.popFirst(where: { $0 <= room && canOpen(bodySize: $0) }) else { break }
            guard let stream = open(ticket, authorization: authorization) else {
                queue.prepend([ticket])
                break
            }
            count += 1
            bytes += ticket.bodySize
            opened(ticket, stream)
        }
        return (count, bytes)
    }

    private mutating func open(_ ticket: PushTicket, authorization: APNsAuthorization?) -> UInt32? {
        if let request = ticket.submission.request { return open(ticket, request, authorization: authorization) }
        return ticket.submission.pushes.withUnsafeBufferPointer { pushes in
            pushes.baseAddress.flatMap { open(ticket, $0 + Int(ticket.index), authorization: authorization) }
        }
    }
}

extension HTTP2Request {
    fileprivate var reportedFields: [(name: String, value: String?)] { fields.map { ($0.name, $0.value) } }
}

extension APNsPush {
    fileprivate var reportedFields: [(name: String, value: String?)] {
        [
            ("apns-topic", headers.topic), ("apns-push-type", headers.pushType.rawValue),
            ("apns-priority", headers.priority.map { String($0) }), ("apns-expiration", headers.expiration.map { String($0) }),
            ("apns-collapse-id", headers.collapseID), ("apns-id", apnsID.map { APNsUUID.text($0) }),
        ]
    }
}

/// Which provider token the requests of a connection carried. A request is answered seconds after it was written at most, and tokens
/// change every 20 minutes at most, so the last change is all that matters.
struct CarriedTokens {
    /// The generation that the last request carried; 0 before the first.
    private(set) var latest: UInt64 = 0
    private var previous: UInt64 = 0
    /// The first stream with the latest.
    private var start: UInt32 = 0

    /// Notes what the requests from this stream on carry.
    mutating func note(_ generation: UInt64, from stream: UInt32) {
        guard generation != latest else { return }
        previous = latest
        latest = generation
        start = stream
    }

    /// What the request on this stream carried.
    func generation(of stream: UInt32) -> UInt64 { stream >= start ? latest : previous }
}
