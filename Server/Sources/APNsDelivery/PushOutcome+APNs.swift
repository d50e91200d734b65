import APNsProtocol
import PushHub
import RichPushModel

extension PushOutcome {
    /// The outcome of the client in the hub's terms. `now` is what a `retry-after` with a date is compared with where the answer says no
    /// date of its own.
    init(_ outcome: APNsOutcome, now: Timestamp) {
        switch outcome {
        case .accepted: self = .accepted
        case .rejected(let rejection): self = Self.rejection(rejection, now)
        case .notSent(.credentialRefused): self = .misconfigured(reason: APNsFailure.credentialRefused.rawValue)
        case .notSent(let failure): self = .notSent(reason: failure.rawValue)
        case .unknown(let failure): self = .unknown(reason: failure.rawValue)
        }
    }

    private static func rejection(_ rejection: APNsRejection, _ now: Timestamp) -> PushOutcome {
        let reason = rejection.reason.rawValue.isEmpty ? "status \(rejection.status)" : rejection.reason.rawValue
        // As far as it is believed.
        let asked = rejection.pause(at: now).map { min($0, PushRetryAdvice.maximum) }
        switch rejection.disposition {
        case .removeToken:
            // Without a moment nothing may be forgotten: the device may have registered again since.
            guard let timestamp = rejection.timestamp else { return .badToken }
            return .gone(since: Timestamp(milliseconds: timestamp))
        case .badToken: return .badToken
        case .drop, .fixRequest: return rejection.status == 413 ? .tooLarge : .rejected(reason: reason)
        case .fixConfiguration: return .misconfigured(reason: reason)
        case .later:
            // APNs serves no push now, so the others wait too. The hub's own back-off starts from the pause that APNs asks for.
            if rejection.status == 503 { return .unavailable(reason: reason, retryAfter: asked) }
            let pause = rejection.status == 429 ? PushRetryAdvice.afterTooManyRequests : PushRetryAdvice.afterServerError
            return .retry(after: asked ?? min(pause, PushRetryAdvice.maximum), reason: reason)
        case .newConnection:
            // The client has left that connection by now and tried once more on another; the push is as good as before.
            if rejection.status == 403 { return .misconfigured(reason: reason) }
            return .unavailable(reason: reason, retryAfter: asked)
        case .newToken:
            // The client renews an old token by itself; what comes through is a young one, so a clock is wrong.
            return .misconfigured(reason: reason)
        }
    }
}

/// How long to wait before one push is tried again (Reference/APNs.md#4). The hub adds its own back-off and jitter.
public enum PushRetryAdvice {
    /// After `TooManyRequests`: this one device gets too much.
    static let afterTooManyRequests: Duration = .seconds(60)
    /// After a 500 without `retry-after`: 15 minutes, as Apple asks.
    public static let afterServerError: Duration = .seconds(15 * 60)
    /// The most that a `retry-after` of the server is believed.
    static let maximum: Duration = .seconds(3600)
}
