/// What a sender of FCM has to obey (Reference/FCM.md#7), a closed list. `FCMRule+Facts.swift` says of each what the answer is.
public enum FCMRule: String, Sendable, Hashable, Codable, CaseIterable {
    /// Any request.
    case path, method, bodySize
    /// The exchange of a signed assertion for an access token (Reference/FCM.md#1).
    case grantForm, grantTypePresent, grantType, assertionPresent, assertionForm, assertionAlgorithm, issuerKnown
    case assertionSignature, audience, assertionTimes, assertionFresh, assertionLifetime, assertionNotFuture
    case scopePresent, scopeKnown
    /// Who may call (Reference/FCM.md#3), and how often (Reference/FCM.md#4).
    case credentialPresent, credentialKnown, credentialFresh, credentialNotRevoked, scopeSufficient
    case projectKnown, apiEnabled, permission, projectQuota
    /// The form of the body (Reference/FCM.md#2).
    case contentType, json, rootObject, duplicateField, unknownField, fieldType, enumValue, durationForm, messagePresent
    /// The target (Reference/FCM.md#2-1). A token that has the right shape and was made elsewhere is no token at Google either.
    case targetPresent, oneTarget, tokenShape, tokenIssued, fidShape, topicPrefix, topicName, conditionSyntax, conditionTopics
    /// What a message says (Reference/FCM.md#2-2).
    case dataKeyReserved, dataKeyPrefix, ttlRange, color, eventTime, imageURL, lightColor, lightSettings, analyticsLabel
    /// What a message says to browsers (RFC 8030).
    case webLink, webTTL, webUrgency, webTopic
    /// What a message says to Apple's devices (Reference/APNs.md#3).
    case apnsHeaderName, apnsPriority, apnsExpiration, apnsPushType, apnsCollapseID, apsPresent, apsObject
    /// The size (Reference/FCM.md#2-3).
    case messageSize, topicMessageSize, apnsPayloadSize
    /// The device: its app is there, of the project, the one that is meant, and gets not too much (Reference/FCM.md#3, #4).
    case registered, senderID, restrictedPackage, thirdPartyKey, deviceMinuteQuota, deviceHourQuota, collapsibleQuota
    /// Topics, by the older service and by the newer one (Reference/FCM.md#5).
    case topicTokenHeader, topicTarget, topicTokens, topicTokenCount, topicNotFollowed, topicFollowed, topicCount
}

/// A rule that a request broke, and where.
struct FCMViolation: Sendable, Hashable {
    let rule: FCMRule
    /// The field, `message.android.ttl`; `nil` where the answer names none.
    let field: String?
    /// What is wrong, with values of the request where Google's sentence has them.
    let text: String

    init(_ rule: FCMRule, field: String? = nil, _ text: String? = nil) {
        (self.rule, self.field, self.text) = (rule, field ?? rule.facts.field, text ?? rule.facts.text)
    }
}

extension [FCMViolation] {
    /// Adds a rule that is broken `if` something holds.
    mutating func note(_ rule: FCMRule, field: String? = nil, if isBroken: Bool = true) {
        if isBroken { append(FCMViolation(rule, field: field)) }
    }
}
