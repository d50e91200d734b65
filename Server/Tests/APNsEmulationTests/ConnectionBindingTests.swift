import APNsProtocol
import Testing

@testable import APNsEmulation

@Suite("What a connection is bound to")
struct ConnectionBindingTests {
    private static let other = "TEAM000002"

    /// A key of its own, registered; returns a fresh token of it.
    private func key(
        _ keyID: String, team: String = "TEAM000001", topics: Set<String>? = nil, related: String? = nil,
        fixture: EmulatorFixture
    ) throws -> String {
        var signer = ProviderSigner()
        (signer.keyID, signer.teamID) = (keyID, team)
        try fixture.apns.registerKey(
            teamID: team, keyID: keyID, publicKeyPEM: signer.publicKeyPEM, topics: topics, relatedKeyID: related)
        return signer.authorization(issuedAt: "\(fixture.clock.now.seconds)")
    }

    private func answer(_ authorization: String, fixture: inout EmulatorFixture) -> String {
        EmulatorFixture.text(fixture.send { $0.authorization = authorization })
    }

    @Test("the first accepted push binds to its team")
    func team() throws {
        var fixture = try EmulatorFixture()
        let foreign = try key("KEYFOREIGN", team: Self.other, fixture: fixture)
        #expect(EmulatorFixture.text(fixture.send()) == "200")
        #expect(answer(foreign, fixture: &fixture) == "403 InvalidProviderToken")
    }

    @Test("a rejected push binds nothing")
    func unbound() throws {
        var fixture = try EmulatorFixture()
        #expect(EmulatorFixture.text(fixture.send { $0.topic = nil }) == "400 MissingTopic")
        #expect(fixture.credentials.binding == nil)
    }

    @Test("after a team-scoped key another one of the team is welcome, a topic-specific one is not")
    func teamScoped() throws {
        var fixture = try EmulatorFixture()
        let second = try key("KEYSECOND2", fixture: fixture)
        let specific = try key("KEYTOPICAL", topics: [EmulatorFixture.bundleID], fixture: fixture)
        #expect(EmulatorFixture.text(fixture.send()) == "200")
        #expect(answer(specific, fixture: &fixture) == "403 UnrelatedKeyIdInToken")
        #expect(answer(second, fixture: &fixture) == "200")
    }

    @Test("after a topic-specific key only its related key is welcome")
    func topicSpecific() throws {
        var fixture = try EmulatorFixture()
        let topics: Set<String> = [EmulatorFixture.bundleID]
        let related = try key("KEYRELATED", topics: topics, fixture: fixture)
        let unrelated = try key("KEYUNRELAT", topics: topics, fixture: fixture)
        var first = ProviderSigner()
        first.keyID = "KEYFIRST01"
        try fixture.apns.registerKey(
            teamID: first.teamID, keyID: first.keyID, publicKeyPEM: first.publicKeyPEM, topics: topics,
            relatedKeyID: "KEYRELATED")
        let own = first.authorization(issuedAt: "\(fixture.clock.now.seconds)")
        #expect(answer(own, fixture: &fixture) == "200")
        #expect(answer(unrelated, fixture: &fixture) == "403 UnrelatedKeyIdInToken")
        #expect(answer(fixture.authorization, fixture: &fixture) == "403 UnrelatedKeyIdInToken", "team-scoped")
        #expect(answer(related, fixture: &fixture) == "200")
    }

    @Test("related keys take turns with fresh tokens, and each keeps to twenty minutes for itself")
    func turns() throws {
        var fixture = try EmulatorFixture()
        let topics: Set<String> = [EmulatorFixture.bundleID]
        var signers = [ProviderSigner(), ProviderSigner()]
        (signers[0].keyID, signers[1].keyID) = ("KEYFIRST01", "KEYRELATED")
        for (signer, related) in [(signers[0], "KEYRELATED"), (signers[1], "KEYFIRST01")] {
            try fixture.apns.registerKey(
                teamID: signer.teamID, keyID: signer.keyID, publicKeyPEM: signer.publicKeyPEM, topics: topics,
                relatedKeyID: related)
        }
        func fresh(_ index: Int) -> String { signers[index].authorization(issuedAt: "\(fixture.clock.now.seconds)") }
        let tokens = [fresh(0), fresh(1)]
        for _ in 0..<3 { for token in tokens { #expect(answer(token, fixture: &fixture) == "200") } }
        fixture.clock.advance(by: .seconds(600))
        #expect(answer(fresh(1), fixture: &fixture) == "429 TooManyProviderTokenUpdates", "too soon for this key")
        fixture.clock.advance(by: .seconds(600))
        let renewed = fresh(1)
        #expect(answer(renewed, fixture: &fixture) == "200")
        #expect(answer(fresh(0), fixture: &fixture) == "200", "the change of one key is none of the other")
        #expect(answer(tokens[1], fixture: &fixture) == "429 TooManyProviderTokenUpdates")
        #expect(answer(renewed, fixture: &fixture) == "200")
    }

    @Test("a topic-specific key serves its topics alone")
    func foreignTopic() throws {
        var fixture = try EmulatorFixture()
        let specific = try key("KEYTOPICAL", topics: ["com.example.second"], fixture: fixture)
        #expect(answer(specific, fixture: &fixture) == "400 TopicDisallowed")
    }

    @Test("an app added later is unknown to the connection and known to the next")
    func laterApp() throws {
        var fixture = try EmulatorFixture()
        #expect(EmulatorFixture.text(fixture.send()) == "200")
        try fixture.apns.registerApp(bundleID: "com.example.later", teamID: fixture.signer.teamID)
        let token = fixture.apns.issueToken(device: "bob-phone", topic: "com.example.later")
        let push: (inout APNsRequest.Head) -> Void = { head in
            head.topic = "com.example.later"
            head.path = "/3/device/" + token
        }
        #expect(EmulatorFixture.text(fixture.send(push)) == "400 TopicDisallowed")
        fixture.credentials = ConnectionCredentials()
        #expect(EmulatorFixture.text(fixture.send(push)) == "200")
    }
}
