import ClarionTesting
import RichPushModel
import Testing
import WireText

@testable import TrustedIssuers

@Suite struct TokenClaimTests {
    private typealias Samples = TokenSamples
    private let now = TokenSamples.now

    private func reason(
        _ changes: [String: String?], header: [String: String?] = [:], _ settings: [String: [String]] = [:]
    ) async throws -> TokenError.Reason? {
        try await Samples.reason(
            Samples.token(header: Samples.header(.es256, header), claims: Samples.claims(changes)), settings)
    }

    @Test(
        "an issuer that is not configured to the byte is unknown",
        arguments: [
            nil, "null", "1", "[\"https://id.example.test\"]", "\"https://id.example.test/\"", "\"HTTPS://id.example.test\"",
            "\"https://id.example.test.evil\"", "\"\"", "\"https://id.example.tes\\u0074\\u0000\"",
        ])
    func issuer(_ value: String?) async throws {
        #expect(try await reason(["iss": value]) == .unknownIssuer)
    }

    @Test("the audience may be a text or one of a list")
    func audience() async throws {
        #expect(try await reason(["aud": "[\"clarion\"]"]) == nil)
        #expect(try await reason(["aud": "[\"other\",\"clarion\"]"]) == nil)
        #expect(try await reason(["aud": "\"second\""], ["audiences": ["clarion", "second"]]) == nil)
    }

    @Test(
        "an audience that is missing, empty, another or no text is refused, and ends no process",
        arguments: [
            nil, "[]", "\"\"", "null", "1", "{}", "[[]]", "[\"clarion\",1]", "\"Clarion\"", "\"clarion \"", "\"clario\"",
            "[\"other\"]",
            "{\"clarion\":true}",
        ])
    func otherAudience(_ value: String?) async throws {
        #expect(try await reason(["aud": value]) == .audience)
    }

    @Test("azp must be an allowed client; without a list only an audience is one")
    func client() async throws {
        #expect(try await reason(["azp": "\"clarion\""]) == nil)
        #expect(try await reason(["azp": "\"app\""]) == .client)
        #expect(try await reason(["azp": "\"app\""], ["clients": ["app"]]) == nil)
        #expect(try await reason(["azp": "\"clarion\""], ["clients": ["app"]]) == .client)
        #expect(try await reason([:], ["clients": ["app"]]) == nil)
        #expect(try await reason(["azp": "[\"app\"]"], ["clients": ["app"]]) == .client)
        #expect(try await reason(["azp": "null"]) == .client)
        #expect(try await reason(["client_id": "\"web\""], ["clients": ["app"]]) == .client)
        #expect(try await reason(["client_id": "\"web\""]) == nil)
    }

    @Test(
        "exp must be there and be a number of seconds",
        arguments: [nil, "null", "\"1800000600\"", "[]", "true", "-1", "1e400", "99999999999999999999", "{}"])
    func expiryMissing(_ value: String?) async throws {
        #expect(try await reason(["exp": value]) == .expiryMissing)
    }

    @Test("exp counts to the millisecond, with the leeway of a minute and not a moment more")
    func expired() async throws {
        let iat = "\(now - 600)"
        #expect(try await reason(["iat": iat, "exp": "\(now - 59)"]) == nil)
        #expect(try await reason(["iat": iat, "exp": "\(now - 60).001"]) == nil)
        #expect(try await reason(["iat": iat, "exp": "\(now - 61).999"]) == .expired)
        #expect(try await reason(["iat": iat, "exp": "\(now - 60)"]) == .expired)
        #expect(try await reason(["iat": iat, "exp": "0"]) == .expired)
        #expect(try await reason(["iat": iat, "exp": "\(now)"], ["leeway-seconds": ["0"]]) == .expired)
        #expect(try await reason(["iat": iat, "exp": "\(now + 1)"], ["leeway-seconds": ["0"]]) == nil)
    }

    @Test("nbf and iat may be as far in the future as the leeway, and no further")
    func future() async throws {
        #expect(try await reason(["nbf": "\(now + 60)"]) == nil)
        #expect(try await reason(["nbf": "\(now + 61)"]) == .notYetValid)
        #expect(try await reason(["nbf": "\"\(now)\""]) == .notYetValid)
        #expect(try await reason(["nbf": "null"]) == .notYetValid)
        #expect(try await reason(["iat": "\(now + 60)"]) == nil)
        #expect(try await reason(["iat": "\(now + 61)"]) == .issueTime)
        #expect(try await reason(["iat": nil]) == .issueTime)
        #expect(try await reason(["iat": "\"\(now)\""]) == .issueTime)
    }

