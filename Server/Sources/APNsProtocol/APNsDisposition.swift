/// What to do after a refusal: the column "What a client can do" of the table in Reference/APNs.md#4.
public enum APNsDisposition: Hashable, Sendable, CaseIterable {
    /// This request can never succeed.
    case drop
    /// The device token is dead; forget it if it was registered before the rejection's `timestamp`.
    case removeToken
    /// The device token is malformed or of the other environment. Never retry it here, and do not delete it unseen.
    case badToken
    /// The caller's request is wrong; it can never succeed as it is.
    case fixRequest
    /// The credential or its set-up is wrong: stop using it and tell an operator.
    case fixConfiguration
    /// Try again after a pause, with back-off and jitter.
    case later
    /// Try again on a new connection.
    case newConnection
    /// Get a new provider token, then try once on a new connection.
    case newToken
}

extension APNsRejection {
    /// What to do about this refusal. Known reasons decide; an unknown one is classified by its status.
    public var disposition: APNsDisposition { Self.byReason[reason] ?? Self.disposition(ofStatus: status) }

    fileprivate static let byReason: [APNsReason: APNsDisposition] = {
        let groups: [APNsDisposition: [APNsReason]] = [
            .drop: [.deviceTokenNotForTopic, .channelNotRegistered, .forbidden],
            .removeToken: [.expiredToken, .unregistered],
            .badToken: [.badDeviceToken],
            .fixRequest: [
                .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .badTopic, .topicDisallowed, .duplicateHeaders,
                .invalidPushType, .missingDeviceToken, .missingTopic, .payloadEmpty, .badPath, .methodNotAllowed,
                .payloadTooLarge,
                .missingChannelID,
                .badChannelID, .badRequestParams, .badRequestPayload, .missingPushType,
            ],
            .fixConfiguration: [
                .badCertificate, .badCertificateEnvironment, .invalidProviderToken,
                .missingProviderToken, .badEnvironmentKeyInToken, .badEnvironmentKeyIDInToken, .featureNotEnabled, .topicMismatch,
            ],
            .later: [
                .tooManyRequests, .internalServerError, .serviceUnavailable, APNsReason(rawValue: "Service Unavailable"),
                .cannotCreateChannelConfig,
            ],
            .newConnection: [.idleTimeout, .unrelatedKeyIDInToken, .tooManyProviderTokenUpdates, .shutdown],
            .newToken: [.expiredProviderToken],
        ]
        var table: [APNsReason: APNsDisposition] = [:]
        for (disposition, reasons) in groups {
            for reason in reasons { table[reason] = disposition }
        }
        return table
    }()

    private static func disposition(ofStatus status: Int) -> APNsDisposition {
        switch status {
        case 403: .fixConfiguration
        case 410: .removeToken
        case 408, 429, 500...599: .later
        case 400...499: .fixRequest
        default: .drop
        }
    }
}

extension APNsReason {
    /// Every reason of the table in Reference/APNs.md#4, as Apple documents it. APNs may know more by now: another word is no
    /// error of theirs.
    public static let documented: Set<APNsReason> = Set(APNsRejection.byReason.keys.filter { !$0.rawValue.contains(" ") })

    /// Whether Reference/APNs.md#4 lists the reason; a closed set, for metrics.
    public var isKnown: Bool { APNsRejection.byReason[self] != nil }

    /// Reasons that mean: the credential is refused, connecting again changes nothing (Reference/APNs.md#1-7). `Forbidden` means
    /// that only in a GOAWAY; in an answer it is about that request.
    public var refusesCredential: Bool {
        switch self {
        case .badCertificate, .badCertificateEnvironment, .invalidProviderToken, .missingProviderToken, .forbidden,
            .badEnvironmentKeyInToken, .badEnvironmentKeyIDInToken:
            true
        default: false
        }
    }
}
