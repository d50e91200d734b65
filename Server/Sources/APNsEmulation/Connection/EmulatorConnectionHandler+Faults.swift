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
    /// Lets a fault happen to a request; the core has processed it already if the fault says so.
    func strike(_ fault: InjectedFault, answer: APNsAnswer?, on stream: HTTP2StreamID) {
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

    /// Announces settings that somebody wants, and not what became of a request.
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
}
