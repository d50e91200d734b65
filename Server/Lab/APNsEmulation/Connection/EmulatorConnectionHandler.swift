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

extension EmulatorConnectionHandler {
    /// A request begins, or its trailers arrive.
    func receive(headers: HPACKHeaders, ends: Bool, on stream: HTTP2StreamID) {
        let id = Int(stream)
        guard streams[stream] == nil, id > highestStream else {
            if ends { finishRequest(stream) }
            return
        }
        highestStream = id
        if case .draining(let last) = phase, id > last { return }
        guard phase != .silent else { return }
        guard limit.allows(open: streams.count) else {
            refuseBeyondLimit(stream)
            return
        }
        lastStream = max(lastStream, id)
        let open = OpenStream(headers: headers, window: acknowledgedWindow)
        streams[stream] = open
        guard Self.listSize(of: headers) <= ServerSettings.headerListSize else {
            refuseLongHeaders(stream, isComplete: ends)
            return
        }
        if ends { finishRequest(stream) } else if core.rules.answersBeforeBody { answerEarly(open, on: stream) }
    }

    /// The client opened more streams than it may.
    private func refuseBeyondLimit(_ stream: HTTP2StreamID) {
        core.state.withLockedValue { $0.violations[.exceededStreamLimit, default: 0] += 1 }
        guard core.rules.overLimit == .goAway else {
            refuse(stream)
            return
        }
        let text = "Maximum active streams violated for this endpoint."
        startDraining(
            GoAwayForm(lastStream: .zero, code: UInt32(HTTP2ErrorCode.refusedStream.networkCode), debugData: text),
            last: lastStream)
    }

    /// As MAX_HEADER_LIST_SIZE counts it (RFC 9113, 6.5.2).
    private static func listSize(of headers: HPACKHeaders) -> Int {
        headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
    }

    /// More headers than were announced to be read: 431, as RFC 9113, 10.5.1 proposes. What Apple does is not known.
    private func refuseLongHeaders(_ stream: HTTP2StreamID, isComplete: Bool) {
        let id = core.state.withLockedValue { state in
            state.violations[.exceededHeaderList, default: 0] += 1
            return state.random.identifier().uuidString
        }
        send(APNsAnswer(status: 431, apnsID: id), on: stream)
        if !isComplete { write(.rstStream(.noError), on: stream) }
    }

    /// Answers a wrong credential at once and resets the stream with NO_ERROR, as the rest of the body is not read.
    private func answerEarly(_ open: OpenStream, on stream: HTTP2StreamID) {
        let request = open.request(connection: number, stream: Int(stream), service: service)
        guard let answer = core.judgeEarly(request, credentials: &credentials)?.answer else { return }
        send(answer, on: stream)
        // The library holds DATA back until a flush and would drop it with the reset.
        flush()
        write(.rstStream(.noError), on: stream)
    }

    /// The whole request is here.
    func finishRequest(_ stream: HTTP2StreamID) {
        guard phase != .silent, let open = streams[stream] else { return }
        streams[stream]?.isComplete = true
        if case .draining(let last) = phase, Int(stream) > last { return }
        let request = open.request(connection: number, stream: Int(stream), service: service)
        let verdict = core.judge(request, credentials: &credentials)
        if let fault = verdict.fault {
            inject(fault, answer: verdict.answer, on: stream)
        } else if let answer = verdict.answer {
            let delay = core.rules.answerDelay
            if delay > .zero { send(answer, on: stream, after: delay) } else { send(answer, on: stream) }
        }
    }

    /// Writes an answer and lets it work on the stream limit and the error budget.
    func send(_ answer: APNsAnswer, on stream: HTTP2StreamID) {
        guard let open = streams[stream] else { return }
        forget(stream)
        limit.ended()
        let rules = core.rules
        let body = open.head.method == "HEAD" ? nil : answer.body
        write(.headers(.init(headers: headers(of: answer, rules: rules), endStream: body == nil)), on: stream)
        if let body { send(body: body, pieces: rules.answerPieces, on: stream) }
        takeConsequences(of: answer, rules: rules)
    }

    private func headers(of answer: APNsAnswer, rules: EmulationRules) -> HPACKHeaders {
        var headers = HPACKHeaders()
        headers.add(name: ":status", value: String(answer.status))
        headers.add(name: answer.idHeader, value: answer.apnsID, indexing: .nonIndexable)
        if let uniqueID = answer.uniqueID { headers.add(name: "apns-unique-id", value: uniqueID, indexing: .nonIndexable) }
        if let channelID = answer.channelID { headers.add(name: "apns-channel-id", value: channelID, indexing: .nonIndexable) }
        if answer.body != nil { headers.add(name: "content-type", value: "application/json") }
        let mayRetry = answer.status == 503 || answer.reason == .tooManyRequests
        if mayRetry, let seconds = rules.retryAfter { headers.add(name: "retry-after", value: String(seconds)) }
        return headers
    }

    private func send(body: String, pieces: Int, on stream: HTTP2StreamID) {
        var rest = ByteBuffer(string: body)
        for left in stride(from: min(max(1, pieces), rest.readableBytes), to: 0, by: -1) {
            guard let piece = rest.readSlice(length: left == 1 ? rest.readableBytes : rest.readableBytes / left) else { return }
            write(.data(.init(data: .byteBuffer(piece), endStream: left == 1)), on: stream)
        }
    }

    /// Announces a limit of streams.
    func announce(_ streams: Int) { announce(SettingsChange(streams: streams)) }

    /// What follows an answer (Reference/APNs.md#7-2-22 to #7-2-24).
    private func takeConsequences(of answer: APNsAnswer, rules: EmulationRules) {
        limit.rules = rules
        if let limit = limit.answered(status: answer.status) { announce(limit) }
        let isTokenError = answer.reason == .expiredProviderToken || answer.reason == .tooManyProviderTokenUpdates
        if isTokenError, rules.wedgesAfterTokenError { phase = .silent }
        guard let budget = rules.errorBudget, (400..<500).contains(answer.status), answer.status != 410 else { return }
        errors += answer.reason == .badDeviceToken ? rules.badDeviceTokenWeight : 1
        guard errors >= budget else { return }
        // The body of the answer waits in the library until a flush, and GOAWAY does not.
        flush()
        startDraining(GoAwayForm(lastStream: .zero), last: lastStream)
    }
}

/// A request whose answer is still owed.
struct OpenStream {
    var head = APNsRequest.Head()
    private(set) var body = ByteBuffer()
    private(set) var bodySize = 0
    /// How many body bytes the client may still send, as the HTTP/2 library counts.
    var window: Int
    /// Nothing more of the request comes.
    var isComplete = false

    init(headers: HPACKHeaders, window: Int) {
        self.window = window
        for (name, value, _) in headers { head.add(name: name, value: value) }
    }

    /// Takes in a piece of the body; what exceeds the bound is counted only.
    mutating func append(_ piece: ByteBuffer) {
        bodySize += piece.readableBytes
        let room = APNsRequest.keptBody - body.readableBytes
        guard room > 0 else { return }
        var piece = piece
        if let slice = piece.readSlice(length: min(room, piece.readableBytes)) { body.writeImmutableBuffer(slice) }
    }

    func request(connection: Int, stream: Int, service: APNsService) -> APNsRequest {
        APNsRequest(
            head: head, body: Array(body.readableBytesView), bodySize: bodySize, connection: connection, stream: stream,
            service: service)
    }
}
