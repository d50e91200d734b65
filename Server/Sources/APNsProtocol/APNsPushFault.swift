/// Why a push is not worth sending: a rule of APNs that it breaks, found before it costs error budget
/// (Reference/APNs.md#3-3). Safe to show: no token, no content.
public enum APNsPushFault: Error, Hashable, Sendable {
    /// The device token is empty.
    case missingDeviceToken
    /// The device token is not an even number of hexadecimal digits, or has more than 400 of them.
    case malformedDeviceToken
    /// There is no topic.
    case missingTopic
    /// The topic has characters other than printable ASCII without blanks, or more than 255 of them.
    case malformedTopic
    /// The topic does not end in what the push type demands.
    case topicWithoutSuffix(String)
    /// The push type is not lower-case letters, digits and hyphens, at most 32 of them.
    case malformedPushType
    /// The priority is not 10, 5 or 1.
    case malformedPriority
    /// A background push must have priority 5.
    case backgroundPriority
    /// A background push must have `content-available` 1 and no alert, badge or non-empty sound.
    case backgroundContent
    /// The expiration is negative.
    case malformedExpiration
    /// The collapse id is empty, longer than 64 bytes, or has characters that a header cannot carry.
    case malformedCollapseID
    /// There is no body.
    case emptyPayload
    /// The body is larger than the push type allows; both in bytes.
    case payloadTooLarge(size: Int, limit: Int)
    /// The body is not a JSON object.
    case payloadNotJSON
}

extension APNsPushFault {
    /// What APNs would have answered, so that a caller can treat both alike (Reference/APNs.md#4).
    public var rejection: APNsRejection {
        switch self {
        case .missingDeviceToken: APNsRejection(status: 400, reason: .missingDeviceToken)
        case .malformedDeviceToken: APNsRejection(status: 400, reason: .badDeviceToken)
        case .missingTopic: APNsRejection(status: 400, reason: .missingTopic)
        case .malformedTopic: APNsRejection(status: 400, reason: .badTopic)
        case .topicWithoutSuffix: APNsRejection(status: 400, reason: .topicDisallowed)
        case .malformedPushType: APNsRejection(status: 400, reason: .invalidPushType)
        case .malformedPriority, .backgroundPriority: APNsRejection(status: 400, reason: .badPriority)
        case .backgroundContent: APNsRejection(status: 400, reason: .invalidPushType)
        case .malformedExpiration: APNsRejection(status: 400, reason: .badExpirationDate)
        case .malformedCollapseID: APNsRejection(status: 400, reason: .badCollapseID)
        case .emptyPayload, .payloadNotJSON: APNsRejection(status: 400, reason: .payloadEmpty)
        case .payloadTooLarge: APNsRejection(status: 413, reason: .payloadTooLarge)
        }
    }
}
