import APNsProtocol
import ClarionTesting
import Crypto
import RichPushModel
import Testing

@testable import ServerDelivery

@Suite("The provider tokens of a node")
struct ProviderTokensTests {
    private let clock = ManualClock()
    private let key = P256.Signing.PrivateKey().pemRepresentation

    private func text(_ tokens: ProviderTokens, _ key: String, keyID: String = "KEYKEYKEY0") throws -> String {
        try tokens.cache(key: key, keyID: keyID, teamID: "TEAMTEAM00").current().text
    }

    @Test("hubs with one key share its token, also one that is made again; another key or id has its own")
    func shared() throws {
        let tokens = ProviderTokens(clock: clock)
        let first = try text(tokens, key)
        clock.advance(by: .seconds(660))
        #expect(try text(tokens, key) == first, "a client that was closed when idle and made again")
        #expect(try text(tokens, key, keyID: "OTHEROTHER") != first)
        #expect(try text(tokens, P256.Signing.PrivateKey().pemRepresentation) != first)
        #expect(throws: ProviderTokenKeyFault.self) { try text(tokens, "no key") }
    }

    @Test("the key that was asked for longest ago is forgotten first")
    func bound() throws {
        let tokens = ProviderTokens(clock: clock, capacity: 2)
        let (first, second) = (try text(tokens, key, keyID: "KEYKEYKEY1"), try text(tokens, key, keyID: "KEYKEYKEY2"))
        clock.advance(by: .seconds(1))
        #expect(try text(tokens, key, keyID: "KEYKEYKEY1") == first)
        _ = try text(tokens, key, keyID: "KEYKEYKEY3")
        #expect(try text(tokens, key, keyID: "KEYKEYKEY1") == first)
        #expect(try text(tokens, key, keyID: "KEYKEYKEY2") != second)
    }

    @Test("the age of an unused token is not reported; that of one in use is")
    func age() throws {
        let tokens = ProviderTokens(clock: clock)
        #expect(tokens.oldestAgeInUse == nil)
        let (one, other) = (
            try tokens.cache(key: key, keyID: "KEYKEYKEY1", teamID: "TEAMTEAM00"),
            try tokens.cache(key: key, keyID: "KEYKEYKEY2", teamID: "TEAMTEAM00")
        )
        _ = try one.current()
        clock.advance(by: .seconds(600))
        _ = try other.current()
        #expect(tokens.oldestAgeInUse == .zero)
        _ = try one.current()
        #expect(tokens.oldestAgeInUse == .seconds(600))
        clock.advance(by: ProviderTokens.recent + .seconds(1))
        #expect(tokens.oldestAgeInUse == nil)
    }
}
