import APNsProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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

    // MARK: The orders in which requests are judged; the first refusal is the answer.
    //
    // Evidence exists for method before path, credential before device token, environment before topic and, for broadcasts,
    // credential before channel. The rest of the order is a guess, so it stands here alone, to be changed in one place
    // (Reference/APNs.md#7-2).

    /// A push to a device token.
    static let deviceOrder = joined([
        [method, path, deviceTokenPresent],  // 8, 9
        credentials,  // 10 to 13
        [duplicateHeaders, apnsID, expiration, priority, collapseID, pushType],  // 14
        [topicPresent, topicForm, topicAllowed, topicSuffix],  // 15
        [backgroundPriority],  // 16
        [bodyPresent, bodySize, bodyForm],  // 17
        [tokenForm, tokenKnown, tokenTopic, tokenAlive],  // 18
        [deviceRate],  // 19
    ])

    /// A broadcast.
    static let broadcastOrder = joined([
        [method, path], credentials, app,
        [channelPresent, channelForm, channelKnown],
        [broadcastPushType, broadcastPriority, broadcastExpiration],
        [bodyPresent, bodySize, bodyForm],
        [appRate],
    ])

    /// The management of channels.
    static let managementOrder = joined([
        [method, path], credentials, app,
        [channelPresent, channelForm, channelKnown],
        [channelCreation, channelLimit],
        [appRate],
    ])

    private static let credentials: [RequestCheck] = [
        credentialPresent, certificateDates, certificateEnvironment, providerToken, keyEnvironment, connectionBinding,
        tokenAge, tokenUpdates,
    ]

    private static let app: [RequestCheck] = [duplicateHeaders, requestID, appSuffix, appCovered, broadcastCapability]

    private static func joined(_ groups: [[RequestCheck]]) -> [RequestCheck] { Array(groups.joined()) }

    // MARK: Method, path and credential (Reference/APNs.md#7-2-8 to #7-2-13)

    /// Pushes and broadcasts are posted. The management knows three methods, and its list is only read.
    static let method = RequestCheck(.method) { evidence in
        let allowed: Set<String> =
            switch (evidence.request.service, evidence.path) {
            case (.provider, _): ["POST"]
            case (.channelManagement, .allChannels): ["GET"]
            case (.channelManagement, _): ["GET", "POST", "DELETE"]
            }
        return allowed.contains(evidence.request.head.method) ? nil : APNsRefusal(405, .methodNotAllowed)
    }

    static let path = RequestCheck(.path) { evidence in
        evidence.path == .unknown ? APNsRefusal(404, .badPath) : nil
    }

    static let deviceTokenPresent = RequestCheck(.deviceTokenPresent) { evidence in
        evidence.path == .deviceWithoutToken ? APNsRefusal(400, .missingDeviceToken) : nil
    }

    static let credentialPresent = RequestCheck(.credentialPresent) { evidence in
        evidence.credential == .missing ? APNsRefusal(403, .missingProviderToken) : nil
    }

    static let providerToken = RequestCheck(.providerToken) { evidence in
        evidence.signed == nil && evidence.certificate == nil ? APNsRefusal(403, .invalidProviderToken) : nil
    }

    static let keyEnvironment = RequestCheck(.keyEnvironment) { evidence in
        guard let environment = evidence.signed?.key.environment, environment != evidence.environment else { return nil }
        return APNsRefusal(403, evidence.rules.environmentKeyReason)
    }

    /// The table of Reference/APNs.md#2-3. A team-scoped key may follow another team-scoped key of its team; a topic-specific
    /// key only itself and its related key.
    static let connectionBinding = RequestCheck(.connectionBinding) { evidence in
        guard let binding = evidence.binding, let key = evidence.signed?.key else { return nil }
        if key.teamID != binding.teamID { return APNsRefusal(403, .invalidProviderToken) }
        switch (binding.topicKeyID, key.topics) {
        case (nil, nil): return nil
        case (let bound?, .some) where key.keyID == bound || key.keyID == binding.relatedKeyID || key.relatedKeyID == bound:
            return nil
        default: return APNsRefusal(403, .unrelatedKeyIDInToken)
        }
    }

    /// A token older than its lifetime has expired. Apple writes that `iat` must be "no more than one hour from the current
    /// time", so a token up to an hour ahead is accepted. Apple does not say which reason a token further ahead gets; the rules do.
    static let tokenAge = RequestCheck(.tokenAge) { evidence in
        guard let issuedAt = evidence.signed?.issuedAt else { return nil }
        let (age, overflow) = evidence.now.seconds.subtractingReportingOverflow(issuedAt)
        if overflow { return APNsRefusal(403, .invalidProviderToken) }
        let isRecalled = evidence.recalledBefore.map { issuedAt < $0 } ?? false
        if isRecalled || age > evidence.rules.providerTokenLifetime { return APNsRefusal(403, .expiredProviderToken) }
        return age < -evidence.rules.providerTokenLead ? APNsRefusal(403, evidence.rules.futureTokenReason) : nil
    }

    /// Too often means: this connection changed the token of this key less than the interval ago, or the two tokens were minted
    /// less than the interval apart. Another key that the connection allows has a token of its own. A fleet that shares one token
    /// and refreshes it by age meets neither. An expired token counts for no interval, as the old one or as the new one.
    static let tokenUpdates = RequestCheck(.tokenUpdates) { evidence in
        guard let current = evidence.currentToken, let issuedAt = evidence.signed?.issuedAt, !evidence.tokenCalledExpired,
            current.token != Credential.bearerToken(evidence.request.head.authorization)
        else { return nil }
        let interval = evidence.rules.providerTokenInterval
        if let changedAt = current.changedAt, evidence.uptime - changedAt < .seconds(interval) {
            return APNsRefusal(429, .tooManyProviderTokenUpdates)
        }
        let (apart, overflow) = issuedAt.subtractingReportingOverflow(current.issuedAt)
        return !overflow && apart.magnitude < UInt64(max(0, interval)) ? APNsRefusal(429, .tooManyProviderTokenUpdates) : nil
    }

    // MARK: The certificate (Reference/APNs.md#7-2-2) of a client whose connection was not ended for it

    static let certificateDates = RequestCheck(.certificateDates) { evidence in
        guard let certificate = evidence.certificate else { return nil }
        return certificate.isValid(at: evidence.now) ? nil : APNsRefusal(403, .badCertificate)
    }

    static let certificateEnvironment = RequestCheck(.certificateEnvironment) { evidence in
        guard let certificate = evidence.certificate else { return nil }
        let isRight = certificate.environments.contains(evidence.environment)
        return isRight ? nil : APNsRefusal(403, .badCertificateEnvironment)
    }

    // MARK: The syntax of the headers (Reference/APNs.md#7-2-14 and #7-2-16)

    static let duplicateHeaders = RequestCheck(.duplicateHeaders) { evidence in
        evidence.request.head.hasDuplicates ? APNsRefusal(400, .duplicateHeaders) : nil
    }

    static let apnsID = RequestCheck(.apnsID) { evidence in
        guard let id = evidence.request.head.apnsID else { return nil }
        return APNsText.isUUID(id) ? nil : APNsRefusal(400, .badMessageID)
    }

    /// Whole seconds since 1970, not negative; digits alone, since `Int64` would let a sign through.
    static let expiration = RequestCheck(.expiration) { evidence in
        guard let text = evidence.request.head.expiration else { return nil }
        let digits = !text.isEmpty && text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        return digits && Int64(text) != nil ? nil : APNsRefusal(400, .badExpirationDate)
    }

    static let priority = RequestCheck(.priority) { evidence in
        switch evidence.request.head.priority {
        case nil, "10", "5", "1": nil
        default: APNsRefusal(400, .badPriority)
        }
    }

    static let collapseID = RequestCheck(.collapseID) { evidence in
        guard let id = evidence.request.head.collapseID else { return nil }
        return id.utf8.count <= 64 ? nil : APNsRefusal(400, .badCollapseID)
    }

    static let pushType = RequestCheck(.pushType) { evidence in
        guard let type = evidence.pushType else {
            return evidence.rules.missingPushType == .refuse ? APNsRefusal(400, .invalidPushType) : nil
        }
        return APNsPushType.documented.contains(type) ? nil : APNsRefusal(400, .invalidPushType)
    }

    /// An absent priority means 10 (Reference/APNs.md#3-2), which a background push may not have; only the explicit form is
    /// described as an error, so only that one is refused.
    static let backgroundPriority = RequestCheck(.backgroundPriority) { evidence in
        guard evidence.rules.backgroundAtPriorityTen == .refuse, evidence.pushType == .background else { return nil }
        return evidence.request.head.priority == "10" ? APNsRefusal(400, evidence.rules.backgroundPriorityReason) : nil
    }

    // MARK: The topic (Reference/APNs.md#7-2-15)

    static let topicPresent = RequestCheck(.topicPresent) { evidence in
        evidence.topic?.isEmpty == false ? nil : APNsRefusal(400, .missingTopic)
    }

    static let topicForm = RequestCheck(.topicForm) { evidence in
        guard let topic = evidence.topic else { return nil }
        return APNsText.isTopic(topic) ? nil : APNsRefusal(400, .badTopic)
    }

    /// With a certificate the topic is one that it lists; the push type `location` needs a provider token all the same
    /// (Reference/APNs.md#2-4). With a token the app belongs to the team, to the topics of the key, and to what the team had when
    /// the connection was bound.
    static let topicAllowed = RequestCheck(.topicAllowed) { evidence in
        guard let topic = evidence.topic else { return nil }
        if let certificate = evidence.certificate { return certificateRefusal(of: topic, by: certificate, evidence) }
        guard let key = evidence.signed?.key else { return nil }
        let refusal = APNsRefusal(400, .topicDisallowed)
        guard let app = evidence.app, app.teamID == key.teamID else { return refusal }
        if let topics = key.topics, !topics.contains(TopicName(topic).bundleID) { return refusal }
        if evidence.rules.bindsAppsToConnection, let binding = evidence.binding, app.sequence > binding.appSequence {
            return refusal
        }
        return nil
    }

    private static func certificateRefusal(
        of topic: String, by certificate: ClientCertificate, _ evidence: RequestEvidence
    ) -> APNsRefusal? {
        if evidence.pushType == .location { return APNsRefusal(400, .topicDisallowed) }
        return certificate.topics.contains(topic) ? nil : APNsRefusal(400, evidence.rules.certificateTopicReason)
    }

    static let topicSuffix = RequestCheck(.topicSuffix) { evidence in
        guard let topic = evidence.topic, let pushType = evidence.pushType else { return nil }
        return TopicName(topic).fits(pushType) ? nil : APNsRefusal(400, .topicDisallowed)
    }

    // MARK: The body (Reference/APNs.md#7-2-17)

    static let bodyPresent = RequestCheck(.bodyPresent) { evidence in
        evidence.request.bodySize == 0 ? APNsRefusal(400, .payloadEmpty) : nil
    }

    /// 4096 bytes, 5120 for VoIP and broadcasts. A request without push type is measured by its topic.
    static let bodySize = RequestCheck(.bodySize) { evidence in
        let isVoIP = evidence.pushType.map { $0 == .voip } ?? (evidence.topic?.hasSuffix(".voip") == true)
        let isLong = isVoIP || evidence.path.bundleID != nil
        let limit = (isLong ? APNsPushType.voip : .alert).maximumPayload
        return evidence.request.bodySize > limit ? APNsRefusal(413, .payloadTooLarge) : nil
    }

    static let bodyForm = RequestCheck(.bodyForm) { evidence in
        guard evidence.rules.bodyThatIsNotJSON == .refuse else { return nil }
        let isObject = (try? JSONDecoder().decode([String: AnyJSON].self, from: Data(evidence.request.body))) != nil
        return isObject ? nil : APNsRefusal(400, .payloadEmpty)
    }

    /// Accepts every JSON value; the parser has checked its form before.
    private struct AnyJSON: Decodable {
        init(from decoder: any Decoder) {}
    }

    // MARK: The device token (Reference/APNs.md#7-2-18 and #7-2-19)

    static let tokenForm = RequestCheck(.tokenForm) { evidence in
        guard let token = evidence.path.token else { return nil }
        return APNsText.isDeviceToken(token) ? nil : APNsRefusal(400, .badDeviceToken)
    }

    /// A token of the other environment is unknown in this one.
    static let tokenKnown = RequestCheck(.tokenKnown) { evidence in
        evidence.target == nil ? APNsRefusal(400, .badDeviceToken) : nil
    }

    static let tokenTopic = RequestCheck(.tokenTopic) { evidence in
        guard let target = evidence.target else { return nil }
        return target.topic == evidence.topic ? nil : APNsRefusal(400, .deviceTokenNotForTopic)
    }

    static let tokenAlive = RequestCheck(.tokenAlive) { evidence in
        switch evidence.target?.life {
        case .unregistered(let since): APNsRefusal(410, .unregistered, timestamp: since.milliseconds)
        case .expired(let since): APNsRefusal(410, .expiredToken, timestamp: since.milliseconds)
        case .alive, nil: nil
        }
    }

    static let deviceRate = RequestCheck(.deviceRate) { evidence in
        guard let rate = evidence.rules.deviceRate, let target = evidence.target else { return nil }
        return target.recentPushes >= rate.count ? APNsRefusal(429, .tooManyRequests) : nil
    }
}
