import APNsProtocol
import PushHub

/// An outcome as two labels. Reasons are those that APNs documents and those of the client; all others are one.
struct OutcomeClass: Hashable {
    let result: String
    let reason: String

    init(_ outcome: PushOutcome) {
        switch outcome {
        case .accepted: (result, reason) = ("accepted", "none")
        case .gone: (result, reason) = ("gone", "none")
        case .badToken: (result, reason) = ("bad_token", "none")
        case .rejected(let word): (result, reason) = ("rejected", Self.reason(word))
        case .tooLarge: (result, reason) = ("too_large", "none")
        case .retry(_, let word): (result, reason) = ("retry", Self.reason(word))
        case .notSent(let word), .unavailable(let word, _): (result, reason) = ("not_sent", Self.reason(word))
        case .unknown(let word): (result, reason) = ("unknown", Self.reason(word))
        case .misconfigured(let word): (result, reason) = ("misconfigured", Self.reason(word))
        case .unsupported: (result, reason) = ("unsupported", "none")
        }
    }

    static func reason(_ word: String) -> String {
        if APNsFailure(rawValue: word) != nil || APNsReason(rawValue: word).isKnown { return word }
        return word.isEmpty ? "none" : "other"
    }
}
