import APNsEmulation

extension RuleSwitch {
    /// Every rule. A test compares them with the properties of `EmulationRules`.
    static let all: [RuleSwitch] = streams + credentials + requests + connections

    static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    private static let streams: [RuleSwitch] = [
        .number("firstConcurrentStreams", \.firstConcurrentStreams, 0...1_000_000),
        .number("concurrentStreams", \.concurrentStreams, 0...1_000_000),
        .flag("raisesLimitForCertificates", \.raisesLimitForCertificates),
        .flag("lowersLimitAfterRejection", \.lowersLimitAfterRejection),
        .choice("limitEnforcement", \.limitEnforcement),
        .choice("overLimit", \.overLimit),
        .flag("resetsRefusedStreamsTwice", \.resetsRefusedStreamsTwice),
        .number("initialWindowSize", \.initialWindowSize, 0...65_535),
        .number("headerTableSize", \.headerTableSize, 0...65_536),
        .choice("credit", \.credit),
        .duration("creditDelay", \.creditDelay),
    ]

    private static let credentials: [RuleSwitch] = [
        .seconds("providerTokenLifetime", \.providerTokenLifetime),
        .seconds("providerTokenLead", \.providerTokenLead),
        .reason("futureTokenReason", \.futureTokenReason),
        .seconds("providerTokenInterval", \.providerTokenInterval),
        .reason("environmentKeyReason", \.environmentKeyReason),
        .flag("bindsAppsToConnection", \.bindsAppsToConnection),
        .flag("wedgesAfterTokenError", \.wedgesAfterTokenError),
        .choice("expiredCertificate", \.expiredCertificate),
        .choice("certificateEnvironment", \.certificateEnvironment),
        .reason("certificateTopicReason", \.certificateTopicReason, among: [.badTopic, .topicDisallowed]),
    ]

    private static let requests: [RuleSwitch] = [
        .choice("backgroundAtPriorityTen", \.backgroundAtPriorityTen),
        .reason("backgroundPriorityReason", \.backgroundPriorityReason),
        .choice("missingPushType", \.missingPushType),
        .choice("bodyThatIsNotJSON", \.bodyThatIsNotJSON),
        .rate("deviceRate", \.deviceRate),
        .rate("appRate", \.appRate),
        .optionalNumber("retryAfter", \.retryAfter),
        .number("channelsPerApp", \.channelsPerApp, 0...1_000_000),
        .flag("storedBroadcastReachesNewSubscriber", \.storedBroadcastReachesNewSubscriber),
    ]

    private static let connections: [RuleSwitch] = [
        .duration("answerDelay", \.answerDelay),
        .flag("answersBeforeBody", \.answersBeforeBody),
        .number("answerPieces", \.answerPieces, 1...1_000),
        .optionalNumber("errorBudget", \.errorBudget),
        .number("badDeviceTokenWeight", \.badDeviceTokenWeight, 1...1_000),
        .optionalDuration("idleLimit", \.idleLimit),
        .number("maximumConnections", \.maximumConnections, 0...100_000),
        .rate("connectRate", \.connectRate),
        .duration("connectDelay", \.connectDelay),
        .duration("goAwayGrace", \.goAwayGrace),
    ]
}
