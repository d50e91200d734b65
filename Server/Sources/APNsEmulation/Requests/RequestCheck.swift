/// One rule of APNs: a pure function from the evidence to a refusal.
struct RequestCheck: Sendable {
    /// The rules by name; the numbers are those of APNs reference 7.2.
    enum Name: String, Sendable, CaseIterable {
        case method, path, deviceTokenPresent
        case credentialPresent, providerToken
        case keyEnvironment, connectionBinding
        case tokenAge, tokenUpdates
        case duplicateHeaders, apnsID, expiration, priority, collapseID, pushType
        case topicPresent, topicForm, topicAllowed, topicSuffix
        case backgroundPriority
        case bodyPresent, bodySize, bodyForm
        case tokenForm, tokenKnown, tokenTopic, tokenAlive
        case deviceRate
    }

    let name: Name
    let refusal: @Sendable (RequestEvidence) -> APNsRefusal?

    init(_ name: Name, _ refusal: @escaping @Sendable (RequestEvidence) -> APNsRefusal?) {
        self.name = name
        self.refusal = refusal
    }

    /// The order in which a device push is judged; the first refusal is the answer.
    ///
    /// Evidence exists for method before path, credential before device token and environment before topic. The rest of
    /// the order is a guess, so it stands here alone, to be changed in one place (APNs reference 7.2).
    static let deviceOrder: [RequestCheck] = [
        method, path, deviceTokenPresent,  // 8, 9
        credentialPresent, providerToken,  // 10, 11
        keyEnvironment, connectionBinding,  // 12
        tokenAge, tokenUpdates,  // 13
        duplicateHeaders, apnsID, expiration, priority, collapseID, pushType,  // 14
        topicPresent, topicForm, topicAllowed, topicSuffix,  // 15
        backgroundPriority,  // 16
        bodyPresent, bodySize, bodyForm,  // 17
        tokenForm, tokenKnown, tokenTopic, tokenAlive,  // 18
        deviceRate,  // 19
    ]

    /// Up to where a request has to come for its provider token to count as used on the connection.
    static let lastOfCredentials = Name.tokenUpdates

    /// The first refusal with the check that spoke it, and whether the credentials had passed by then.
    static func judge(_ evidence: RequestEvidence) -> (refusal: APNsRefusal?, credentialsPassed: Bool) {
        var credentialsPassed = false
        for check in deviceOrder {
            if let refusal = check.refusal(evidence) { return (refusal, credentialsPassed) }
            if check.name == lastOfCredentials { credentialsPassed = true }
        }
        return (nil, credentialsPassed)
    }
}
