import APNsProtocol

/// Why a request about channels gave no result.
public enum APNsChannelError: Error, Hashable, Sendable {
    /// APNs refused it, or would have: the reason and what to do are in the rejection.
    case rejected(APNsRejection)
    /// Provably not processed: asking again is safe.
    case notSent(APNsFailure)
    /// It may have been processed: after a create, look at the list before creating again.
    case unknown(APNsFailure)
    /// APNs answered with success, but not in the documented form.
    case malformedAnswer
}

extension APNsChannelError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .rejected(let rejection): "APNs refused the request: \(rejection.reason) (\(rejection.status))"
        case .notSent(let failure): "the request did not reach APNs: \(failure.rawValue)"
        case .unknown(let failure): "it is not known whether APNs processed the request: \(failure.rawValue)"
        case .malformedAnswer: "APNs answered in an unknown form"
        }
    }
}
