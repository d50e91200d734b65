import APNsProtocol
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
    private func checkNotIdle(_ stream: UInt32) throws(HTTP2Fault) {
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
        switch code {
        case .enhanceYourCalm: return .finished(stream.ticket, stream: stream.id, .lostToHaste)
        case .http11Required: return .finished(stream.ticket, stream: stream.id, .lostToProtocol)
        default: return .finished(stream.ticket, stream: stream.id, .lost(.streamReset))
        }
    }

    /// Lowers the last stream monotonically, so that the two-step form and duplicates need no special case.
    private mutating func receiveGoAway(_ last: UInt32, _ code: HTTP2ErrorCode, _ debug: ByteBuffer) -> HTTP2Event<Ticket> {
        lastProcessed = min(lastProcessed, last)
        enter(.draining)
        let limit = lastProcessed
        let refused = streams.removeAll { $0.id > limit }
        blocked.removeAll { $0 > limit }
        let data = limits.isOfAPNs ? debug.readableBytesView.prefix(APNsAnswerJSON.maximumBody) : []
        let reason = APNsAnswerJSON.reason(debugData: Array(data))
        return .goAway(
            HTTP2GoAway(lastStream: lastProcessed, code: code, reason: reason), notProcessed: refused.map(\.ticket))
    }

    /// Resets a stream on which the server broke a rule that concerns this stream only (RFC 9113, 5.4.2).
    private mutating func end(_ id: UInt32, with code: HTTP2ErrorCode) -> HTTP2Event<Ticket> {
        guard let stream = remove(id) else { return .none }
        output.writeHTTP2ResetStream(id, code: code)
        noteEnd()
        return .finished(stream.ticket, stream: id, .lost(.protocolError))
    }

    /// Takes a stream out, together with its place among the blocked ones.
    private mutating func remove(_ id: UInt32) -> HTTP2Stream<Ticket>? {
        guard let stream = streams.remove(id) else { return nil }
        floodGuard.earn(requests: 1)
        if stream.unsent != nil { blocked.removeAll { $0 == id } }
        return stream
    }

    // Header blocks and bodies of answers.

    private mutating func receiveContinuation(_ fragment: ByteBuffer, endHeaders: Bool) throws(HTTP2Fault) -> HTTP2Event<Ticket> {
        guard var assembly else { return .none }
        try assembly.append(fragment)
        guard endHeaders else {
            self.assembly = assembly
            return .none
        }
        self.assembly = nil
        return try receiveHeaders(assembly.stream, block: assembly.block, endStream: assembly.endStream)
    }

    private mutating func receiveHeaders(_ id: UInt32, block: ByteBuffer, endStream: Bool) throws(HTTP2Fault) -> HTTP2Event<
        Ticket
    > {
        // Decoded even when no caller waits for it: the dynamic table must see every block.
        var head = APNsAnswerHead()
        try decode(block, into: &head)
        guard let hadHead = streams.update(id, { $0.details?.head != nil }) else { return .none }
        if hadHead { return receiveTrailers(id, endStream: endStream) }
        head.finish()
        guard !head.isMalformed, !(head.isInterim && endStream) else { return end(id, with: .protocolError) }
        if head.isInterim { return .none }
        if endStream {
            guard let stream = remove(id) else { return .none }
            return finish(stream, head: head)
        }
        _ = streams.update(id) { stream in
            let details = stream.existingDetails()
            details.head = head
            details.response?.content.status = head.status
            details.response?.content.retryAfter = head.retryAfterText
        }
        return .none
    }

    private mutating func receiveData(
        _ id: UInt32, body: ByteBuffer, flowControlled: Int, endStream: Bool
    ) throws(HTTP2Fault) -> HTTP2Event<Ticket> {
        try checkNotIdle(id)
        try creditConnection(flowControlled)
        let state = streams.update(id) { stream -> (isValid: Bool, overruns: Bool, isCredited: Bool, isEnough: Bool) in
            let details = stream.existingDetails()
            details.received += flowControlled
            let room = stream.maximumBody - details.body.count
            if room > 0 { details.body.append(contentsOf: body.readableBytesView.prefix(room)) }
            return (
                details.head != nil, details.received > Self.streamReceiveWindow, details.response?.isOfAPNs == true,
                details.received >= details.response?.longestBody ?? .max
            )
        }
        guard let state else { return .none }
        guard state.isValid else { return end(id, with: .protocolError) }
        guard !state.overruns else { return end(id, with: .flowControlError) }
        if !endStream, state.isCredited, flowControlled > 0 {
            // Its answer may be larger than the window that was announced for it.
            _ = streams.update(id) { $0.existingDetails().received -= flowControlled }
            output.writeHTTP2WindowUpdate(stream: id, increment: UInt32(flowControlled))
        }
        guard endStream || state.isEnough, let stream = remove(id), let head = stream.details?.head else { return .none }
        // What is left of the request is taken back by the end itself.
        if !endStream, stream.unsent == nil { output.writeHTTP2ResetStream(id, code: .cancel) }
        return finish(stream, head: head)
    }

    private mutating func decode(_ block: ByteBuffer, into head: inout APNsAnswerHead) throws(HTTP2Fault) {
        // A closure of the buffer cannot throw a typed error, so the result is carried out.
        let fault: HPACKFault? = block.withUnsafeReadableBytes { bytes in
            do throws(HPACKFault) {
                try decoder.decode(bytes, into: &head)
                return nil
            } catch {
                return error
            }
        }
        if fault != nil { throw HTTP2Fault(.compressionError, "a header block that cannot be decoded") }
    }

    private mutating func receiveTrailers(_ id: UInt32, endStream: Bool) -> HTTP2Event<Ticket> {
        guard endStream else { return end(id, with: .protocolError) }
        guard let stream = remove(id), let head = stream.details?.head else { return .none }
        return finish(stream, head: head)
    }

    /// A complete answer. It may come before the whole body was sent (Reference/APNs.md#1-4); then the rest is taken back.
    private mutating func finish(_ stream: HTTP2Stream<Ticket>, head: APNsAnswerHead) -> HTTP2Event<Ticket> {
        noteAnswer()
        if stream.unsent != nil { output.writeHTTP2ResetStream(stream.id, code: .cancel) }
        if let response = stream.details?.response {
            response.content = HTTP2Response.Content(
                channelID: head.channelID, status: head.status, retryAfter: head.retryAfterText, body: stream.body)
            guard response.isOfAPNs else {
                return .finished(stream.ticket, stream: stream.id, .answered(.accepted(apnsID: nil, uniqueID: nil)))
            }
        }
        let outcome = APNsAnswerJSON.outcome(head: head, body: stream.body)
        return .finished(stream.ticket, stream: stream.id, .answered(outcome))
    }

    /// Counts what arrived against the window given at the start, and gives it back when half is used.
    private mutating func creditConnection(_ size: Int) throws(HTTP2Fault) {
        receivedUncredited += size
        guard receivedUncredited <= Self.receiveWindow else {
            throw HTTP2Fault(.flowControlError, "more data than the connection window")
        }
        if receivedUncredited >= Self.receiveWindow / 2 {
            output.writeHTTP2WindowUpdate(stream: 0, increment: UInt32(receivedUncredited))
            receivedUncredited = 0
        }
    }
}

