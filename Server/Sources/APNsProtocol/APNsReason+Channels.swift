/// The reasons that only broadcasts and the management of channels meet (Reference/APNs.md#4, columns B and M).
extension APNsReason {
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
