import RichPushModel

/// What an outcome means for its target.
enum TargetVerdict: Hashable {
    /// Counted; nothing more happens.
    case settled(TargetOutcome)
    /// To be tried again, not before the delay.
    case again(PendingTarget.Cause, after: Duration)
    /// It never left, and nothing is wrong with the target.
    case unsent

    /// Reads the outcome of a push to a target whose device token was confirmed at that moment.
    init(_ outcome: PushOutcome, registeredAt: Timestamp) {
        switch outcome {
        case .accepted: self = .settled(.accepted)
        // A record that registered after Apple's moment is alive: the push is lost, the record stays (Reference/APNs.md#4).
        case .gone(let since): self = .settled(registeredAt < since ? .gone : .rejected)
        case .badToken: self = .settled(.badToken)
        case .rejected: self = .settled(.rejected)
        case .tooLarge: self = .settled(.tooLarge)
        case .unsupported: self = .settled(.noTransport)
        case .retry(let delay, _): self = .again(.retry, after: delay)
        case .unknown: self = .again(.unknown, after: .zero)
        case .notSent, .unavailable, .misconfigured: self = .unsent
        }
    }
}
