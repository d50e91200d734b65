import APNsProtocol
import NIOCore

/// What each frame means. A thrown fault ends the connection.
extension HTTP2Connection {
    mutating func receive(_ frame: HTTP2Frame, at now: NIODeadline) throws(HTTP2Fault) -> HTTP2Event<Ticket> {
        try checkOrder(of: frame)
        switch frame {
        case .headers(let stream, let fragment, let endStream, let endHeaders):
            try checkNotIdle(stream)
            guard endHeaders else {
                assembly = HTTP2HeaderAssembly(stream: stream, endStream: endStream, fragment: fragment)
                return .none
            }
            return try receiveHeaders(stream, block: fragment, endStream: endStream)
        case .continuation(_, let fragment, let endHeaders):
            return try receiveContinuation(fragment, endHeaders: endHeaders)
        case .data(let stream, let body, let flowControlled, let endStream):
            if flowControlled == 0, !endStream { try floodGuard.note(at: now) }
            return try receiveData(stream, body: body, flowControlled: flowControlled, endStream: endStream)
        case .windowUpdate(let stream, let increment): return try receiveWindowUpdate(stream, increment)
        case .resetStream(let stream, let code): return try receiveReset(stream, code)
        case .settings(let settings):
            try floodGuard.note(at: now)
            return try receiveSettings(settings)
        case .ping(let value):
            try floodGuard.note(at: now)
            output.writeHTTP2Ping(value, isAcknowledgement: true)
        case .pingAcknowledgement(let value): receivePingAcknowledgement(value, at: now)
        case .goAway(let last, let code, let debug): return receiveGoAway(last, code, debug)
        case .settingsAcknowledgement:
            try floodGuard.note(at: now)
            receiveSettingsAcknowledgement(at: now)
        case .ignored: try floodGuard.note(at: now)
        }
        return .none
    }

    /// The server's first frame is SETTINGS (RFC 9113, 3.4), and a header block is not interrupted (6.10).
    private func checkOrder(of frame: HTTP2Frame) throws(HTTP2Fault) {
        if phase == .awaitingSettings {
            switch frame {
            case .settings, .goAway: break
            default: throw HTTP2Fault(.protocolError, "the server did not begin with settings")
            }
        }
        switch (frame, assembly) {
        case (.continuation(let stream, _, _), let assembly?) where stream == assembly.stream: break
        case (.continuation, _): throw HTTP2Fault(.protocolError, "a continuation of nothing")
        case (_, .some): throw HTTP2Fault(.protocolError, "an interrupted header block")
        default: break
        }
    }

    /// A stream that this side never opened cannot be spoken on (RFC 9113, 5.1).
    func checkNotIdle(_ stream: UInt32) throws(HTTP2Fault) {
        guard stream & 1 == 1, stream < streams.nextID else { throw HTTP2Fault(.protocolError, "a frame on an idle stream") }
    }

    private mutating func receiveSettings(_ settings: HTTP2Settings) throws(HTTP2Fault) -> HTTP2Event<Ticket> {
        if let size = settings.headerTableSize {
            peer.headerTableSize = Int(size)
            headerBlocks.peerAllows(tableSize: Int(size))
        }
        if let limit = settings.maximumConcurrentStreams { peer.maximumConcurrentStreams = Int(limit) }
        if let size = settings.maximumFrameSize { peer.maximumFrameSize = Int(size) }
        if let size = settings.initialWindowSize { try changeInitialWindow(to: Int(size)) }
        output.writeHTTP2SettingsAcknowledgement()
        writeBlockedBodies()
        guard phase == .awaitingSettings else { return .none }
        enter(.open)
        return .ready
    }

    /// Open streams change by the difference (RFC 9113, 6.9.2).
    private mutating func changeInitialWindow(to size: Int) throws(HTTP2Fault) {
        let difference = size - peer.initialWindowSize
        peer.initialWindowSize = size
        guard difference != 0 else { return }
        var overflows = false
        streams.updateAll { stream in
            stream.window += difference
            if stream.window > 0x7FFF_FFFF { overflows = true }
        }
        if overflows { throw HTTP2Fault(.flowControlError, "a stream window above the maximum") }
    }

    private mutating func receiveWindowUpdate(_ stream: UInt32, _ increment: UInt32) throws(HTTP2Fault) -> HTTP2Event<Ticket> {
        guard stream != 0 else {
            guard increment > 0 else { throw HTTP2Fault(.protocolError, "an empty window update") }
            sendWindow += Int(increment)
            guard sendWindow <= 0x7FFF_FFFF else { throw HTTP2Fault(.flowControlError, "a connection window above the maximum") }
            writeBlockedBodies()
            return .none
        }
        try checkNotIdle(stream)
        let isValid = streams.update(stream) { stream in
            stream.window += Int(increment)
            return increment > 0 && stream.window <= 0x7FFF_FFFF
        }
        if isValid == false { return end(stream, with: increment == 0 ? .protocolError : .flowControlError) }
        writeBlockedBodies()
        return .none
    }

    private mutating func receiveReset(_ stream: UInt32, _ code: HTTP2ErrorCode) throws(HTTP2Fault) -> HTTP2Event<Ticket> {
        try checkNotIdle(stream)
        // A second reset of the same stream was seen after REFUSED_STREAM (Reference/APNs.md#1-4): the stream is gone by then.
        guard let stream = remove(stream) else { return .none }
        if code == .refusedStream { return .finished(stream.ticket, stream: stream.id, .refused) }
        noteEnd()
        return .finished(stream.ticket, stream: stream.id, code == .enhanceYourCalm ? .lostToHaste : .lost(.streamReset))
    }

    /// Lowers the last stream monotonically, so that the two-step form and repeats need no case of their own.
    private mutating func receiveGoAway(_ last: UInt32, _ code: HTTP2ErrorCode, _ debug: ByteBuffer) -> HTTP2Event<Ticket> {
        lastProcessed = min(lastProcessed, last)
        enter(.draining)
        let limit = lastProcessed
        let refused = streams.removeAll { $0.id > limit }
        blocked.removeAll { $0 > limit }
        let reason = APNsAnswerJSON.reason(debugData: Array(debug.readableBytesView.prefix(APNsAnswerJSON.maximumBody)))
        return .goAway(
            HTTP2GoAway(lastStream: lastProcessed, code: code, reason: reason), notProcessed: refused.map(\.ticket))
    }

    /// Resets a stream on which the server broke a rule that concerns this stream only (RFC 9113, 5.4.2).
    mutating func end(_ id: UInt32, with code: HTTP2ErrorCode) -> HTTP2Event<Ticket> {
        guard let stream = remove(id) else { return .none }
        output.writeHTTP2ResetStream(id, code: code)
        noteEnd()
        return .finished(stream.ticket, stream: id, .lost(.protocolError))
    }

    /// Takes a stream out, together with its place among the blocked ones.
    mutating func remove(_ id: UInt32) -> HTTP2Stream<Ticket>? {
        guard let stream = streams.remove(id) else { return nil }
        floodGuard.earn(requests: 1)
        if stream.unsent != nil { blocked.removeAll { $0 == id } }
        return stream
    }
}
