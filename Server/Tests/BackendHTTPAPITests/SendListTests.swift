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
        arguments: ["limit=0", "limit=51", "limit=", "limit=x", "before=x", "after=1", "limit=1&since=1"])
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
}
