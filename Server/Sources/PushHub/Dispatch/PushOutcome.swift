import RichPushModel

/// What the transport says of one push, in the hub's terms.
public enum PushOutcome: Hashable, Sendable {
    /// The push service took it. Not: delivered.
    case accepted
    /// The device is gone since the moment given (status 410); the record goes unless it registered later.
    case gone(since: Timestamp)
    /// The token is malformed or of the other environment: park the record, never delete it.
    case badToken
    /// Refused for good; the reason is the push service's word.
    case rejected(reason: String)
    /// Refused for good, because the body is larger than the push service takes.
    case tooLarge
    /// Refused for now, this one push: try again, not before the delay.
    case retry(after: Duration, reason: String)
    /// Provably not processed: safe to send again. The push service or the way to it cannot be used now.
    case notSent(reason: String)
    /// The push service answered that it cannot serve now: not processed, and safe to send again, but not before `retryAfter` has
    /// passed, if the service named a time.
    case unavailable(reason: String, retryAfter: Duration? = nil)
    /// Not known whether it was processed; a repeat may be a duplicate.
    case unknown(reason: String)
    /// The credential or the configuration is wrong: nothing will pass until an operator mends it.
    case misconfigured(reason: String)
    /// There is no transport for this platform, or no credential for this environment.
    case unsupported
}

extension PushOutcome {
    /// The push service's or the transport's word, if there is one.
    var reason: String? {
        switch self {
        case .accepted, .gone, .badToken, .tooLarge, .unsupported: nil
        case .rejected(let reason), .retry(_, let reason), .notSent(let reason), .unavailable(let reason, _),
            .unknown(let reason), .misconfigured(let reason):
            reason
        }
    }
}
