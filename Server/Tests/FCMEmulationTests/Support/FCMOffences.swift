import Crypto
import CryptoExtras
import Foundation
import RichPushModel

@testable import FCMEmulation

/// For each rule a request that breaks it and no other one.
enum FCMOffences {
    /// The switch has no default: a new rule without a request does not compile.
    static func request(breaking rule: FCMRule, _ fixture: inout FCMFixture) throws -> GoogleRequest {
        switch rule {
        case .path: return fixture.request("{}", path: "/v1/projects/\(FCMFixture.project)/messages")
        case .method: return fixture.send().changing { $0.method = "PUT" }
        case .bodySize: return fixture.send().changing { ($0.body, $0.bodySize) = ([], GoogleRequest.largestBody + 1) }
        case .grantForm, .grantTypePresent, .grantType, .assertionPresent, .assertionForm, .assertionAlgorithm, .issuerKnown,
            .assertionSignature, .audience, .assertionTimes, .assertionFresh, .assertionLifetime, .assertionNotFuture,
            .scopePresent, .scopeKnown:
            return try grant(breaking: rule, fixture)
        case .credentialPresent, .credentialKnown, .credentialFresh, .credentialNotRevoked, .scopeSufficient, .projectKnown,
            .apiEnabled, .permission, .projectQuota:
            return try access(breaking: rule, &fixture)
        case .contentType, .json, .rootObject, .duplicateField, .unknownField, .fieldType, .enumValue, .durationForm,
            .messagePresent:
            return body(breaking: rule, fixture)
        case .targetPresent, .oneTarget, .tokenShape, .tokenIssued, .fidShape, .topicPrefix, .topicName, .conditionSyntax,
            .conditionTopics:
            return fixture.send(#""data":{"a":"b"}"#, to: target(breaking: rule, fixture))
        case .messageSize: return fixture.send(#""data":{"a":"\#(String(repeating: "b", count: 4_096))"}"#)
        case .topicMessageSize:
            return fixture.send(#""data":{"a":"\#(String(repeating: "b", count: 2_048))"}"#, to: #""topic":"news""#)
        case .dataKeyReserved, .dataKeyPrefix, .ttlRange, .color, .eventTime, .imageURL, .lightColor, .lightSettings,
            .analyticsLabel, .webLink, .webTTL, .webUrgency, .webTopic, .apnsHeaderName, .apnsPriority, .apnsExpiration,
            .apnsPushType, .apnsCollapseID, .apsPresent, .apsObject, .apnsPayloadSize, .restrictedPackage:
            return fixture.send(content(breaking: rule))
        case .registered, .senderID, .thirdPartyKey, .deviceMinuteQuota, .deviceHourQuota, .collapsibleQuota:
            return try device(breaking: rule, &fixture)
        case .topicTokenHeader, .topicTarget, .topicTokens, .topicTokenCount, .topicNotFollowed, .topicFollowed, .topicCount:
            return topic(breaking: rule, &fixture)
        }
    }

    private static func grant(breaking rule: FCMRule, _ fixture: FCMFixture) throws -> GoogleRequest {
        let good = try fixture.grant()
        let assertion = String(decoding: good.body, as: UTF8.self).components(separatedBy: "assertion=")[1]
        let now = fixture.clock.now.seconds
        switch rule {
        case .grantForm: return good.with("content-type", "application/json")
        case .grantTypePresent: return FCMFixture.form(type: nil, assertion: assertion)
        case .grantType: return FCMFixture.form(type: "authorization_code", assertion: assertion)
        case .assertionPresent: return FCMFixture.form(assertion: nil)
        case .assertionForm: return FCMFixture.form(assertion: "a.b.c")
        case .assertionAlgorithm: return try fixture.grant(header: #"{"alg":"HS256","typ":"JWT","kid":"key-1"}"#)
        case .issuerKnown: return try fixture.grant(["iss": #""someone@example.com""#])
        case .assertionSignature: return try fixture.grant(header: #"{"alg":"RS256","typ":"JWT","kid":"key-2"}"#)
        case .audience: return try fixture.grant(["aud": #""https://oauth2.googleapis.com/token""#])
        case .assertionTimes: return try fixture.grant(["exp": "\"\(now + 60)\""])
        case .assertionFresh: return try fixture.grant(["iat": "\(now - 60)", "exp": "\(now)"])
        case .assertionLifetime: return try fixture.grant(["iat": "\(now - 1)", "exp": "\(now + 3_600)"])
        case .assertionNotFuture: return try fixture.grant(["iat": "\(now + 61)"])
        case .scopePresent: return try fixture.grant(["scope": nil])
        default: return try fixture.grant(["scope": #""\#(FCMFixture.messaging) https://example.com/auth/x""#])
        }
    }

    private static func access(breaking rule: FCMRule, _ fixture: inout FCMFixture) throws -> GoogleRequest {
        switch rule {
        case .credentialPresent: return fixture.send().with("authorization", nil)
        case .credentialKnown: return fixture.send().with("authorization", "Bearer ya29.c.unknown")
        case .credentialFresh: fixture.state.expireAccessTokens(of: FCMFixture.project)
        case .credentialNotRevoked: fixture.state.revokeAccessTokens { _ in true }
        case .scopeSufficient:
            let scope = "https://www.googleapis.com/auth/devstorage.read_only"
            fixture.bearer = fixture.state.issueAccessToken(account: FCMFixture.account, scopes: [scope])
        case .projectKnown: return fixture.request(#"{"message":{"topic":"news"}}"#, path: "/v1/projects/nowhere/messages:send")
        case .apiEnabled: try fixture.state.changeProject(FCMFixture.project) { $0.settings.isAPIEnabled = false }
        case .permission: try fixture.state.changeProject(FCMFixture.project) { $0.accounts[FCMFixture.account]?.maySend = false }
        default:
            fixture.state.quotas.projectPerMinute = 1
            fixture.push()
        }
        return fixture.send()
    }

    private static func body(breaking rule: FCMRule, _ fixture: FCMFixture) -> GoogleRequest {
        switch rule {
        case .contentType: fixture.send().with("content-type", "text/plain")
        case .json: fixture.request(#"{"message":{"#)
        case .rootObject: fixture.request("[]")
        case .duplicateField: fixture.send(#""data":{"a":"b"},"data":{"a":"b"}"#)
        case .unknownField: fixture.send(#""to":"someone""#)
        case .fieldType: fixture.send(#""data":{"a":1}"#)
        case .enumValue: fixture.send(#""android":{"priority":"urgent"}"#)
        case .durationForm: fixture.send(#""android":{"ttl":"3 seconds"}"#)
        default: fixture.request(#"{"validate_only":true}"#)
        }
    }

    private static func target(breaking rule: FCMRule, _ fixture: FCMFixture) -> String {
        switch rule {
        case .targetPresent: #""fcm_options":{}"#
        case .oneTarget: #""token":"\#(fixture.token())","topic":"news""#
        case .tokenShape: #""token":"\#(fixture.token().replacing(":", with: "."))""#
        case .tokenIssued: #""token":"\#(fixture.token().dropLast(4))AAAA""#
        case .fidShape: #""fid":"short""#
        case .topicPrefix: #""topic":"/topics/news""#
        case .topicName: #""topic":"news and more""#
        case .conditionSyntax: #""condition":"'a' in topics &&""#
        default: #""condition":"\#((1...6).map { "'t\($0)' in topics" }.joined(separator: " || "))""#
        }
    }

    private static func content(breaking rule: FCMRule) -> String {
        func shown(_ member: String) -> String { #""android":{"notification":{\#(member)}}"# }
        func web(_ member: String) -> String { #""webpush":{\#(member)}"# }
        func apns(_ header: String) -> String { #""apns":{"headers":{\#(header)}}"# }
        switch rule {
        case .dataKeyReserved: return #""data":{"from":"x"}"#
        case .dataKeyPrefix: return #""data":{"gcm.x":"x"}"#
        case .ttlRange: return #""android":{"ttl":"2419200.001s"}"#
        case .color: return shown(##""color":"#abcde""##)
        case .eventTime: return shown(#""event_time":"2027-01-15 08:00:00Z""#)
        case .imageURL: return #""notification":{"image":"http://example.com/a.png"}"#
        case .lightColor: return shown(lights.replacing("0.5", with: "1.5"))
        case .lightSettings: return shown(lights.replacing(#","light_off_duration":"2s""#, with: ""))
        case .analyticsLabel: return #""fcm_options":{"analytics_label":"a label"}"#
        case .webLink: return web(#""fcm_options":{"link":"http://example.com"}"#)
        case .webTTL: return web(#""headers":{"TTL":"-1"}"#)
        case .webUrgency: return web(#""headers":{"Urgency":"urgent"}"#)
        case .webTopic: return web(#""headers":{"Topic":"\#(String(repeating: "a", count: 33))"}"#)
        case .apnsHeaderName: return apns(#""authorization":"bearer x""#)
        case .apnsPriority: return apns(#""apns-priority":"7""#)
        case .apnsExpiration: return apns(#""apns-expiration":"soon""#)
        case .apnsPushType: return apns(#""apns-push-type":"loud""#)
        case .apnsCollapseID: return apns(#""apns-collapse-id":"\#(String(repeating: "a", count: 65))""#)
        case .apsPresent: return #""apns":{"payload":{"richId":17}}"#
        case .apsObject: return #""apns":{"payload":{"aps":"hello"}}"#
        case .apnsPayloadSize: return #""apns":{"payload":{"aps":{},"x":"\#(String(repeating: "b", count: 4_096))"}}"#
        default: return #""android":{"restricted_package_name":"com.example.other"}"#
        }
    }

    private static let lights =
        #""light_settings":{"color":{"red":0.5,"green":0,"blue":1},"light_on_duration":"1s","light_off_duration":"2s"}"#

    private static func device(breaking rule: FCMRule, _ fixture: inout FCMFixture) throws -> GoogleRequest {
        switch rule {
        case .registered:
            let token = fixture.token()
            try fixture.act(.uninstall)
            return fixture.send(to: #""token":"\#(token)""#)
        case .senderID:
            try fixture.addPhone("foreign", project: "another-shop")
            return fixture.send(to: #""token":"\#(fixture.token("foreign"))""#)
        case .thirdPartyKey:
            try fixture.addPhone("iphone", platform: .apple)
            try fixture.state.changeProject(FCMFixture.project) { $0.settings.hasAPNsKey = false }
            return fixture.send(to: #""token":"\#(fixture.token("iphone"))""#)
        case .deviceMinuteQuota: fixture.state.quotas.devicePerMinute = 1
        case .deviceHourQuota: fixture.state.quotas.devicePerHour = 1
        default: fixture.state.quotas.collapsibleBurst = 1
        }
        let members = #""android":{"collapse_key":"k"}"#
        fixture.push(members)
        return fixture.send(members)
    }

    private static func topic(breaking rule: FCMRule, _ fixture: inout FCMFixture) -> GoogleRequest {
        let token = fixture.token()
        func batch(_ topic: String = "/topics/news", _ tokens: String) -> GoogleRequest {
            fixture.request(#"{"to":"\#(topic)","registration_tokens":\#(tokens)}"#, path: "/iid/v1:batchAdd")
                .with("access_token_auth", "true")
        }
        let place = "/v1/projects/\(FCMFixture.project)/registrations/\(token)/topicSubscriptions"
        switch rule {
        case .topicTokenHeader: return batch("/topics/news", "[\"\(token)\"]").with("access_token_auth", nil)
        case .topicTarget: return batch("news", "[\"\(token)\"]")
        case .topicTokens: return batch("/topics/news", "[]")
        case .topicTokenCount:
            return batch("/topics/news", "[" + Array(repeating: "\"t\"", count: 1_001).joined(separator: ",") + "]")
        case .topicNotFollowed:
            fixture.post(fixture.request("{}", path: place + "?topic_name=news"))
        case .topicFollowed: return fixture.request("", path: place + "/news", method: "DELETE")
        default: fixture.state.quotas.topicsPerDevice = 0
        }
        return fixture.request("{}", path: place + "?topic_name=news")
    }
}

extension GoogleRequest {
    func changing(_ change: (inout GoogleRequest) -> Void) -> GoogleRequest {
        var request = self
        change(&request)
        return request
    }
}
