import APNsProtocol

/// What a frame led to. The connection state decides; whoever owns it obeys.
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
}

/// What a GOAWAY said.
struct HTTP2GoAway: Equatable {
    var lastStream: UInt32
    var code: HTTP2ErrorCode
    var reason: APNsReason?
    /// Connecting again would end the same way.
    var refusesCredential: Bool { reason?.refusesCredential == true }
}
