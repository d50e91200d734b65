import APNsProtocol
import Logging
import NIOCore
import NIOHPACK
import NIOHTTP2
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
        if Self.isOverrun(error), phase != .silent { core.state.withLockedValue { $0.misdeeds[.overranWindow, default: 0] += 1 } }
        if !hasSpoken, let stranger = Stranger(error) { notice(stranger, error) }
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
}
