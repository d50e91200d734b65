import APNsProtocol

/// Whom a connection tells what happened. Everything is called on the connection's event loop.
protocol APNsConnectionOwner: AnyObject {
    /// The server's first SETTINGS arrived.
    func connectionIsReady(_ id: Int)
    /// A push ended, on this stream.
    func connection(_ id: Int, finished ticket: PushTicket, stream: UInt32, _ end: HTTP2StreamEnd)
    /// Pushes were accepted; all that one read brought, in order.
    func connection(_ id: Int, accepted successes: [HTTP2Success<PushTicket>])
    /// The server will take no more; the tickets were not processed.
    func connection(_ id: Int, received goAway: HTTP2GoAway, notProcessed: [PushTicket])
    /// Everything read so far was handled: there may be room for more pushes.
    func connectionMayTakeMore(_ id: Int)
    /// The connection had nothing to do for the idle time and is about to close.
    func connectionIsIdle(_ id: Int)
    /// Requests wait there and none is answered, though PING is; nothing more may be sent there.
    func connectionIsStuck(_ id: Int)
    /// The connection is gone, with these pushes unanswered.
    func connection(_ id: Int, closed failure: APNsFailure, unanswered: [(ticket: PushTicket, isIncomplete: Bool)])
}
