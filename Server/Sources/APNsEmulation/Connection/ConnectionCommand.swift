import APNsProtocol

/// What an operator tells a connection, as an event in its pipeline.
enum ConnectionCommand: Sendable {
    /// GOAWAY with this reason; what is open is answered first.
    case goAway(reason: APNsReason?)
    /// GOAWAY and an orderly end now.
    case close
    /// A moment has come to look whether the connection is idle for too long.
    case checkIdle(limit: Duration)
    /// TCP reset.
    case reset
}
