import Foundation
import RichPushModel
import Testing

@testable import FCMEmulation

@Suite("What a local FCM keeps between runs")
struct KeptFCMTests {
    private func restarted(_ fixture: FCMFixture) throws -> FCMFixture {
        let bytes = try JSONEncoder().encode(fixture.state.kept)
        var after = try FCMFixture()
        after.state = FCMServiceState(
            settings: LocalFCMSettings(identity: .init(certificatePEM: "", privateKeyPEM: ""), port: 8_443), clock: after.clock,
            random: SystemRandomNumberGenerator())
        try after.state.restore(JSONDecoder().decode(KeptFCM.self, from: bytes))
        return after
    }

    @Test("key files, registration tokens, topics and waiting messages are as good after a restart as before")
    func restart() throws {
        var before = try FCMFixture()
        let path = "/v1/projects/\(FCMFixture.project)/registrations/\(before.token())/topicSubscriptions?topic_name=news"
        before.post(before.request("{}", path: path))
        try before.act(.goOffline)
        before.push(#""data":{"n":"1"}"#)
        var after = try restarted(before)
        #expect(after.state.kept == before.state.kept)
        let answer = FCMFixture.members(after.post(try before.grant()).answer.body)
        after.bearer = answer["access_token"]?.asText ?? ""
        after.push(#""data":{"n":"2"}"#, to: #""token":"\#(before.token())""#)
        after.push(#""data":{"n":"3"}"#, to: #""topic":"news""#)
        try after.act(.goOnline)
        let numbers = after.events().compactMap { if case .message(let message) = $0 { message.data["n"] } else { nil } }
        #expect(numbers == ["1", "2", "3"])
    }

    @Test("an access token is not kept, a dead registration token stays dead")
    func dead() throws {
        var before = try FCMFixture()
        let token = before.token()
        try before.act(.renewToken)
        var after = try restarted(before)
        after.bearer = before.bearer
        #expect(after.broken(by: after.send()) == [.credentialKnown])
        after.renewBearer()
        #expect(after.broken(by: after.send(to: #""token":"\#(token)""#)) == [.registered])
        #expect(!after.state.wasIssued("\(token.dropLast())-"))
    }

    @Test("every change of what is kept changes the revision, and a message that is delivered at once does not")
    func revision() throws {
        var fixture = try FCMFixture()
        var seen = [fixture.state.keptRevision]
        func note() { seen.append(fixture.state.keptRevision) }
        fixture.push()
        #expect(fixture.state.keptRevision == seen[0])
        try fixture.act(.goOffline)
        note()
        fixture.push(#""android":{"ttl":"60s"}"#)
        note()
        fixture.clock.advance(by: .seconds(60))
        _ = fixture.state.status(of: "phone")
        note()
        try fixture.addPhone("other")
        note()
        _ = try fixture.state.addProject("third-shop", number: nil)
        note()
        #expect(seen == Array(Set(seen)).sorted())
    }

    @Test("a state of another version, or one that does not fit itself, is refused and takes in nothing")
    func refused() throws {
        let kept = try FCMFixture().state.kept
        let service = RunningFCM.inProcess()
        let changes: [(inout KeptFCM) -> Void] = [
            { $0.version = 9 }, { $0.tokenKey = "AAAA" }, { $0.devices[0].token = "x" }, { $0.devices[0].project = "nowhere" },
            { $0.projects[0].accounts = ["a": .init(maySend: true, keys: ["k": "no PEM"])] },
            { $0.projects[0].id = "?" }, { $0.projects.append($0.projects[0]) }, { $0.devices.append($0.devices[0]) },
        ]
        for change in changes {
            var changed = kept
            change(&changed)
            #expect(throws: LocalFCMError.self) { try service.restore(changed) }
        }
        #expect(service.keptState.isEmpty)
        try service.restore(kept)
        #expect(service.keptState == kept)
    }
}
