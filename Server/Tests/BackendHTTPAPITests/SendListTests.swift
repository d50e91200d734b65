import AppBackend
import RichPushModel
import Testing

@Suite("The list of sends over HTTP")
struct SendListTests {
    private func send(_ bench: BackendBench, as user: String) async throws -> RichID {
        try await bench.json(.post, "/api/v1/notifications", as: user, #"{"message":"m"}"#).decoded(SendAnswer.self).id
    }

    @Test("pages lead from one to the next with the cursor that each gives")
    func pages() async throws {
        let bench = try await BackendBench()
        var sent: [RichID] = []
        for _ in 1...3 { sent.append(try await send(bench, as: "sam")) }
        let first = try await bench.call(.get, "/api/v1/sends?limit=2", as: "sam").decoded(SendList.self)
        #expect(
            first.sends.map(\.id) == [sent[2], sent[1]]
                && first.sends.map(\.status?.outcomes) == [["accepted": 2], ["accepted": 2]])
        let next = try #require(first.next)
        let last = try await bench.call(.get, "/api/v1/sends?limit=2&before=\(next)", as: "sam").decoded(SendList.self)
        #expect(last.sends.map(\.id) == [sent[0]])
        #expect(last.next == nil)
    }

    @Test("an entry names the moment when the send was due, and no other")
    func fields() async throws {
        let bench = try await BackendBench()
        _ = try await send(bench, as: "sam")
        let text = try await bench.call(.get, "/api/v1/sends", as: "sam").text
        #expect(text.contains("\"dueAt\":\(bench.clock.now.milliseconds)") && !text.contains("sentAt"), "\(text)")
    }

    @Test(
        "a limit outside of 1 to 50, a malformed cursor and an unknown parameter are refused",
        arguments: [
            "limit=0", "limit=51", "limit=", "limit=x", "before=x", "after=1", "limit=1&from=1", "since=-1", "until=x",
            "since=2&until=1", "since=1&before=7",
            "sender=a&sender=b",
        ])
    func refused(query: String) async throws {
        let bench = try await BackendBench()
        let answer = try await bench.call(.get, "/api/v1/sends?\(query)", as: "sam")
        #expect(answer.status == .badRequest && answer.code == "invalid-field", "\(answer.text)")
    }

    @Test("both ends of the range of limits are taken", arguments: [1, 50])
    func limits(limit: Int) async throws {
        let bench = try await BackendBench()
        #expect(try await bench.call(.get, "/api/v1/sends?limit=\(limit)", as: "sam").status == .ok)
    }

    @Test("an anonymous caller is asked for a credential, and an installation's credential is not enough")
    func callers() async throws {
        let bench = try await BackendBench()
        #expect(try await bench.call(.get, "/api/v1/sends").status == .unauthorized)
        let phone = try await bench.signIn("phone", as: "ann")
        let answer = try await bench.call(.get, "/api/v1/sends", headers: phone)
        #expect(answer.status == .forbidden)
        #expect(answer.code == "forbidden")
    }

    @Test("a list of a span and a sender has these sends, and leads from page to page")
    func filters() async throws {
        let bench = try await BackendBench()
        let start = bench.clock.now.milliseconds
        var sent: [RichID] = []
        for user in ["sam", "ann", "sam", "sam"] {
            sent.append(try await send(bench, as: user))
            bench.clock.advance(by: .seconds(1))
        }
        let path = "/api/v1/sends?sender=sam&since=\(start)&until=\(start + 3000)&limit=1"
        let first = try await bench.call(.get, path, as: "root").decoded(SendList.self)
        let next = try #require(first.next)
        let last = try await bench.call(.get, path + "&before=\(next)", as: "root").decoded(SendList.self)
        #expect((first.sends + last.sends).map(\.id) == [sent[2], sent[0]])
        #expect(last.next == nil)
        #expect(try await bench.call(.get, "/api/v1/sends?sender=ann", as: "sam").status == .notFound)
    }

    @Test("a send has a page of the devices that got no push, for who may read all sends, and no device token")
    func details() async throws {
        let bench = try await BackendBench()
        let id = try await send(bench, as: "sam")
        bench.hub.failPushes(3)
        let path = "/api/v1/sends/\(id)"
        let first = try await bench.call(.get, path + "?limit=2&outcome=rejected", as: "eve").decoded(SendDetails.self)
        #expect(first.id == id && first.sender == "sam" && first.status.outcomes == ["accepted": 2, "rejected": 3])
        #expect(first.failures?.map(\.outcome) == ["rejected", "rejected"])
        let next = try #require(first.next)
        let last = try await bench.call(.get, path + "?limit=2&outcome=rejected&after=\(next)", as: "eve")
        #expect(try last.decoded(SendDetails.self).failures?.map(\.device) == ["device-3"])
        #expect(try last.decoded(SendDetails.self).next == nil)
        let own = try await bench.call(.get, path, as: "sam")
        #expect(own.status == .ok && !own.text.contains("failures") && !own.text.contains("device-"))
        #expect(try await bench.call(.get, path, as: "ann").status == .notFound)
        #expect(try await bench.call(.get, path + "?outcome=rejected", as: "sam").status == .forbidden)
    }

    @Test(
        "an outcome that is none of a device without its push, a limit outside of 1 to 100 and other parameters are refused",
        arguments: ["outcome=accepted", "outcome=x", "outcome=", "limit=0", "limit=101", "after=x", "before=1"])
    func refusedDetails(query: String) async throws {
        let bench = try await BackendBench()
        let id = try await send(bench, as: "sam")
        let answer = try await bench.call(.get, "/api/v1/sends/\(id)?\(query)", as: "root")
        #expect(answer.status == .badRequest && answer.code == "invalid-field", "\(answer.text)")
    }

    @Test("an audience is counted without a send; a malformed one and unknown fields are refused")
    func counts() async throws {
        let bench = try await BackendBench()
        _ = try await bench.signIn("phone", as: "ann", tags: ["news"])
        let path = "/api/v1/audiences/count"
        let counted = try await bench.json(.post, path, as: "sam", #"{"audience":"news"}"#)
        #expect(try counted.decoded(AudienceCount.self) == AudienceCount(targets: 1, isComplete: true))
        #expect(counted.text.contains("\"complete\":true"))
        #expect(try await bench.json(.post, path, as: "sam", "{}").decoded(AudienceCount.self).targets == 0)
        #expect(bench.hub.sends.isEmpty)
        #expect(try await bench.json(.post, path, as: "sam", #"{"audience":"a &&"}"#).code == "invalid-audience")
        #expect(try await bench.json(.post, path, as: "sam", #"{"tags":"news"}"#).code == "invalid-field")
        let key = try await bench.key("shop", scopes: ["send:shop"])
        #expect(try await bench.json(.post, path, headers: key, #"{"audience":"shop-sale"}"#).status == .ok)
        #expect(try await bench.json(.post, path, headers: key, #"{"audience":"news"}"#).code == "forbidden")
    }
}
