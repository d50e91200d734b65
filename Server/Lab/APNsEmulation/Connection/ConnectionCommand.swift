import APNsProtocol

/// What an operator tells a connection, as an event in its pipeline.
enum ConnectionCommand: Sendable {
    /// GOAWAY with this reason; what is open is answered first.
    case goAway(reason: APNsReason?)
    /// GOAWAY that names no last stream, and the real one after a pause in which everything is still served.
    case goAwayInTwoSteps(reason: APNsReason?, pause: Duration)
    /// GOAWAY and an orderly end now.
    case close
    /// The orderly end without GOAWAY.
    case drop
    /// Reads on and answers nothing more.
    case wedge
    /// Reads nothing and answers nothing more.
    case stopReading
    /// SETTINGS.
    case announce(SettingsChange)
    /// A moment has come to look whether the connection is idle for too long.
    case checkIdle(limit: Duration)
    /// TCP reset.
    case reset
}
