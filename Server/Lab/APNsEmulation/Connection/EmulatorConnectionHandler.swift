import APNsProtocol
import LocalCertificates
import Logging
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOSSL
import NIOTLS

/// One client connection: frames in, requests judged by the core, frames out. Lives on its event loop.
final class EmulatorConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    enum Phase: Equatable {
        case open
        /// GOAWAY was sent; only streams up to the last one are still served.
        case draining(last: Int)
        /// Reads on and answers nothing (Reference/APNs.md#7-2-24), or reads nothing either.
        case silent
    }

    /// More than any stream id: everything is still served.
    static let noLastStream = 0x7fff_ffff

    let core: EmulatorCore
    let service: APNsService
    let authority: LocalCertificateAuthority
    let number: Int
    let filter: ServerSettingsFilter
    let logger: Logger
    var streams: [HTTP2StreamID: OpenStream] = [:]
    var limit: StreamLimit
    var unsentCredit = UnsentCredit()
    var travelling = TravellingCredit()
    /// INITIAL_WINDOW_SIZE as it was announced last, as the client has acknowledged it, and what is between the two.
    var announcedWindow: Int
    var acknowledgedWindow = ServerSettings.windowSize
    var unacknowledgedWindows: [Int]
    var credentials = ConnectionCredentials()
    var phase = Phase.open
    /// What the connection has used up of its error budget.
    var errors = 0
    /// The last stream that was taken in.
    var lastStream = 0
    /// The last stream that was seen, taken in or not.
    var highestStream = 0
    /// When the last frame came, in uptime of the clock.
    var lastActivity: Duration
    /// Answers that wait for their time.
    var delayed: [HTTP2StreamID: Task<Void, Never>] = [:]
    var closing: Task<Void, Never>?
    var pausing: Task<Void, Never>?
    /// GOAWAY was sent long enough ago.
    var isGraceOver = false
    /// A frame came, so whatever goes wrong now is no matter of TLS or of another protocol.
    private var hasSpoken = false
    /// Set while the handler is in a pipeline.
    var context: ChannelHandlerContext?

    init(listener: Listener, number: Int, filter: ServerSettingsFilter) {
        core = listener.core
        service = listener.service
        authority = listener.authority
        self.number = number
        self.filter = filter
        logger = listener.logger
        limit = StreamLimit(rules: core.rules)
        announcedWindow = core.rules.initialWindowSize
        unacknowledgedWindows = [announcedWindow]
        lastActivity = core.clock.uptime
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        endTasks()
    }

    func channelInactive(context: ChannelHandlerContext) {
        streams.removeAll()
        endTasks()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        hasSpoken = true
        switch frame.payload {
        case .headers(let content): receive(headers: content.headers, ends: content.endStream, on: frame.streamID)
        case .data(let content):
            if case .byteBuffer(let piece) = content.data { streams[frame.streamID]?.append(piece) }
            if content.endStream { finishRequest(frame.streamID) }
        case .settings(.ack): settingsWereAcknowledged()
        default: break  // PING and SETTINGS are answered by the library, PRIORITY is ignored, resets come as events
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        lastActivity = core.clock.uptime
        flush()
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as StreamClosedEvent: forget(event.streamID)
        case let event as NIOHTTP2WindowUpdatedEvent: returnCredit(event)
        case let command as ConnectionCommand: obey(command)
        case let event as TLSUserEvent: if case .handshakeCompleted = event { finishHandshake() }
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// A stream error leaves the connection alone. After a connection error the library has sent GOAWAY and leaves the
    /// closing to us; everything else, such as a failed handshake, ends the connection too.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.debug("A connection of the local APNs met an error", metadata: ["connection": "\(number)", "error": "\(error)"])
        if Self.isOverrun(error), phase != .silent {
            core.state.withLockedValue { $0.violations[.overranWindow, default: 0] += 1 }
        }
        if !hasSpoken, let client = NonHTTP2Client(error) { note(client, error) }
        guard phase == .open else { return }
        let isHTTP2 = error is any NIOHTTP2Error
        if !isHTTP2 || filter.hasSentGoAway { context.close(promise: nil) }
    }

    /// DATA that not even the library's more lenient count allows.
    private static func isOverrun(_ error: any Error) -> Bool {
        let cause = (error as? NIOHTTP2Errors.StreamError)?.baseError ?? error
        return cause is NIOHTTP2Errors.FlowControlViolation
    }

    func forget(_ stream: HTTP2StreamID) {
        streams[stream] = nil
        delayed.removeValue(forKey: stream)?.cancel()
    }

    private func endTasks() {
        for task in delayed.values { task.cancel() }
        delayed.removeAll()
        for task in travelling.tasks.values { task.cancel() }
        travelling.tasks.removeAll()
        closing?.cancel()
        closing = nil
        pausing?.cancel()
        pausing = nil
    }

    /// Lets go what was written. What the client may do counts from here.
    func flush() {
        context?.flush()
        unsentCredit.flushed()
        limit.flushed()
    }

    func write(_ payload: HTTP2Frame.FramePayload, on stream: HTTP2StreamID) {
        context?.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
    }

    /// Does something on the event loop when a time has passed, unless the task is cancelled before; `nil` when the connection is gone.
    ///
    /// The task waits on the event loop as well: where others keep the threads of tasks busy, an answer would come seconds late, and
    /// a client would rightly take the connection for dead.
    func after(_ delay: Duration, _ body: @escaping @Sendable (EmulatorConnectionHandler) -> Void) -> Task<Void, Never>? {
        guard let eventLoop = context?.eventLoop else { return nil }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        return Task(executorPreference: LoopExecutor(eventLoop)) { [clock = core.clock] in
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            eventLoop.execute { body(bound.value) }
        }
    }

    /// Sends an answer when its time has come, unless the stream or the connection ends before.
    func send(_ answer: APNsAnswer, on stream: HTTP2StreamID, after delay: Duration) {
        delayed[stream] = after(delay) { handler in
            guard handler.phase != .silent else { return }
            handler.send(answer, on: stream)
            handler.flush()
            handler.closeIfDrained()
        }
    }

    /// Closes after the grace; answers that are still delayed then are waited for.
    func closeLater() {
        guard closing == nil else { return }
        closing = after(core.rules.goAwayGrace) { handler in
            handler.isGraceOver = true
            handler.closeIfDrained()
        }
    }

    private func closeIfDrained() {
        guard isGraceOver, delayed.isEmpty else { return }
        context?.close(promise: nil)
    }

    /// The handshake is over: a client certificate is judged (Reference/APNs.md#7-2-2).
    func finishHandshake() {
        let handler = try? context?.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)
        guard let shown = handler?.peerCertificate, let bytes = try? shown.toDERBytes(), let certificate = authority.read(bytes)
        else { return }
        credentials.certificate = certificate
        let rules = core.rules
        if rules.expiredCertificate == .goAway, !certificate.isValid(at: core.clock.now) {
            turnAway(.badCertificate)
        } else if rules.certificateEnvironment == .goAway, !certificate.environments.contains(core.configuration.environment) {
            turnAway(.badCertificateEnvironment)
        } else if rules.raisesLimitForCertificates, rules.concurrentStreams != limit.announced {
            announce(rules.concurrentStreams)
            flush()
        }
    }

    private func turnAway(_ reason: APNsReason) {
        startDraining(GoAwayForm(lastStream: .zero, debugData: Self.json(reason)), last: 0)
        flush()
    }
}

/// Runs tasks on an event loop.
private final class LoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The task that this job belongs to holds the executor until the job has run.
        let executor = asUnownedTaskExecutor()
        eventLoop.execute { job.runSynchronously(on: executor) }
    }
}

/// A command of the operator to a connection, as an event in its pipeline.
enum ConnectionCommand: Sendable {
    /// GOAWAY with this reason; what is open is answered first.
    case goAway(reason: APNsReason?)
    /// GOAWAY that names no last stream, and the real one after a pause in which everything is still served.
    case goAwayInTwoSteps(reason: APNsReason?, pause: Duration)
    /// GOAWAY and an orderly end now.
    case close
    /// The orderly end without GOAWAY.
    case drop
    /// Reads on and answers nothing more.
    case wedge
    /// Reads nothing and answers nothing more.
    case stopReading
    /// SETTINGS.
    case announce(SettingsChange)
    /// A moment has come to look whether the connection is idle for too long.
    case checkIdle(limit: Duration)
    /// TCP reset.
    case reset
}
