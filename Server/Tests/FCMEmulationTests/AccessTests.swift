import Crypto
import CryptoExtras
import Foundation
import RichPushModel
import Testing

@testable import FCMEmulation

@Suite("Access tokens")
struct AccessTests {
    /// Asks for an access token and returns it.
    private func exchange(_ request: GoogleRequest, _ fixture: inout FCMFixture) -> String? {
        FCMFixture.members(fixture.post(request).answer.body)["access_token"]?.asText
    }

    @Test("a signed assertion brings an access token that is good for an hour")
    func exchange() throws {
        var fixture = try FCMFixture()
        let answer = FCMFixture.members(fixture.post(try fixture.grant()).answer.body)
        #expect(answer["expires_in"] == .integer(3_599))
        #expect(answer["token_type"] == .text("Bearer"))
        fixture.bearer = answer["access_token"]?.asText ?? ""
        #expect(fixture.push() != nil)
        fixture.clock.advance(by: .seconds(3_599))
        #expect(fixture.push() != nil)
        fixture.clock.advance(by: .seconds(1))
        #expect(fixture.broken(by: fixture.send()) == [.credentialFresh])
    }

    @Test("a shorter life counts for the tokens that are made from then on")
    func lifetime() throws {
        var fixture = try FCMFixture()
        fixture.state.tokenLifetime = .seconds(10)
        fixture.bearer = exchange(try fixture.grant(), &fixture) ?? ""
        fixture.clock.advance(by: .seconds(10))
        #expect(fixture.broken(by: fixture.send()) == [.credentialFresh])
    }

    @Test("an assertion without the id of its key is checked with every key of the account")
    func withoutKeyID() throws {
        var fixture = try FCMFixture()
        #expect(exchange(try fixture.grant(header: #"{"alg":"RS256"}"#), &fixture) != nil)
    }

    @Test("a signature of another key is refused, with the id of the key and without it")
    func foreignKey() throws {
        let (fixture, key) = (try FCMFixture(), try _RSA.Signing.PrivateKey(keySize: .bits2048))
        #expect(fixture.broken(by: try fixture.grant(signer: key)) == [.assertionSignature])
        #expect(fixture.broken(by: try fixture.grant(header: #"{"alg":"RS256"}"#, signer: key)) == [.assertionSignature])
    }

    @Test("the wider scope of Google's clients does as well, and a clock may be a minute ahead")
    func scopes() throws {
        var fixture = try FCMFixture()
        let now = fixture.clock.now.seconds
        let scope = "openid https://www.googleapis.com/auth/cloud-platform"
        let request = try fixture.grant(["scope": "\"\(scope)\"", "iat": "\(now + 60)"])
        fixture.bearer = exchange(request, &fixture) ?? ""
        #expect(fixture.push() != nil)
    }

    @Test("where it stands in for Google, assertions may be for Google's URL and for its own")
    func standingIn() throws {
        let fixture = try FCMFixture { $0.standsInForGoogle = true }
        #expect(fixture.broken(by: try fixture.grant()) == [])
        #expect(fixture.broken(by: try fixture.grant(["aud": #""https://oauth2.googleapis.com/token""#])) == [])
        #expect(fixture.broken(by: try fixture.grant(["aud": #""https://example.com/token""#])) == [.audience])
    }

    @Test("a service account of one project may not send for another one")
    func otherProject() throws {
        let fixture = try FCMFixture()
        let request = fixture.request(#"{"message":{"topic":"news"}}"#, path: "/v1/projects/another-shop/messages:send")
        #expect(fixture.broken(by: request) == [.permission])
    }

    @Test("access tokens beyond the bound go, the oldest first")
    func bound() throws {
        var fixture = try FCMFixture { $0.bounds.accessTokens = 2 }
        let first = fixture.bearer
        for _ in 0..<2 { _ = exchange(try fixture.grant(), &fixture) }
        #expect(fixture.state.accessTokens.count == 2)
        #expect(fixture.state.accessTokens[first] == nil)
    }

    @Test(
        "other schemes and forms are no credential",
        arguments: ["Bearer", "Basic YTpi", "key=AAAA", "Bearer  ", "bearer unknown"])
    func schemes(value: String) throws {
        let fixture = try FCMFixture()
        #expect(fixture.broken(by: fixture.send().with("authorization", value)) == [.credentialKnown])
    }
}

@Suite("Quotas")
struct FCMQuotaTests {
    @Test("a project has so many requests in a minute; refused ones count, those over the quota do not")
    func project() throws {
        var fixture = try FCMFixture { $0.quotas.projectPerMinute = 3 }
        fixture.push()
        fixture.post(fixture.send(#""data":1"#))
        fixture.clock.advance(by: .seconds(20))
        fixture.push()
        let answer = fixture.post(fixture.send()).answer
        #expect(answer.status == 429)
        #expect(answer.headers.first { $0.name == "retry-after" }?.value == "40")
        fixture.clock.advance(by: .seconds(40))
        for _ in 0..<3 { #expect(fixture.push() != nil) }
        #expect(fixture.push() == nil)
    }

    @Test("a device has so many messages in a minute, and so many in an hour")
    func device() throws {
        #expect(LocalFCMQuotas().devicePerMinute == 240)
        #expect(LocalFCMQuotas().devicePerHour == 5_000)
        var fixture = try FCMFixture { ($0.quotas.devicePerMinute, $0.quotas.devicePerHour) = (12, 250) }
        try fixture.addPhone("other")
        var count = 0
        for _ in 0..<60 {
            for _ in 0..<12 where fixture.push() != nil { count += 1 }
            fixture.clock.advance(by: .seconds(60))
        }
        #expect(count == 250)
        fixture.renewBearer()
        let other = #""token":"\#(fixture.token("other"))""#
        for _ in 0..<12 { #expect(fixture.push(to: other) != nil, "each device has its own") }
        #expect(fixture.broken(by: fixture.send(to: other)) == [.deviceMinuteQuota])
        #expect(fixture.push() != nil, "the hour is over")
    }

    @Test("collapsible messages come twenty at once, and then one in three minutes")
    func collapsible() throws {
        var fixture = try FCMFixture()
        let members = #""android":{"collapse_key":"k"}"#
        for _ in 0..<20 { #expect(fixture.push(members) != nil) }
        #expect(fixture.broken(by: fixture.send(members)) == [.collapsibleQuota])
        #expect(fixture.push() != nil, "others are not counted")
        fixture.clock.advance(by: .seconds(179))
        #expect(fixture.push(members) == nil)
        fixture.clock.advance(by: .seconds(1))
        #expect(fixture.push(members) != nil)
        #expect(fixture.push(members) == nil)
        fixture.clock.advance(by: .seconds(100 * 180))
        fixture.renewBearer()
        for _ in 0..<20 { #expect(fixture.push(members) != nil) }
        #expect(fixture.push(members) == nil, "no more than a burst is saved up")
    }

    @Test("a dry run counts for the project and not for the device")
    func dryRun() throws {
        var fixture = try FCMFixture { ($0.quotas.devicePerMinute, $0.quotas.projectPerMinute) = (1, 3) }
        let dryRun = fixture.request(#"{"validate_only":true,"message":{"token":"\#(fixture.token())"}}"#)
        #expect(fixture.post(dryRun).answer.status == 200)
        #expect(fixture.push() != nil)
        #expect(fixture.post(dryRun).answer.status == 200)
        #expect(fixture.broken(by: dryRun) == [.projectQuota])
    }
}