/// A push that APNs took, as one frame said.
struct HTTP2Success<Ticket> {
    let ticket: Ticket
    let apnsID: UUID?
    /// In the sandbox.
    let uniqueID: UUID?
}

/// The fast way for what nearly all frames of APNs are: a success in a single HEADERS frame.
extension HTTP2Connection {
    /// Takes the successes at the beginning of `bytes` and returns how many bytes they have. Stops at the first frame that is
    /// anything else, which `receive` then judges; so there is nothing here that could be refused.
    mutating func receiveSuccesses(_ bytes: UnsafeRawBufferPointer, into successes: inout [HTTP2Success<Ticket>]) -> Int {
        guard phase != .awaitingSettings, assembly == nil else { return 0 }
        let before = successes.count
        var offset = 0
        while bytes.count - offset >= HTTP2FrameHeader.size {
            let first = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            // HEADERS with END_HEADERS and END_STREAM, without padding or priority.
            guard first >> 24 & 0xFFFF == 0x01_05 else { break }
            let length = Int(first >> 40)
            let id = UInt32(truncatingIfNeeded: first & 0x7F_FFFF) << 8 | UInt32(bytes[offset + 8])
            let start = offset + HTTP2FrameHeader.size
            guard length <= HTTP2FrameReader.maximumFrameSize, bytes.count - start >= length, id & 1 == 1, streams.isPlain(id)
            else { break }
            let block = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length)])
            // The stream is open, so it is removed whenever the decoder has taken the block.
            guard let ids = decoder.success(block), let stream = streams.remove(id) else { break }
            successes.append(HTTP2Success(ticket: stream.ticket, apnsID: ids.apnsID, uniqueID: ids.uniqueID))
            offset = start + length
        }
        if offset > 0 {
            noteAnswer()
            floodGuard.earn(requests: successes.count - before)
        }
        return offset
    }
}

