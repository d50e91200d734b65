import APNsProtocol

/// Method, path and credential (Reference/APNs.md#7-2-8 to #7-2-13).
extension RequestCheck {
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
}
