import HTTPTypes
import PushHub
import RichPushModel
import Testing

@Suite("The rich push tutorial's client")
struct TutorialTests {
    private let handle = "0A1B2C3D" + String(repeating: "EF", count: 28)

    /// Registers as the rich push tutorial's phone does and returns the id.
    private func register(_ bench: BackendBench, as user: String, handle: String) async throws -> String {
        let answer = try await bench.call(.post, "/api/register?handle=\(handle)", as: user)
        #expect(answer.status == .ok)
        let id = String(answer.text.dropFirst().dropLast())
        let stored = try await put(bench, id: id, as: user, handle: handle)
        #expect(stored == (200, ""))
        return id
    }

    private func put(_ bench: BackendBench, id: String, as user: String, handle: String, tags: String = "\"news\"") async throws
        -> (
            Int, String
        )
    {
        let answer = try await bench.json(
            .put, "/api/register/\(id)", as: user, #"{"Platform":"apns","Handle":"\#(handle)","Tags":[\#(tags)]}"#)
        return (answer.status.code, answer.text)
    }

    @Test("gets a registration id of 128 bits as a JSON string, stores it, and removes it")
    func registration() async throws {
        let bench = try await BackendBench()
        let answer = try await bench.call(.post, "/api/register?handle=\(handle)", as: "ann")
        #expect(answer.status == .ok)
        #expect(answer.headers[.contentType] == "application/json")
        #expect(answer.text.wholeMatch(of: #/"[0-9a-f]{32}"/#) != nil)
        let id = try await register(bench, as: "ann", handle: handle)
        let device = try #require(bench.hub.devices.first)
        #expect(bench.hub.devices.count == 1)
        #expect(device.id.text == id)
        #expect(device.handle?.text == handle)
        #expect(Set(device.tags.map(\.text)) == ["news", "username:ann"])
        let removed = try await bench.call(.delete, "/api/register/\(id)", as: "ann")
        #expect(removed.status == .ok)
        #expect(removed.text == "")
        #expect(bench.hub.devices.isEmpty)
    }

    @Test(
        "that sends its body as it always did is understood", arguments: ["application/json", "application/json;charset=utf-8"])
    func contentTypes(type: String) async throws {
        let bench = try await BackendBench()
        let body = #"{"Platform":"apns", "Handle":"\#(handle)", "Tags":[]}"#
        let answer = try await bench.call(
            .put, "/api/register/1234567-8901-2", as: "ann", headers: [.contentType: type], body: Array(body.utf8))
        #expect(answer.status == .ok)
    }

    @Test("may take over a phone with a new owner, and no other user's registration")
    func handOver() async throws {
        let bench = try await BackendBench()
        let id = try await register(bench, as: "ann", handle: handle)
        let foreign = try await put(bench, id: id, as: "bob", handle: String(repeating: "11", count: 32))
        #expect(foreign.0 == 410)
        #expect(foreign.1.contains("registration-gone"))
        let same = try await put(bench, id: id, as: "bob", handle: handle)
        #expect(same.0 == 200)
        #expect(Set(bench.hub.devices.flatMap(\.tags).map(\.text)) == ["news", "username:bob"])
    }

    @Test("cannot name itself another user")
    func protectedTag() async throws {
        let bench = try await BackendBench()
        let answer = try await put(bench, id: "abc", as: "ann", handle: handle, tags: "\"username:bob\"")
        #expect(answer.0 == 403)
        #expect(bench.hub.devices.isEmpty)
    }

    @Test("presses the button and gets the silent push, to the byte, and then the picture")
    func rich() async throws {
        let bench = try await BackendBench()
        _ = try await register(bench, as: "ann", handle: handle)
        let sent = try await bench.call(.post, "/api/notifications", as: "ann")
        #expect(sent.status == .ok)
        let id = try sent.decoded(SendAnswer.self).id.description
        let command = try #require(bench.hub.sends.first)
        #expect(
            String(decoding: command.message.body, as: UTF8.self)
                == #"{"aps":{"content-available":1},"richId":"\#(id)","richMessage":"Check this image out!","richType":"img"}"#)
        #expect(command.message.pushType == "background")
        #expect(command.message.priority == 5)
        let content = try await bench.call(.get, "/api/notifications/\(id)", as: "ann")
        #expect(content.status == .ok)
        #expect(content.headers[.contentType] == "image/png")
        #expect(content.bytes == BackendBench.picture)
    }

    @Test("is refused what is not its own, and cannot distinguish that from what does not exist")
    func foreignContent() async throws {
        let bench = try await BackendBench()
        let id = try await bench.call(.post, "/api/notifications", as: "ann").decoded(SendAnswer.self).id
        let foreign = try await bench.call(.get, "/api/notifications/\(id)", as: "bob")
        let unknown = try await bench.call(.get, "/api/notifications/2000000000", as: "bob")
        let malformed = try await bench.call(.get, "/api/notifications/0x7", as: "bob")
        #expect(foreign.status == .notFound)
        #expect(foreign.text == unknown.text)
        #expect(foreign.status == unknown.status)
        #expect(malformed.status == unknown.status)
        #expect(foreign.headers.map(\.name) == unknown.headers.map(\.name))
    }

    @Test("of the Notify Users tutorial sends its line to a user")
    func predecessor() async throws {
        let bench = try await BackendBench()
        let answer = try await bench.call(
            .post, "/api/notifications?pns=apns&to_tag=bob", as: "sam", headers: [.contentType: "application/json;charset=utf-8"],
            body: Array("\"Hello \\\"you\\\"\"".utf8))
        #expect(answer.status == .ok)
        let command = try #require(bench.hub.sends.first)
        let body = String(decoding: command.message.body, as: UTF8.self)
        #expect(body.contains(#""alert":"From sam: Hello \"you\"""#))
        #expect(command.audience.map { "\($0)" } == "username:bob")
    }

    @Test(
        "of the Notify Users tutorial is answered what is missing",
        arguments: [
            ("/api/notifications?pns=apns", "\"Hi\""), ("/api/notifications", "\"Hi\""),
            ("/api/notifications?pns=gcm&to_tag=bob", "\"Hi\""), ("/api/notifications?pns=apns&to_tag=b%20b", "\"Hi\""),
            ("/api/notifications?pns=apns&to_tag=bob", "7"), ("/api/notifications?pns=apns&to_tag=bob", "{\"message\":\"x\"}"),
            ("/api/notifications?pns=apns&to_tag=bob", ""), ("/api/notifications?to_tag=bob&to_tag=ann&pns=apns", "\"Hi\""),
        ])
    func predecessorMistakes(uri: String, body: String) async throws {
        let bench = try await BackendBench()
        #expect(try await bench.json(.post, uri, as: "sam", body).status == .badRequest)
        #expect(bench.hub.sends.isEmpty)
    }

    @Test("finds the same calls under the version")
    func versioned() async throws {
        let bench = try await BackendBench()
        #expect(try await bench.call(.post, "/api/v1/register", as: "ann").status == .ok)
        #expect(try await bench.call(.post, "/api/v1/notifications", as: "ann").status == .ok)
    }
}
