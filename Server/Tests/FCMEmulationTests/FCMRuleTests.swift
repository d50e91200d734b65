import Foundation
import RichPushModel
import Testing

@testable import FCMEmulation

@Suite("What a sender of FCM may not do")
struct FCMRuleTests {
    @Test(
        "each rule is broken by a request that breaks no other one, so that without the rule it would pass",
        arguments: FCMRule.allCases)
    func alone(rule: FCMRule) throws {
        var fixture = try FCMFixture()
        let request = try FCMOffences.request(breaking: rule, &fixture)
        #expect(fixture.broken(by: request) == [rule])
    }

    @Test("the answer has the form, the status and the details of the rule", arguments: FCMRule.allCases)
    func answer(rule: FCMRule) throws {
        var fixture = try FCMFixture()
        let request = try FCMOffences.request(breaking: rule, &fixture)
        let violation = try #require(fixture.violations(of: request).first)
        fixture.state.recorder.clear()
        let answer = fixture.post(request).answer
        #expect(answer.status == rule.status)
        let members = FCMFixture.members(answer.body)
        let exchange = try #require(fixture.state.recorder.exchanges.last)
        #expect(exchange.brokenRule == rule)
        #expect(exchange.status == answer.status)
        #expect(exchange.errorCode == rule.errorCode)
        switch rule.facts.form {
        case .page: #expect(answer.headers.contains { $0.value.hasPrefix("text/html") })
        case .oauth(let error):
            #expect(members["error"] == .text(error))
            #expect(members["error_description"] == .text(violation.text))
        case .word(let word): #expect(members == ["error": .text(word)])
        case .info, .reader, .bare, .fcm: try checkStatus(members, answer, violation)
        }
    }

    /// `google.rpc.Status` with its details.
    private func checkStatus(_ members: [String: JSONValue], _ answer: GoogleAnswer, _ violation: FCMViolation) throws {
        let rule = violation.rule
        let error = try #require(members["error"])
        #expect(error["code"]?.wholeNumber == Int64(rule.status))
        #expect(error["status"]?.asText == rule.canonicalStatus)
        #expect(error["message"]?.asText == violation.text)
        func detail(_ type: String) -> JSONValue? {
            error["details"]?.asList.first { $0["@type"]?.asText == "type.googleapis.com/\(type)" }
        }
        #expect(detail("google.firebase.fcm.v1.FcmError")?["errorCode"]?.asText == rule.errorCode)
        let named = detail("google.rpc.BadRequest")?["fieldViolations"]?.asList.first
        switch rule.facts.form {
        case .info(let reason):
            #expect(detail("google.rpc.ErrorInfo")?["reason"]?.asText == reason)
            let challenge = answer.headers.first { $0.name == "www-authenticate" }?.value
            #expect((challenge?.hasPrefix("Bearer ") ?? false) == (rule.status == 401))
        case .bare: #expect(error["details"] == nil)
        default:
            #expect(named?["field"]?.asText == violation.field)
            if violation.field != nil { #expect(named?["description"]?.asText == violation.text) }
        }
    }

    @Test("every rule has facts, and there are at least sixty")
    func table() {
        #expect(Set(FCMRule.table.keys) == Set(FCMRule.allCases))
        #expect(FCMRule.allCases.count >= 60)
    }

    @Test(
        "the statuses and codes are those of the table of errors",
        arguments: [
            (FCMRule.tokenShape, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"), (.registered, 404, "NOT_FOUND", "UNREGISTERED"),
            (.senderID, 403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"), (.apiEnabled, 403, "PERMISSION_DENIED", nil),
            (.permission, 403, "PERMISSION_DENIED", nil), (.projectKnown, 404, "NOT_FOUND", nil),
            (.projectQuota, 429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"),
            (.deviceMinuteQuota, 429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"),
            (.thirdPartyKey, 401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"), (.credentialFresh, 401, "UNAUTHENTICATED", nil),
            (.unknownField, 400, "INVALID_ARGUMENT", nil), (.messageSize, 400, "INVALID_ARGUMENT", nil),
        ] as [(FCMRule, Int, String, String?)])
    func codes(rule: FCMRule, http: Int, status: String, code: String?) {
        #expect(rule.status == http)
        #expect(rule.canonicalStatus == status)
        #expect(rule.errorCode == code)
    }

    @Test("a good message, a dry run and a project by its number are accepted")
    func good() throws {
        var fixture = try FCMFixture()
        let pushed = fixture.push(#""data":{"a":"b"}"#)
        let id = try #require(pushed)
        #expect(id.hasPrefix("0:") && id.contains("%"))
        let number = fixture.request(
            #"{"message":{"token":"\#(fixture.token())"}}"#, path: "/v1/projects/100200300400/messages:send")
        #expect(fixture.post(number).answer.body.contains("projects/\(FCMFixture.project)/messages/"))
        #expect(fixture.events().count == 2)
        let dryRun = fixture.request(#"{"validateOnly":true,"message":{"token":"\#(fixture.token())"}}"#)
        #expect(fixture.post(dryRun).answer.body.contains("/fake_message_id"))
        #expect(fixture.events().isEmpty)
    }

    @Test("the first of several broken rules is answered: the caller before the body, the body before the device")
    func order() throws {
        var fixture = try FCMFixture()
        try fixture.act(.uninstall)
        let request = fixture.send(#""android":{"ttl":"x"}"#, to: #""fid":"\#(fixture.state.devices["phone"]?.fid ?? "")""#)
        #expect(fixture.broken(by: request) == [.durationForm, .registered])
        #expect(fixture.broken(by: request.with("authorization", nil)) == [.credentialPresent, .durationForm, .registered])
    }

    @Test("what is recorded holds no access token, no assertion, and no registration token")
    func recorded() throws {
        var fixture = try FCMFixture()
        fixture.post(try fixture.grant())
        fixture.push(#""apns":{"live_activity_token":"0123456789abcdef"}"#)
        fixture.post(fixture.send(to: #""token":"nonsense-that-is-long""#))
        let text = String(decoding: try JSONEncoder().encode(fixture.state.recorder.exchanges), as: UTF8.self)
        #expect(text.contains(FCMFixture.account))
        for secret in [fixture.bearer, fixture.token(), "0123456789", "nonsense-that-is"] { #expect(!text.contains(secret)) }
        for token in fixture.state.accessTokens.keys { #expect(!text.contains(token)) }
    }
}
