import RichPushModel
import Testing

@testable import FCMEmulation

@Suite("Topics")
struct FCMTopicTests {
    private func place(_ fixture: FCMFixture, _ end: String) -> String {
        "/v1/projects/\(FCMFixture.project)/registrations/\(fixture.token())/topicSubscriptions\(end)"
    }

    private func batch(_ fixture: FCMFixture, _ tokens: [String], removes: Bool = false) -> GoogleRequest {
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        return fixture.request(
            #"{"to":"/topics/news","registration_tokens":[\#(list)]}"#, path: "/iid/v1:batch\(removes ? "Remove" : "Add")"
        ).with("access_token_auth", "true")
    }

    @Test("a message for a topic goes to its followers, and says where it is from")
    func topic() throws {
        var fixture = try FCMFixture()
        try fixture.addPhone("other")
        fixture.post(fixture.request("{}", path: place(fixture, "?topic_name=news")))
        let pushed = fixture.push(#""data":{"a":"b"}"#, to: #""topic":"news""#)
        #expect(try #require(pushed).allSatisfy(\.isNumber))
        guard case .message(let message)? = fixture.events().first else { return #expect(Bool(false), "nothing came") }
        #expect(message.from == "/topics/news")
        #expect(fixture.state.recorder.deliveries.map(\.device) == ["phone"])
        fixture.post(fixture.request("", path: place(fixture, "/news"), method: "DELETE"))
        fixture.push(to: #""topic":"news""#)
        #expect(fixture.events() == [])
    }

    @Test("a condition reaches the apps of the project that fulfil it")
    func condition() throws {
        var fixture = try FCMFixture()
        try fixture.addPhone("other")
        fixture.post(fixture.request("{}", path: place(fixture, "?topic_name=news")))
        fixture.push(to: #""condition":"!('news' in topics)""#)
        #expect(fixture.state.recorder.deliveries.map(\.device) == ["other"])
    }

    @Test("the older service answers for each token")
    func batches() throws {
        var fixture = try FCMFixture()
        try fixture.addPhone("dead")
        try fixture.addPhone("foreign", project: "another-shop")
        let tokens = ["phone", "dead", "foreign"].map { fixture.token($0) } + ["nonsense", fixture.token().dropLast() + "_"]
        try fixture.act(.uninstall, on: "dead")
        let answer = fixture.post(batch(fixture, tokens)).answer
        #expect(
            answer.body == #"{"results":[{},{"error":"NOT_FOUND"},{"error":"PERMISSION_DENIED"},{"error":"INVALID_ARGUMENT"},"#
                + #"{"error":"INVALID_ARGUMENT"}]}"#)
        #expect(fixture.state.devices["phone"]?.topics == ["news"])
        #expect(fixture.post(batch(fixture, [fixture.token()], removes: true)).answer.body == #"{"results":[{}]}"#)
        #expect(fixture.state.devices["phone"]?.topics == [])
        fixture.state.quotas.topicsPerDevice = 0
        #expect(fixture.post(batch(fixture, [fixture.token()])).answer.body.contains("TOO_MANY_TOPICS"))
    }

    @Test("what fails as a whole is answered in the form of the older service")
    func batchFailure() throws {
        var fixture = try FCMFixture()
        let answer = fixture.post(batch(fixture, [fixture.token()]).with("authorization", nil)).answer
        #expect(answer.status == 401)
        #expect(answer.body == #"{"error":"UNAUTHENTICATED"}"#)
        let malformed = fixture.request("x", path: "/iid/v1:batchAdd").with("access_token_auth", "true")
        #expect(fixture.post(malformed).answer.body == #"{"error":"INVALID_ARGUMENT"}"#)
        let mixed = fixture.request(
            #"{"to":"/topics/news","registration_tokens":["\#(fixture.token())",1]}"#, path: "/iid/v1:batchAdd")
        #expect(fixture.broken(by: mixed.with("access_token_auth", "true")) == [.topicTokens])
    }

    @Test("the newer service judges topic and token, and may be lenient about what is not followed")
    func subscriptions() throws {
        var fixture = try FCMFixture()
        let bad = fixture.request("{}", path: place(fixture, "?topic_name=a%20b"))
        #expect(fixture.violations(of: bad) == [FCMViolation(.topicName, field: "topic_name")])
        let missing = fixture.request("", path: place(fixture, "/news?allow_missing=true"), method: "DELETE")
        #expect(fixture.post(missing).answer.status == 200)
        let (fid, other) = (fixture.token().prefix(22), String(repeating: "A", count: 110))
        for (token, rule) in [("x", FCMRule.tokenShape), ("\(fid):APA91b\(other)", .tokenIssued)] {
            let path = "/v1/projects/\(FCMFixture.project)/registrations/\(token)/topicSubscriptions?topic_name=news"
            let violations = fixture.violations(of: fixture.request("{}", path: path))
            #expect(violations == [FCMViolation(rule, field: "registration")])
        }
    }

    @Test("an app that is removed follows nothing any more")
    func uninstall() throws {
        var fixture = try FCMFixture()
        fixture.post(fixture.request("{}", path: place(fixture, "?topic_name=news")))
        try fixture.act(.uninstall)
        try fixture.act(.install)
        fixture.push(to: #""topic":"news""#)
        #expect(fixture.state.recorder.deliveries.isEmpty)
    }
}
