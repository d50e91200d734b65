/// One rule of APNs: a pure function from the evidence to a refusal.
struct RequestCheck: Sendable {
    /// The rules by name; their order is that of Reference/APNs.md#7-2.
    enum Name: String, Sendable, CaseIterable {
        case method, path, deviceTokenPresent
        case credentialPresent, certificateDates, certificateEnvironment, providerToken
        case keyEnvironment, connectionBinding
        case tokenAge, tokenUpdates
        case duplicateHeaders, apnsID, expiration, priority, collapseID, pushType
        case topicPresent, topicForm, topicAllowed, topicSuffix
        case backgroundPriority
        case bodyPresent, bodySize, bodyForm
        case tokenForm, tokenKnown, tokenTopic, tokenAlive
        case deviceRate
        case requestID, appSuffix, appCovered, broadcastCapability
        case channelPresent, channelForm, channelKnown
        case broadcastPushType, broadcastPriority, broadcastExpiration
        case channelCreation, channelLimit, appRate
    }

    let name: Name
    let refusal: @Sendable (RequestEvidence) -> APNsRefusal?

    init(_ name: Name, _ refusal: @escaping @Sendable (RequestEvidence) -> APNsRefusal?) {
        self.name = name
        self.refusal = refusal
    }

    /// Up to where a request has to come for its provider token to count as used on the connection.
    static let lastOfCredentials = Name.tokenUpdates

    /// The order for a request.
    static func order(for evidence: RequestEvidence) -> [RequestCheck] {
        if evidence.request.service == .channelManagement { return managementOrder }
        if case .broadcast = evidence.path { return broadcastOrder }
        return deviceOrder
    }

    /// The first refusal with the check that spoke it, and whether the credentials had passed by then.
    ///
    /// - Parameter credentialsOnly: stops behind the credentials, which can be judged before the body is here.
    static func judge(
        _ evidence: RequestEvidence, credentialsOnly: Bool = false
    ) -> (refusal: APNsRefusal?, credentialsPassed: Bool) {
        var credentialsPassed = false
        for check in order(for: evidence) {
            if let refusal = check.refusal(evidence) { return (refusal, credentialsPassed) }
            guard check.name == lastOfCredentials else { continue }
            credentialsPassed = true
            if credentialsOnly { break }
        }
        return (nil, credentialsPassed)
    }
}
