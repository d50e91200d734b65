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

extension APNsConnectionHandler {
    /// Lets a fault happen to a request; the core has processed it already if the fault says so.
    func strike(_ fault: InjectedFault, answer: APNsAnswer?, on stream: HTTP2StreamID) {
        switch fault {
        case .status: if let answer { send(answer, on: stream) }
        case .delay(let delay): if let answer { send(answer, on: stream, after: delay) }
        case .noAnswer: break
        case .blackHole: stopReading()
        case .refuseStream: reset(stream, .refusedStream)
        case .resetStream: reset(stream, .internalError)
        case .resetConnection: resetConnection()
        case .goAway(let lastStream, let reason): goAway(lastStream, reason: reason, answer: answer, on: stream)
        }
    }

    private func reset(_ stream: HTTP2StreamID, _ code: HTTP2ErrorCode) {
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

    private func goAway(
        _ position: InjectedFault.LastStream, reason: APNsReason?, answer: APNsAnswer?, on stream: HTTP2StreamID
    ) {
        let data = reason.map { ByteBuffer(string: #"{"reason":"\#($0.rawValue)"}"#) }
        switch position {
        case .zero: startDraining(last: 0, code: .noError, data: data)
        case .beforeThisRequest: startDraining(last: max(0, Int(stream) - 2), code: .noError, data: data)
        case .thisRequest, .thisRequestUnanswered: startDraining(last: Int(stream), code: .noError, data: data)
        case .twoStep:
            write(.goAway(lastStreamID: .maxID, errorCode: .noError, opaqueData: nil), on: .rootStream)
            startDraining(last: Int(stream), code: .noError, data: data)
        }
        if let answer { send(answer, on: stream) }
    }

    /// Sends GOAWAY. The connection ends after a grace in which the client reads it and gets the answers it is owed.
    func startDraining(last: Int, code: HTTP2ErrorCode, data: ByteBuffer?) {
        guard phase == .open else { return }
        let lastID = last == 0 ? HTTP2StreamID.rootStream : HTTP2StreamID(last)
        phase = .draining(last: last)
        for stream in streams.keys where stream > lastID { forget(stream) }
        write(.goAway(lastStreamID: lastID, errorCode: code, opaqueData: data), on: .rootStream)
        closeLater()
    }

    func obey(_ command: ConnectionCommand) {
        switch command {
        case .goAway(let reason):
            let data = reason.map { ByteBuffer(string: #"{"reason":"\#($0.rawValue)"}"#) }
            startDraining(last: lastStream, code: .noError, data: data)
            context?.flush()
        case .close:
            startDraining(last: lastStream, code: .noError, data: nil)
            context?.flush()
            context?.close(promise: nil)
        case .checkIdle(let limit): endIfIdle(longerThan: limit)
        case .reset: resetConnection()
        }
    }

    /// A connection that owes an answer is not idle.
    private func endIfIdle(longerThan limit: Duration) {
        guard phase == .open, streams.isEmpty, core.clock.uptime - lastActivity >= limit else { return }
        let data = ByteBuffer(string: #"{"reason":"\#(APNsReason.idleTimeout.rawValue)"}"#)
        startDraining(last: lastStream, code: .noError, data: data)
        context?.flush()
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
