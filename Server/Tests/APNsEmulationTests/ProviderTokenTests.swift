import APNsProtocol
import Crypto
import Testing

@testable import APNsEmulation

@Suite("Provider tokens")
struct ProviderTokenTests {
    private func answer(_ authorization: String, fixture: inout EmulatorFixture) -> String {
        EmulatorFixture.text(fixture.send { $0.authorization = authorization })
    }

    @Test("raw and DER signatures, iat as number and as numeric string", arguments: [false, true], [false, true])
    func forms(der: Bool, quoted: Bool) throws {
        var fixture = try EmulatorFixture()
        let now = fixture.clock.now.seconds
        let token = fixture.signer.authorization(issuedAt: quoted ? "\"\(now)\"" : "\(now)", der: der)
        #expect(answer(token, fixture: &fixture) == "200")
    }

    @Test(
        "a token that is not what it should be is invalid",
        arguments: [
            #"{"alg":"none","kid":"KEY0000001"}"#, #"{"alg":"HS256","kid":"KEY0000001"}"#, #"{"kid":"KEY0000001"}"#,
            #"{"alg":"ES256","kid":"KEY0000009"}"#, #"{"alg":"ES256"}"#, "no json",
        ])
    func badHeader(_ header: String) throws {
        var fixture = try EmulatorFixture()
        let token = fixture.signer.authorization(issuedAt: "\(fixture.clock.now.seconds)", header: header)
        #expect(answer(token, fixture: &fixture) == "403 InvalidProviderToken")
    }

    @Test("a time with a fraction is one, as a Python client sends it")
    func fraction() throws {
        var fixture = try EmulatorFixture()
        let token = fixture.signer.authorization(issuedAt: "\(fixture.clock.now.seconds).98")
        #expect(answer(token, fixture: &fixture) == "200")
    }

