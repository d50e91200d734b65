import APNsProtocol
import NIOCore
import NIOHTTP2
import NIOSSL

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension EmulatorConnectionHandler {
    /// Applies a fault to a request; the core has already processed the request if the fault says so.
    func inject(_ fault: InjectedFault, answer: APNsAnswer?, on stream: HTTP2StreamID) {
        switch fault {
        case .status: if let answer { send(answer, on: stream) }
        case .delay(let delay): if let answer { send(answer, on: stream, after: delay) }
        case .noAnswer: break
        case .blackHole: stopReading()
        case .wedge: phase = .silent
        case .refuseStream:
            forget(stream)
            refuse(stream)
        case .resetStream: reset(stream, .internalError)
        case .resetStreamWithCode(let code, _): reset(stream, HTTP2ErrorCode(networkCode: Int(code)))
        case .closeConnection:
            // What was answered before is not taken back.
            flush()
            close()
        case .resetConnection: resetConnection()
        case .goAway(let lastStream, let reason):
            goAway(GoAwayForm(lastStream: lastStream, debugData: Self.json(reason)), answer: answer, on: stream)
        case .goAwayFrame(let form): goAway(form, answer: answer, on: stream)
        case .shutdown:
            // The answer first and whole: some clients read nothing behind a GOAWAY.
            if let answer { send(answer, on: stream) }
            flush()
            goAway(GoAwayForm(lastStream: .thisRequest, debugData: Self.json(.shutdown)), answer: nil, on: stream)
        case .streamLimit(let limit):
            order(SettingsChange(streams: limit))
            if let answer { send(answer, on: stream) }
        case .settings(let change):
            order(change)
            if let answer { send(answer, on: stream) }
        }
    }

    /// REFUSED_STREAM. Apple answers the DATA frame of a refused stream with a second reset (Reference/APNs.md#1-4); the
    /// library drops a late DATA frame unseen, so the second reset follows at once.
    func refuse(_ stream: HTTP2StreamID) {
        write(.rstStream(.refusedStream), on: stream)
        if core.rules.resetsRefusedStreamsTwice { write(.rstStream(.streamClosed), on: stream) }
    }

    func reset(_ stream: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        forget(stream)
        write(.rstStream(code), on: stream)
    }

    /// Keeps the TCP connection and nothing else.
    private func stopReading() {
        phase = .silent
        context?.channel.setOption(.autoRead, value: false).whenFailure { [logger] error in
            logger.debug("A connection could not stop reading", metadata: ["error": "\(error)"])
        }
    }

    func close() {
        phase = .silent
        context?.close(promise: nil)
    }

    func obey(_ command: ConnectionCommand) {
        switch command {
        case .goAway(let reason): startDraining(GoAwayForm(lastStream: .zero, debugData: Self.json(reason)), last: lastStream)
        case .goAwayInTwoSteps(let reason, let pause): startDraining(reason: reason, pause: pause)
        case .close:
            startDraining(GoAwayForm(lastStream: .zero), last: lastStream)
            flush()
            context?.close(promise: nil)
        case .drop: close()
        case .wedge: phase = .silent
        case .stopReading: stopReading()
        case .announce(let change): order(change)
        case .checkIdle(let limit): endIfIdle(longerThan: limit)
        case .reset: resetConnection()
        }
        flush()
    }

    /// Announces settings on command, independent of any request.
    private func order(_ change: SettingsChange) {
        if let streams = change.streams { limit.command(streams) }
        announce(change)
    }

    /// A connection that owes an answer is not idle.
    private func endIfIdle(longerThan limit: Duration) {
        guard phase == .open, streams.isEmpty, core.clock.uptime - lastActivity >= limit else { return }
        startDraining(GoAwayForm(lastStream: .zero, debugData: Self.json(.idleTimeout)), last: lastStream)
    }

    /// Ends the connection with a TCP reset: no close_notify of TLS, no FIN.
    private func resetConnection() {
        phase = .silent
        guard let context else { return }
        if let socket = context.channel as? any SocketOptionProvider {
            socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenFailure { [logger] error in
                logger.debug("A connection ends without reset", metadata: ["error": "\(error)"])
            }
        }
        // From the place of the TLS handler the close goes straight to the socket.
        let below = try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        (below ?? context).close(promise: nil)
    }

    // MARK: GOAWAY in all its forms (Reference/APNs.md#1-7 and #7-2-25)

    /// The debug data that Apple documents; empty without a reason.
    static func json(_ reason: APNsReason?) -> String { reason.map { #"{"reason":"\#($0.rawValue)"}"# } ?? "" }

    /// GOAWAY as the consequence of one request.
    func goAway(_ form: GoAwayForm, answer: APNsAnswer?, on stream: HTTP2StreamID) {
        let this = Int(stream)
        switch form.lastStream {
        case .zero: startDraining(form, last: 0)
        case .beforeThisRequest: startDraining(form, last: max(0, this - 2))
        case .thisRequest, .thisRequestUnanswered: startDraining(form, last: this)
        case .stream(let last): startDraining(form, last: max(0, last))
        case .twoStep, .twoStepBeforeThisRequest:
            filter.sendGoAway(lastStream: Self.noLastStream, code: 0, debugData: "")
            startDraining(form, last: form.lastStream == .twoStep ? this : max(0, this - 2))
        }
        if let answer { send(answer, on: stream) }
    }

    /// Sends GOAWAY. The connection ends after a grace in which the client reads it and gets the answers it is owed.
    func startDraining(_ form: GoAwayForm, last: Int) {
        switch phase {
        case .open: break
        // The second step of two.
        case .draining(let before) where before > last && before == Self.noLastStream: break
        case .draining, .silent: return
        }
        phase = .draining(last: last)
        for stream in streams.keys where Int(stream) > last { forget(stream) }
        for _ in 0..<form.times { filter.sendGoAway(lastStream: last, code: form.code, debugData: form.debugData) }
        if !form.leavesConnectionOpen { closeLater() }
    }

    /// The second step of the graceful form.
    private func finishDraining(reason: APNsReason?) {
        startDraining(GoAwayForm(lastStream: .zero, debugData: Self.json(reason)), last: lastStream)
        flush()
    }

    /// The graceful form: first every stream is promised service, then the real last stream is named.
    func startDraining(reason: APNsReason?, pause: Duration) {
        guard phase == .open, context != nil else { return }
        phase = .draining(last: Self.noLastStream)
        filter.sendGoAway(lastStream: Self.noLastStream, code: 0, debugData: "")
        pausing = after(pause) { $0.finishDraining(reason: reason) }
    }

    // MARK: Flow control of what the client sends (Reference/APNs.md#1-5)

    /// Credit that was decided on and travels for the time that the rules say.
    struct TravellingCredit {
        var sizes: [HTTP2StreamID: Int] = [:]
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastNumber = 0
    }

    /// More came than the credit that had left by then.
    private func endOverrun(on stream: HTTP2StreamID) {
        core.state.withLockedValue { $0.violations[.overranWindow, default: 0] += 1 }
        let code = HTTP2ErrorCode.flowControlError
        guard stream == .rootStream else { return reset(stream, code) }
        // Silent first: what is written may bring further events of this connection, and it is complained of once.
        phase = .silent
        let last = lastStream == 0 ? HTTP2StreamID.rootStream : HTTP2StreamID(lastStream)
        write(.goAway(lastStreamID: last, errorCode: code, opaqueData: nil), on: .rootStream)
        flush()
        context?.close(promise: nil)
    }

    /// The client has used up some of a window.
    func returnCredit(_ event: NIOHTTP2WindowUpdatedEvent) {
        guard phase != .silent, let window = event.inboundWindowSize else { return }
        guard event.streamID == .rootStream || streams[event.streamID] != nil else { return }
        streams[event.streamID]?.window = window
        guard !unsentCredit.isSpent(window: window, of: Int(event.streamID)) else { return endOverrun(on: event.streamID) }
        returnCredit(of: window, on: event.streamID)
    }

    /// Credit is given back only when half of the window is used up, as Netty does (Reference/APNs.md#1-5), or as the rules say.
    private func returnCredit(of window: Int, on stream: HTTP2StreamID) {
        let rules = core.rules
        let full = stream == .rootStream ? ServerSettings.windowSize : announcedWindow
        let threshold: Int
        switch rules.credit {
        case .halfWindow: threshold = full / 2
        case .everyFrame: threshold = full - 1
        case .never: return
        }
        let window = window + (travelling.sizes[stream] ?? 0)
        guard window <= threshold, window < full else { return }
        if rules.creditDelay > .zero {
            grant(full - window, to: stream, after: rules.creditDelay)
        } else {
            grant(full - window, to: stream)
        }
    }

    private func grant(_ size: Int, to stream: HTTP2StreamID) {
        // The library may report the new window during this write.
        let before = streams[stream]?.window
        write(.windowUpdate(windowSizeIncrement: size), on: stream)
        if let before { streams[stream]?.window = before + size }
        unsentCredit.granted(size, to: Int(stream))
    }

    private func grant(_ size: Int, to stream: HTTP2StreamID, after delay: Duration) {
        travelling.lastNumber += 1
        let number = travelling.lastNumber
        travelling.sizes[stream, default: 0] += size
        travelling.tasks[number] = after(delay) { $0.arrive(size, at: stream, number) }
    }

    private func arrive(_ size: Int, at stream: HTTP2StreamID, _ number: Int) {
        travelling.tasks[number] = nil
        travelling.sizes[stream].map { travelling.sizes[stream] = $0 > size ? $0 - size : nil }
        guard phase != .silent, stream == .rootStream || streams[stream] != nil else { return }
        grant(size, to: stream)
        flush()
        unsentCredit.flushed()
    }

    /// Announces what changes. Every SETTINGS frame is acknowledged, so each counts for the limit and for the window.
    func announce(_ change: SettingsChange) {
        limit.announce(change.streams ?? limit.announced)
        announcedWindow = change.initialWindowSize ?? announcedWindow
        unacknowledgedWindows.append(announcedWindow)
        write(.settings(.settings(ServerSettings.update(change))), on: .rootStream)
    }

    /// The client has acknowledged the oldest open SETTINGS frame. A stream with a negative window gets no DATA that would bring
    /// credit, so it gets the credit now.
    func settingsWereAcknowledged() {
        limit.acknowledge()
        unsentCredit.windowsChanged()
        guard !unacknowledgedWindows.isEmpty else { return }
        let difference = unacknowledgedWindows[0] - acknowledgedWindow
        acknowledgedWindow = unacknowledgedWindows.removeFirst()
        guard difference != 0, phase != .silent else { return }
        for (stream, open) in streams {
            streams[stream]?.window = open.window + difference
            if difference < 0, !open.isComplete { returnCredit(of: open.window + difference, on: stream) }
        }
    }
}

/// Credit that was decided on and has not left (Reference/APNs.md#7-2-5).
///
/// The HTTP/2 library counts credit from when it is decided on, while it still works off what has arrived: to it, a client that sends
/// more than its window in one go looks like one that waited. What the client could know of is the library's window without this.
struct UnsentCredit: Sendable {
    private var sizes: [Int: Int] = [:]
    private var isUnsure = false

    /// Credit was written, for a stream or for the connection, which is stream 0.
    mutating func granted(_ size: Int, to stream: Int) { sizes[stream, default: 0] += size }

    /// The client's acknowledgement of settings changed windows: a negative window is no violation.
    mutating func windowsChanged() { isUnsure = true }

    /// What was written has left.
    mutating func flushed() {
        sizes.removeAll(keepingCapacity: true)
        isUnsure = false
    }

    /// Whether the client has spent credit that it could not have: `window` is what the library counts.
    func isSpent(window: Int, of stream: Int) -> Bool {
        guard !isUnsure, let size = sizes[stream] else { return false }
        return window < size
    }
}