    @Test("a life above the setting is refused, and so is an end before the beginning")
    func lifetime() async throws {
        #expect(try await reason(["exp": "\(now + 86_400)"]) == nil)
        #expect(try await reason(["exp": "\(now + 86_401)"]) == .lifetime)
        #expect(try await reason(["exp": "253402300799"]) == .lifetime)
        #expect(try await reason(["exp": "\(now + 601)"], ["longest-life-seconds": ["600"]]) == .lifetime)
        #expect(try await reason(["iat": "\(now + 30)", "exp": "\(now + 20)"]) == .lifetime)
    }

    @Test("a step of the time of day counts, as tokens are judged by it")
    func clockStep() async throws {
        let clock = ManualClock()
        let verifier = await Samples.verifier(try await Samples.issuer(), clock: clock)
        let token = Samples.token()
        #expect(await Samples.reason(token, by: verifier) == nil)
        clock.jump(by: .seconds(661))
        #expect(await Samples.reason(token, by: verifier) == .expired)
        clock.jump(by: .seconds(-1_000))
        #expect(await Samples.reason(token, by: verifier) == .issueTime)
    }

    @Test(
        "a token of another purpose is refused, whatever the setting",
        arguments: ["logout+jwt", "dpop+jwt", "secevent+jwt", "application/logout+jwt", "JWE", "kb+jwt", "", "refresh"])
    func otherPurpose(_ type: String) async throws {
        for kind in ["any", "id", "access"] {
            #expect(try await reason([:], header: ["typ": "\"\(type)\""], ["token-kind": [kind]]) == .kind)
        }
        #expect(try await reason([:], header: ["typ": "1"]) == .kind)
    }

    @Test("a body with events is a logout token, and one that calls itself a refresh token is none for signing in")
    func otherBody() async throws {
        #expect(
            try await reason(["events": "{\"http://schemas.openid.net/event/backchannel-logout\":{}}"]) == .kind)
        for word in ["Refresh", "Offline", "Logout"] { #expect(try await reason(["typ": "\"\(word)\""]) == .kind) }
    }

    @Test("a token that is bound to a key of its holder is no bearer token")
    func bound() async throws {
        #expect(try await reason(["cnf": "{\"jkt\":\"x\"}"]) == .boundToKey)
    }

    @Test("where an access token is wanted, an ID token fails")
    func access() async throws {
        let settings = ["token-kind": ["access"]]
        let claims: [String: String?] = ["client_id": "\"app\"", "jti": "\"1\""]
        for type in ["\"at+jwt\"", "\"AT+JWT\"", "\"application/at+jwt\""] {
            #expect(try await reason(claims, header: ["typ": type], settings) == nil)
        }
        #expect(try await reason(claims, header: ["typ": "\"JWT\""], settings) == .kind)
        #expect(try await reason(claims, header: ["typ": nil], settings) == .kind)
        #expect(try await reason(["nonce": "\"n\"", "at_hash": "\"h\""], header: ["typ": nil], settings) == .kind)
        #expect(try await reason(["client_id": "\"app\""], header: ["typ": "\"at+jwt\""], settings) == .kind)
        #expect(try await reason(["jti": "\"1\""], header: ["typ": "\"at+jwt\""], settings) == .kind)
        let named = claims.merging(["token_use": "\"id\""]) { $1 }
        #expect(try await reason(named, header: ["typ": "\"at+jwt\""], settings) == .kind)
    }

    @Test("where an ID token is wanted, an access token fails")
    func id() async throws {
        let settings = ["token-kind": ["id"]]
        #expect(try await reason(["nonce": "\"n\""], header: ["typ": nil], settings) == nil)
        #expect(try await reason(["typ": "\"ID\""], settings) == nil)
        #expect(try await reason(["token_use": "\"id\""], settings) == nil)
        #expect(try await reason([:], header: ["typ": "\"at+jwt\""], settings) == .kind)
        #expect(try await reason(["typ": "\"Bearer\""], settings) == .kind)
        #expect(try await reason(["token_use": "\"access\""], settings) == .kind)
    }

    @Test(
        "sub must be a text of 1 to 255 bytes without control characters",
        arguments: [nil, "\"\"", "null", "17", "[\"alice\"]", "{}", "true", "\"a\\u0000b\"", "\"a\\nb\"", "\"\\u009f\""])
    func subject(_ value: String?) async throws {
        #expect(try await reason(["sub": value]) == .subject)
        #expect(try await reason(["sub": "\"\(String(repeating: "a", count: 255))\""]) == nil)
        #expect(try await reason(["sub": "\"\(String(repeating: "a", count: 256))\""]) == .subject)
    }
}
