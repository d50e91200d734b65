/// The life of a send.
public enum NotificationState: String, Sendable, CaseIterable {
    /// Accepted, due later.
    case scheduled
    /// Accepted and due, no slice leased yet.
    case accepted
    /// At least one slice was leased.
    case dispatching
    /// Every target has an outcome.
    case completed
    /// Cancelled or recalled before every target had one.
    case cancelled
    /// Its time ran out before every target was tried.
    case expired
    /// Could not be dispatched at all.
    case failed

    /// Whether nothing more will happen.
    public var isFinal: Bool {
        switch self {
        case .scheduled, .accepted, .dispatching: false
        case .completed, .cancelled, .expired, .failed: true
        }
    }
}
