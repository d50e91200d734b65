#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension APNsOutcome {
    /// Whether APNs took the push. Not: delivered.
    public var isAccepted: Bool { if case .accepted = self { true } else { false } }

    /// For callers that want nothing but acceptance: returns the `apns-id` that APNs answered with, if any.
    ///
    /// - Throws: every other outcome, as an error.
    @discardableResult
    public func accepted() throws(APNsNotAccepted) -> UUID? {
        guard case .accepted(let apnsID, _) = self else { throw APNsNotAccepted(outcome: self) }
        return apnsID
    }
}

/// A push that APNs did not take, or may not have taken.
public struct APNsNotAccepted: Error, Hashable, Sendable {
    /// How it ended; never `accepted`.
    public let outcome: APNsOutcome

    /// Makes an error of an outcome.
    public init(outcome: APNsOutcome) { self.outcome = outcome }

    /// Whether APNs has certainly not processed it, so that sending it again as it is cannot duplicate, and may help.
    public var isSafeToRepeat: Bool { if case .notSent = outcome { true } else { false } }
}

extension APNsNotAccepted: CustomStringConvertible {
    /// The reason in words of APNs or of the client; no token and no content.
    public var description: String {
        switch outcome {
        case .accepted: "accepted"
        case .rejected(let rejection):
            "APNs refused the push: \(rejection.status) \(rejection.reason)"
        case .notSent(let failure): "the push was not sent: \(failure.rawValue)"
        case .unknown(let failure): "it is not known whether APNs took the push: \(failure.rawValue)"
        }
    }
}