    @Test("a time in words is invalid", arguments: [#""soon""#, "true", "null", "1e400"])
    func badTime(_ issuedAt: String) throws {
        var fixture = try EmulatorFixture()
        let token = fixture.signer.authorization(issuedAt: issuedAt)
        #expect(answer(token, fixture: &fixture) == "403 InvalidProviderToken")
    }

    @Test("another key under the same id is invalid")
    func wrongKey() throws {
        var fixture = try EmulatorFixture()
        let token = ProviderSigner().authorization(issuedAt: "\(fixture.clock.now.seconds)")
        #expect(answer(token, fixture: &fixture) == "403 InvalidProviderToken")
    }

    @Test("an hour is the age of a token, in both directions")
    func age() throws {
        for (offset, expected) in [
            (-3_600, "200"), (-3_601, "403 ExpiredProviderToken"), (3_600, "200"), (3_601, "403 InvalidProviderToken"),
        ] {
            var fixture = try EmulatorFixture()
            let token = fixture.signer.authorization(issuedAt: "\(fixture.clock.now.seconds + Int64(offset))")
            #expect(answer(token, fixture: &fixture) == expected)
        }
        var fixture = try EmulatorFixture()
        #expect(answer(fixture.signer.authorization(issuedAt: "\(Int64.min)"), fixture: &fixture) == "403 InvalidProviderToken")
        #expect(answer(fixture.signer.authorization(issuedAt: "\(Int64.max)"), fixture: &fixture) == "403 InvalidProviderToken")
    }

    @Test("a token ages on the connection that has used it")
    func agesInUse() throws {
        var fixture = try EmulatorFixture()
        #expect(EmulatorFixture.text(fixture.send()) == "200")
        fixture.clock.advance(by: .seconds(3_601))
        #expect(EmulatorFixture.text(fixture.send()) == "403 ExpiredProviderToken")
    }

    @Test("a token minted within twenty minutes of the one in use is too many")
    func updates() throws {
        var fixture = try EmulatorFixture()
        let start = fixture.clock.now.seconds
        #expect(EmulatorFixture.text(fixture.send()) == "200")
        let early = fixture.signer.authorization(issuedAt: "\(start + 1_199)")
        #expect(answer(early, fixture: &fixture) == "429 TooManyProviderTokenUpdates")
        #expect(EmulatorFixture.text(fixture.send()) == "200", "the old token still serves")
        let due = fixture.signer.authorization(issuedAt: "\(start + 1_200)")
        #expect(answer(due, fixture: &fixture) == "200")
        #expect(EmulatorFixture.text(fixture.send()) == "429 TooManyProviderTokenUpdates", "and back is a change again")
        fixture.clock.advance(by: .seconds(1_200))
        #expect(EmulatorFixture.text(fixture.send()) == "200")
    }

    @Test("signing the same claims again is a new token")
    func signedAgain() throws {
        var fixture = try EmulatorFixture()
        #expect(EmulatorFixture.text(fixture.send()) == "200")
        let again = fixture.signer.authorization(issuedAt: "\(fixture.clock.now.seconds)")
        #expect(answer(again, fixture: &fixture) == "429 TooManyProviderTokenUpdates")
    }

    @Test("a fresh token may follow at once on a token that was called expired", arguments: [true, false])
    func replacesExpired(byFault: Bool) throws {
        var fixture = try EmulatorFixture()
        let start = fixture.clock.now.seconds
        #expect(EmulatorFixture.text(fixture.send()) == "200")
        if byFault {
            fixture.apns.inject(.status(403, .expiredProviderToken))
        } else {
            fixture.apns.expireProviderTokens(issuedBefore: start + 1)
        }
        #expect(EmulatorFixture.text(fixture.send()) == "403 ExpiredProviderToken")
        fixture.clock.advance(by: .seconds(5))
        let fresh = fixture.signer.authorization(issuedAt: "\(start + 5)")
        #expect(answer(fresh, fixture: &fixture) == "200")
        #expect(EmulatorFixture.text(fixture.send()) == (byFault ? "200" : "403 ExpiredProviderToken"), "a request on its way")
        #expect(answer(fresh, fixture: &fixture) == "200")
        #expect(fixture.apns.complaints.isEmpty)
        let another = fixture.signer.authorization(issuedAt: "\(start + 6)")
        #expect(answer(another, fixture: &fixture) == "429 TooManyProviderTokenUpdates", "the fresh token is in use now")
    }

    @Test("a fault calls a token expired on every connection of the client")
    func expiredEverywhere() throws {
        var fixture = try EmulatorFixture()
        #expect(EmulatorFixture.text(fixture.send()) == "200")
        let first = fixture.credentials
        fixture.credentials = ConnectionCredentials()
        fixture.apns.inject(.status(403, .expiredProviderToken))
        #expect(EmulatorFixture.text(fixture.send()) == "403 ExpiredProviderToken")
        fixture.credentials = first
        let fresh = fixture.signer.authorization(issuedAt: "\(fixture.clock.now.seconds + 5)")
        #expect(answer(fresh, fixture: &fixture) == "200")
    }

    @Test("a token that expired by age counts for no interval, however late the connection had taken it")
    func agedOut() throws {
        var fixture = try EmulatorFixture()
        let start = fixture.clock.now.seconds
        #expect(EmulatorFixture.text(fixture.send()) == "200")
        fixture.clock.advance(by: .seconds(3_000))
        let shared = fixture.signer.authorization(issuedAt: "\(start + 1_300)")
        #expect(answer(shared, fixture: &fixture) == "200")
        fixture.clock.advance(by: .seconds(1_100))
        let early = fixture.signer.authorization(issuedAt: "\(start + 4_100)")
        #expect(answer(early, fixture: &fixture) == "429 TooManyProviderTokenUpdates", "the shared token is still good")
        fixture.apns.rules.providerTokenLifetime = 2_700
        #expect(answer(early, fixture: &fixture) == "200")
    }

    @Test(
        "an injected refusal of a token adds no complaint, and the connection keeps the token it had",
        arguments: [APNsReason.tooManyProviderTokenUpdates, .invalidProviderToken])
    func injectedRefusal(reason: APNsReason) throws {
        var fixture = try EmulatorFixture()
        let start = fixture.clock.now.seconds
        #expect(EmulatorFixture.text(fixture.send()) == "200")
        fixture.apns.inject(.status(429, reason))
        let next = fixture.signer.authorization(issuedAt: "\(start + 1_200)")
        #expect(answer(next, fixture: &fixture) == "429 \(reason)")
        #expect(EmulatorFixture.text(fixture.send()) == "200", "the token before is still in use")
        #expect(fixture.apns.complaints.isEmpty)
    }

    @Test("a key of the other environment is refused, spelled as the switch says")
    func environment() throws {
        var fixture = try EmulatorFixture { $0.environmentKeyReason = .badEnvironmentKeyIDInToken }
        var other = ProviderSigner()
        other.keyID = "KEYPRODUCT"
        try fixture.apns.registerKey(
            teamID: other.teamID, keyID: other.keyID, publicKeyPEM: other.publicKeyPEM, environment: .production)
        let token = other.authorization(issuedAt: "\(fixture.clock.now.seconds)")
        #expect(answer(token, fixture: &fixture) == "403 BadEnvironmentKeyIdInToken")
        #expect(EmulationRules().environmentKeyReason == .badEnvironmentKeyInToken)
    }

    @Test("a revoked key is unknown at once, also on a connection that used it")
    func revocation() throws {
        var fixture = try EmulatorFixture()
        #expect(EmulatorFixture.text(fixture.send()) == "200")
        fixture.apns.revokeKey(teamID: fixture.signer.teamID, keyID: fixture.signer.keyID)
        #expect(EmulatorFixture.text(fixture.send()) == "403 InvalidProviderToken")
    }

    @Test("a private key, a key that is none, and a malformed id are not registered")
    func registration() throws {
        let fixture = try EmulatorFixture()
        let apns = fixture.apns
        let signer = fixture.signer
        #expect(throws: LocalAPNsError.privateKeyOffered(keyID: "KEY0000001")) {
            try apns.registerKey(teamID: "TEAM000001", keyID: "KEY0000001", publicKeyPEM: signer.key.pemRepresentation)
        }
        #expect(throws: LocalAPNsError.self) {
            try apns.registerKey(teamID: "TEAM000001", keyID: "KEY0000001", publicKeyPEM: "nothing")
        }
        #expect(throws: LocalAPNsError.badIdentifier("TEAM")) {
            try apns.registerKey(teamID: "TEAM", keyID: "KEY0000001", publicKeyPEM: signer.publicKeyPEM)
        }
    }
}
