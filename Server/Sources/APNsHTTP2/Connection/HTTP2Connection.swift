import APNsProtocol
import NIOCore

/// The client's side of one HTTP/2 connection to APNs, as a value: frames go in, bytes and events come out, no socket is touched.
///
/// `Ticket` is whatever the owner wants back at the end of each stream. All rules of Reference/APNs.md#1-4 to #1-8 that
/// concern a single connection are here.
struct HTTP2Connection<Ticket> {
    enum Phase: Equatable {
        /// Nothing may be sent before the server's first SETTINGS.
        case awaitingSettings
        case open
        /// No new streams; the open ones are still answered.
        case draining
    }

    /// The receive window that is given to the server at the start, so that it never has to wait for credit.
    static var receiveWindow: Int { 16 * 1024 * 1024 }
    /// What is announced for each stream: the default of HTTP/2.
    static var streamReceiveWindow: Int { 65_535 }

    let limits: HTTP2ConnectionLimits
    /// Bytes to write, in order.
    var output = ByteBuffer()
    private(set) var phase = Phase.awaitingSettings
    var streams = HTTP2StreamTable<Ticket>()
    var peer = HTTP2PeerSettings()
    /// How many body bytes the server still takes on the whole connection.
    var sendWindow = 65_535
    /// Streams whose body is not fully written, in order.
    var blocked: [UInt32] = []
    var headerBlocks: APNsHeaderBlocks
    var decoder = HPACKDecoder()
    var assembly: HTTP2HeaderAssembly?
    var floodGuard = HTTP2FloodGuard()
    /// Received on the connection since the last WINDOW_UPDATE.
    var receivedUncredited = 0
    /// Whether any request was answered yet, which ends the warm-up. A reset is no answer (Reference/APNs.md#1-4, rule 2).
    private(set) var hasAnswer = false
    /// When a request was last answered.
    private var lastAnswer = NIODeadline.uptimeNanoseconds(0)
    /// Streams above this were not processed; lowered by each GOAWAY.
    var lastProcessed: UInt32 = .max
    var probe = HTTP2Probe()

    init(authority: String, limits: HTTP2ConnectionLimits, now: NIODeadline) {
        self.limits = limits
        headerBlocks = APNsHeaderBlocks(authority: authority)
        probe.lastRead = now
        probe.measuredAt = now
    }

    /// Writes what a client says first.
    mutating func start(at now: NIODeadline) {
        probe.measuredAt = now
        output.writeHTTP2Preface()
        output.writeHTTP2Settings([
            (HTTP2Settings.Identifier.enablePush, 0),
            (HTTP2Settings.Identifier.maximumHeaderListSize, 16_384),
        ])
        output.writeHTTP2WindowUpdate(stream: 0, increment: UInt32(Self.receiveWindow - 65_535))
    }

    /// How many streams may be open now.
    var streamLimit: Int {
        guard phase == .open, !streams.isExhausted else { return 0 }
        let allowed = min(limits.streams, peer.maximumConcurrentStreams)
        return limits.warmsUp && !hasAnswer ? min(1, allowed) : allowed
    }

    /// Whether a push with a body of this size can be written now.
    ///
    /// A body goes out whole, so that a stream never waits half sent for the window of the connection. Only when nothing
    /// is open, and so no credit is to be expected, a body is begun in a window that is too small for it.
    func canOpen(bodySize: Int) -> Bool {
        guard streams.count < streamLimit, blocked.isEmpty || sendWindow > 0 else { return false }
        return sendWindow >= bodySize || (streams.count == 0 && sendWindow > 0)
    }

    /// Whether the server allows one stream only although answers have come: it punishes a refusal, and one success ends that
    /// (Reference/APNs.md#1-4).
    var needsSuccess: Bool { hasAnswer && peer.maximumConcurrentStreams == 1 && streams.count == 0 }

    /// Nothing more will happen here.
    var isDrained: Bool { phase == .draining && streams.count == 0 }

    mutating func enter(_ phase: Phase) { self.phase = phase }

    /// Requests were answered.
    mutating func noteAnswer() {
        hasAnswer = true
        lastAnswer = probe.lastRead
        noteEnd()
    }

    /// Whether APNs has answered a request a moment ago: then it refuses others for a reason that passes. Another service has no such reason,
    /// and may refuse the same request each time.
    func answersRequests(at now: NIODeadline) -> Bool { limits.isOfAPNs && hasAnswer && now - lastAnswer < .seconds(1) }

    /// The server ended a request, in whatever way: it is not stuck.
    mutating func noteEnd() { probe.owingSince = streams.count > 0 ? probe.lastRead : nil }

    /// Calls `body` with every ticket that waits for an answer.
    func forEachTicket(_ body: (Ticket) -> Void) { streams.forEach { body($0.ticket) } }

    /// Opens no more streams; for an orderly end from this side.
    mutating func drain() { phase = .draining }

    /// Ends every stream, because the connection is gone. `true` marks those whose request was never completely written.
    mutating func takeAll() -> [(ticket: Ticket, isIncomplete: Bool)] {
        blocked.removeAll()
        phase = .draining
        return streams.removeAll { _ in true }.map { ($0.ticket, $0.unsent != nil) }
    }

