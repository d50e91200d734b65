import APNsProtocol

/// What a connection does with a request.
struct Verdict: Sendable {
    /// Absent when a fault swallows the request.
    var answer: APNsAnswer?
    var fault: InjectedFault?

    /// Whether a fault refused the provider token, so that the connection has not adopted it.
    var faultRefusesToken: Bool {
        guard fault != nil, let reason = answer?.reason else { return false }
        let refusals: [APNsReason] = [
            .expiredProviderToken, .tooManyProviderTokenUpdates, .invalidProviderToken, .missingProviderToken,
            .badEnvironmentKeyInToken, .badEnvironmentKeyIDInToken, .unrelatedKeyIDInToken,
        ]
        return refusals.contains(reason)
    }
}
