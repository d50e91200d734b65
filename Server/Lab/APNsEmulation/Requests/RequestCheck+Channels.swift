import APNsProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What broadcasts and the management of channels have of their own (Reference/APNs.md#5).
extension RequestCheck {
    /// One of Apple's samples writes `apns-id`.
    static let requestID = RequestCheck(.requestID) { evidence in
        guard let id = evidence.request.head.requestID ?? evidence.request.head.apnsID else { return nil }
        return APNsText.isUUID(id) ? nil : APNsRefusal(400, .badMessageID)
    }

    /// The path names a bundle id without the suffix of a push type.
    static let appSuffix = RequestCheck(.appSuffix) { evidence in
        guard let bundleID = evidence.path.bundleID else { return nil }
        return TopicName(bundleID).suffix.isEmpty ? nil : APNsRefusal(400, .topicDisallowed)
    }

    static let appCovered = RequestCheck(.appCovered) { evidence in
        let refusal = APNsRefusal(403, .topicMismatch)
        guard let bundleID = evidence.path.bundleID, let app = evidence.app else { return refusal }
        if let certificate = evidence.certificate { return certificate.bundleID == bundleID ? nil : refusal }
        guard let key = evidence.signed?.key, key.teamID == app.teamID else { return refusal }
        return key.topics?.contains(bundleID) == false ? refusal : nil
    }

    static let broadcastCapability = RequestCheck(.broadcastCapability) { evidence in
        evidence.app?.allowsBroadcasts == true ? nil : APNsRefusal(400, .featureNotEnabled)
    }

    static let channelPresent = RequestCheck(.channelPresent) { evidence in
        guard evidence.namesChannel else { return nil }
        return evidence.request.head.channelID?.isEmpty == false ? nil : APNsRefusal(400, .missingChannelID)
    }

    static let channelForm = RequestCheck(.channelForm) { evidence in
        guard evidence.namesChannel, let id = evidence.request.head.channelID else { return nil }
        return APNsText.isChannelID(id) ? nil : APNsRefusal(400, .badChannelID)
    }

    static let channelKnown = RequestCheck(.channelKnown) { evidence in
        evidence.namesChannel && evidence.channel == nil ? APNsRefusal(400, .channelNotRegistered) : nil
    }

    /// Apple's table writes `Liveactivity` and its sample `liveactivity`.
    static let broadcastPushType = RequestCheck(.broadcastPushType) { evidence in
        guard let type = evidence.request.head.pushType, !type.isEmpty else { return APNsRefusal(400, .missingPushType) }
        return type.lowercased() == APNsPushType.liveActivity.rawValue ? nil : APNsRefusal(400, .invalidPushType)
    }

    /// Required; no default is promised.
    static let broadcastPriority = RequestCheck(.broadcastPriority) { evidence in
        evidence.request.head.priority == nil ? APNsRefusal(400, .badPriority) : RequestCheck.priority.refusal(evidence)
    }

    /// Required, and 0 on a channel that stores nothing.
    static let broadcastExpiration = RequestCheck(.broadcastExpiration) { evidence in
        guard let text = evidence.request.head.expiration else { return APNsRefusal(400, .badExpirationDate) }
        if let refusal = RequestCheck.expiration.refusal(evidence) { return refusal }
        return evidence.channel?.policy == ChannelPolicy.none && Int64(text) != 0 ? APNsRefusal(400, .badExpirationDate) : nil
    }

    static let channelCreation = RequestCheck(.channelCreation) { evidence in
        guard case .refused(let refusal) = evidence.creation else { return nil }
        return refusal
    }

    static let channelLimit = RequestCheck(.channelLimit) { evidence in
        guard evidence.creation != nil, evidence.channelCount >= evidence.rules.channelsPerApp else { return nil }
        return APNsRefusal(400, .cannotCreateChannelConfig)
    }

    static let appRate = RequestCheck(.appRate) { evidence in
        guard let rate = evidence.rules.appRate else { return nil }
        return evidence.recentRequests >= rate.count ? APNsRefusal(429, .tooManyRequests) : nil
    }
}

extension RequestEvidence {
    /// Whether the request has to name a channel: a broadcast, and reading or deleting a channel.
    fileprivate var namesChannel: Bool {
        switch path {
        case .broadcast: true
        case .channels: request.head.method != "POST"
        case .device, .deviceWithoutToken, .allChannels, .unknown: false
        }
    }
}

/// The body with which a channel is created, judged (Reference/APNs.md#5-2).
enum ChannelCreation: Sendable, Hashable {
    case valid(ChannelPolicy)
    case refused(APNsRefusal)

    private struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private struct Body: Decodable {
        var names: Set<String>
        var policy: ChannelPolicy?
        var pushType: String?

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            names = Set(container.allKeys.map(\.stringValue))
            let number = try? container.decode(Int.self, forKey: AnyKey(stringValue: ChannelCreation.policyKey))
            policy = number.flatMap(ChannelPolicy.init(rawValue:))
            pushType = try? container.decode(String.self, forKey: AnyKey(stringValue: ChannelCreation.pushTypeKey))
        }
    }

    static let policyKey = "message-storage-policy"
    static let pushTypeKey = "push-type"

    /// In this order: JSON, its keys, its push type, its policy.
    init(body: [UInt8]) {
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(body)) else {
            self = .refused(APNsRefusal(400, .badRequestPayload))
            return
        }
        if !body.names.isSubset(of: [Self.policyKey, Self.pushTypeKey]) {
            self = .refused(APNsRefusal(400, .badRequestParams))
        } else if !body.names.contains(Self.pushTypeKey) {
            self = .refused(APNsRefusal(400, .missingPushType))
        } else if body.pushType?.lowercased() != APNsPushType.liveActivity.rawValue {
            self = .refused(APNsRefusal(400, .invalidPushType))
        } else if let policy = body.policy {
            self = .valid(policy)
        } else {
            self = .refused(APNsRefusal(400, .badRequestParams))
        }
    }
}