    /// Hands over the bytes to write.
    mutating func takeOutput() -> ByteBuffer {
        let bytes = output
        // Under load the next buffer is made as large as a TLS record at once; an idle connection keeps nothing.
        output = ByteBuffer()
        if bytes.readableBytes > 2048 { output.reserveCapacity(16_384) }
        return bytes
    }
}

/// Writing requests and bodies, within the windows.
extension HTTP2Connection {
    /// Opens a stream and writes the request. Call only after `canOpen` said yes; returns the stream's id.
    ///
    /// Takes the place of the push, because a copy of it would count references five times.
    mutating func open(_ ticket: Ticket, _ push: UnsafePointer<APNsPush>, authorization: APNsAuthorization?) -> UInt32? {
        guard let id = streams.reserveID() else { return nil }
        let size = push.pointee.payload.count
        let fits = size <= min(sendWindow, peer.initialWindowSize, peer.maximumFrameSize)
        headerBlocks.append(push, authorization: authorization, stream: id, withBody: fits, to: &output)
        var stream = HTTP2Stream(id: id, ticket: ticket, window: peer.initialWindowSize)
        if fits {
            sendWindow -= size
            stream.window -= size
        } else {
            stream.unsent = push.pointee.payload[...]
            writeBody(of: &stream)
            if stream.unsent != nil { blocked.append(id) }
        }
        streams.insert(stream)
        return id
    }

    /// The same for a push that is no element of a batch.
    mutating func open(_ ticket: Ticket, _ push: APNsPush, authorization: APNsAuthorization?) -> UInt32? {
        withUnsafePointer(to: push) { open(ticket, $0, authorization: authorization) }
    }

    /// Goes on with bodies that waited for credit.
    mutating func writeBlockedBodies() {
        guard !blocked.isEmpty else { return }
        let waiting = blocked
        blocked.removeAll(keepingCapacity: true)
        for id in waiting {
            guard var stream = streams.remove(id) else { continue }
            writeBody(of: &stream)
            if stream.unsent != nil { blocked.append(id) }
            streams.insert(stream)
        }
    }

    /// Gives up the streams that satisfy the condition.
    mutating func cancelAll(where condition: (Ticket) -> Bool) -> [(ticket: Ticket, isIncomplete: Bool)] {
        let cancelled = streams.removeAll { condition($0.ticket) }
        // They may still be answered, with SETTINGS before and after.
        floodGuard.earn(requests: cancelled.count)
        return cancelled.map { stream in
            output.writeHTTP2ResetStream(stream.id, code: .cancel)
            if stream.unsent != nil { blocked.removeAll { $0 == stream.id } }
            return (stream.ticket, stream.unsent != nil)
        }
    }

    private mutating func writeBody(of stream: inout HTTP2Stream<Ticket>) {
        while let unsent = stream.unsent {
            let size = min(unsent.count, sendWindow, stream.window, peer.maximumFrameSize)
            let isLast = size == unsent.count
            // An empty frame is written only to end an empty body.
            guard size > 0 || (isLast && size == 0) else { return }
            output.writeHTTP2FrameHeader(
                length: size, kind: HTTP2FrameHeader.Kind.data, flags: isLast ? HTTP2FrameHeader.Flag.endStream : 0,
                stream: stream.id)
            output.writeBytes(unsent.prefix(size))
            sendWindow -= size
            stream.window -= size
            stream.unsent = isLast ? nil : unsent.dropFirst(size)
        }
    }

    /// Opens a stream for a request that is no device push. Call only after `canOpen` said yes; returns the stream's id.
    mutating func open(_ ticket: Ticket, _ request: HTTP2Request, authorization: APNsAuthorization?) -> UInt32? {
        guard let id = streams.reserveID() else { return nil }
        headerBlocks.append(request, authorization: authorization, stream: id, to: &output)
        var stream = HTTP2Stream(id: id, ticket: ticket, window: peer.initialWindowSize)
        stream.existingDetails().response = request.response
        if !request.body.isEmpty { stream.unsent = request.body[...] }
        streams.insert(stream)
        guard !request.body.isEmpty else { return id }
        blocked.append(id)
        writeBlockedBodies()
        return id
    }
}

/// What one connection may do, from the configuration of the client.
struct HTTP2ConnectionLimits {
    var streams = 4000
    /// One request first, and the rest after its answer (Reference/APNs.md#1-4).
    var warmsUp = true
    var silenceBeforePing: TimeAmount = .seconds(30)
    var stallBeforePing: TimeAmount = .seconds(10)
    var pingAnswer: TimeAmount = .seconds(8)
    var noAnswer: TimeAmount = .seconds(20)
    /// Whether the reasons in what the server says are those of APNs. Another service could stop this client with one.
    var isOfAPNs = true
    /// Between two measurements of the round trip of a connection in use. Others ping as often, and APNs does not mind
    /// (Reference/APNs.md#1-8).
    var measurementInterval: TimeAmount = .seconds(60)
}

/// What the server's SETTINGS say now (RFC 9113, 6.5.2).
struct HTTP2PeerSettings: Equatable {
    var headerTableSize = 4096
    /// Unlimited until the server says otherwise; but nothing is sent before its first SETTINGS.
    var maximumConcurrentStreams = Int.max
    var initialWindowSize = 65_535
    var maximumFrameSize = 16_384
}
