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

    /// Whether this connection can ever take another push.
    var isUsable: Bool { phase != .draining && !streams.isExhausted }

    /// Nothing more will happen here.
    var isDrained: Bool { phase == .draining && streams.count == 0 }

    mutating func enter(_ phase: Phase) { self.phase = phase }

    /// Requests were answered.
    mutating func noteAnswer() {
        hasAnswer = true
        lastAnswer = probe.lastRead
        noteEnd()
    }

    /// Whether the server has answered a request a moment ago: then it refuses others for a reason that passes.
    func answersRequests(at now: NIODeadline) -> Bool { hasAnswer && now - lastAnswer < .seconds(1) }

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
