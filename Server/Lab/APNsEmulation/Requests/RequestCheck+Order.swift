/// The orders in which requests are judged; the first refusal is the answer.
///
/// Evidence exists for method before path, credential before device token, environment before topic and, for broadcasts,
/// credential before channel. The rest of the order is a guess, so it stands here alone, to be changed in one place
/// (Reference/APNs.md#7-2).
extension RequestCheck {
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
}