/// What a received frame requires. The connection state decides; its owner acts on it.
enum HTTP2Event<Ticket> {
    /// Nothing to do beyond writing what is in `output`.
    case none
    /// A push ended, on this stream.
    case finished(Ticket, stream: UInt32, HTTP2StreamEnd)
    /// The first SETTINGS arrived: the connection can be used.
    case ready
    /// The server will take no more streams here. The tickets were not processed and may go elsewhere at once.
    case goAway(HTTP2GoAway, notProcessed: [Ticket])
}

/// How a stream ended.
enum HTTP2StreamEnd: Equatable {
    case answered(APNsOutcome)
    /// Provably not processed.
    case refused
    /// May have been processed.
    case lost(APNsFailure)
    /// The same, and the server wants less (ENHANCE_YOUR_CALM; Reference/APNs.md#1-7).
    case lostToHaste
    /// The server wants the request by HTTP/1.1 (HTTP_1_1_REQUIRED).
    case lostToProtocol
}

/// What a GOAWAY said.
struct HTTP2GoAway: Equatable {
    var lastStream: UInt32
    var code: HTTP2ErrorCode
    var reason: APNsReason?
    /// Connecting again would end the same way.
    var refusesCredential: Bool { reason?.refusesCredential == true }
}

/// A header block that came in pieces: HEADERS and then CONTINUATION (RFC 9113, 6.10), bounded in bytes and in frames.
struct HTTP2HeaderAssembly {
    static let maximumSize = 65_536
    static let maximumFrames = 32

    let stream: UInt32
    let endStream: Bool
    private(set) var block: ByteBuffer
    private var frames = 1

    init(stream: UInt32, endStream: Bool, fragment: ByteBuffer) {
        self.stream = stream
        self.endStream = endStream
        block = fragment
    }

    mutating func append(_ fragment: ByteBuffer) throws(HTTP2Fault) {
        frames += 1
        guard frames <= Self.maximumFrames, block.readableBytes + fragment.readableBytes <= Self.maximumSize else {
            throw HTTP2Fault(.enhanceYourCalm, "a header block without end")
        }
        block.writeImmutableBuffer(fragment)
    }
}

/// Counts frames that cost an answer and carry nothing, so that a peer cannot make this side work or grow without end.
///
/// What an honest server says grows with what it is asked: APNs sends SETTINGS after a refusal and again after the next success
/// (Reference/APNs.md#1-4). So each ended request earns it some frames, and the maximum is for those that nothing explains.
struct HTTP2FloodGuard {
    private static let window: TimeAmount = .seconds(10)
    private static let maximum = 5_000
    /// Two SETTINGS, a PING and an empty DATA frame.
    private static let framesPerRequest = 4

    private var windowEnd = NIODeadline.uptimeNanoseconds(0)
    /// Frames without content less what ended requests allow; may be negative.
    private var count = 0

    mutating func note(at now: NIODeadline) throws(HTTP2Fault) {
        if now >= windowEnd {
            windowEnd = now + Self.window
            // What was earned is not saved up; the maximum has room for what comes late.
            count = 0
        }
        count += 1
        guard count <= Self.maximum else { throw HTTP2Fault(.enhanceYourCalm, "a flood of frames without content") }
    }

    /// Requests ended: one addition for many of them.
    @inline(__always)
    mutating func earn(requests: Int) { count -= requests * Self.framesPerRequest }
}
