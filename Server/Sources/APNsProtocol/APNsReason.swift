/// The reason that APNs gives for a refusal (Reference/APNs.md#4). Unknown reasons are kept unchanged.
public struct APNsReason: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: String

    /// Creates a reason; white space around the word is dropped, since it was seen on the wire.
    public init(rawValue: String) {
        var word = Substring(rawValue)
        while word.first?.isWhitespace == true { word.removeFirst() }
        while word.last?.isWhitespace == true { word.removeLast() }
        self.rawValue = String(word)
    }

    public var description: String { rawValue }

    public static let badCollapseID = APNsReason(rawValue: "BadCollapseId")
    public static let badDeviceToken = APNsReason(rawValue: "BadDeviceToken")
    public static let badExpirationDate = APNsReason(rawValue: "BadExpirationDate")
    public static let badMessageID = APNsReason(rawValue: "BadMessageId")
    public static let badPriority = APNsReason(rawValue: "BadPriority")
    public static let badTopic = APNsReason(rawValue: "BadTopic")
    public static let deviceTokenNotForTopic = APNsReason(rawValue: "DeviceTokenNotForTopic")
    public static let duplicateHeaders = APNsReason(rawValue: "DuplicateHeaders")
    public static let idleTimeout = APNsReason(rawValue: "IdleTimeout")
    public static let invalidPushType = APNsReason(rawValue: "InvalidPushType")
    public static let missingDeviceToken = APNsReason(rawValue: "MissingDeviceToken")
    public static let missingTopic = APNsReason(rawValue: "MissingTopic")
    public static let payloadEmpty = APNsReason(rawValue: "PayloadEmpty")
    public static let topicDisallowed = APNsReason(rawValue: "TopicDisallowed")
    public static let badCertificate = APNsReason(rawValue: "BadCertificate")
    public static let badCertificateEnvironment = APNsReason(rawValue: "BadCertificateEnvironment")
    public static let expiredProviderToken = APNsReason(rawValue: "ExpiredProviderToken")
    public static let forbidden = APNsReason(rawValue: "Forbidden")
    public static let invalidProviderToken = APNsReason(rawValue: "InvalidProviderToken")
    public static let missingProviderToken = APNsReason(rawValue: "MissingProviderToken")
    public static let unrelatedKeyIDInToken = APNsReason(rawValue: "UnrelatedKeyIdInToken")
    public static let badEnvironmentKeyInToken = APNsReason(rawValue: "BadEnvironmentKeyInToken")
    public static let badEnvironmentKeyIDInToken = APNsReason(rawValue: "BadEnvironmentKeyIdInToken")
    public static let badPath = APNsReason(rawValue: "BadPath")
    public static let methodNotAllowed = APNsReason(rawValue: "MethodNotAllowed")
    public static let expiredToken = APNsReason(rawValue: "ExpiredToken")
    public static let unregistered = APNsReason(rawValue: "Unregistered")
    public static let payloadTooLarge = APNsReason(rawValue: "PayloadTooLarge")
    public static let tooManyProviderTokenUpdates = APNsReason(rawValue: "TooManyProviderTokenUpdates")
    public static let tooManyRequests = APNsReason(rawValue: "TooManyRequests")
    public static let internalServerError = APNsReason(rawValue: "InternalServerError")
    public static let serviceUnavailable = APNsReason(rawValue: "ServiceUnavailable")
    public static let shutdown = APNsReason(rawValue: "Shutdown")

    // Only broadcasts and the management of channels meet these (Reference/APNs.md#4, columns B and M).

    public static let badChannelID = APNsReason(rawValue: "BadChannelId")
    public static let badRequestParams = APNsReason(rawValue: "BadRequestParams")
    public static let badRequestPayload = APNsReason(rawValue: "BadRequestPayload")
    public static let cannotCreateChannelConfig = APNsReason(rawValue: "CannotCreateChannelConfig")
    public static let channelNotRegistered = APNsReason(rawValue: "ChannelNotRegistered")
    public static let featureNotEnabled = APNsReason(rawValue: "FeatureNotEnabled")
    public static let missingChannelID = APNsReason(rawValue: "MissingChannelId")
    public static let missingPushType = APNsReason(rawValue: "MissingPushType")
    public static let topicMismatch = APNsReason(rawValue: "TopicMismatch")
}

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
    /// The credential or its set-up is wrong: stop using it and alert an operator.
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
