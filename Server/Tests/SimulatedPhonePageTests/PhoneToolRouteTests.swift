import DeviceSimulation
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import RichPushModel
import SimulatedPhonePage
import Testing

@Suite("Tools of the page")
struct PhoneToolRouteTests {
    private let tools = ScriptedTools()
    private var harness: PageHarness { PageHarness([ScriptedPhone(), ScriptedPhone(id: "p2", name: "Second")], tools: tools) }
    private static let json: HTTPFields = [.contentType: "application/json"]

    private func post(_ path: String, _ body: String) async throws -> TestResponse {
        try await harness.call(.post, path, headers: Self.json, body: body)
    }

    @Test("a push by hand goes to the phone that is named, as it was typed")
    func push() async throws {
        let answer = try await post(
            "/phone/p2/pushes",
            #"{"pushType":"alert","priority":5,"topic":"t","expiration":0,"collapseId":"c","payload":"no json"}"#)
        #expect(answer.status == .ok)
        #expect(answer.text == #"{"apnsId":"id","status":200}"#)
        let sent = try #require(await tools.pushes.first)
        #expect(sent.phone == "p2")
        #expect(sent.push == HandPush(priority: 5, topic: "t", expiration: 0, collapseId: "c", payload: "no json"))
    }

    @Test("a refusal of APNs is an answer, with its reason and its moment")
    func refusal() async throws {
        await tools.refuse(HandPushAnswer(status: 410, reason: "Unregistered", apnsId: "id", timestamp: 5))
        let answer = try await post("/phone/p1/pushes", #"{"pushType":"alert","payload":"{}"}"#)
        #expect(answer.status == .ok)
        #expect(answer.text == #"{"apnsId":"id","reason":"Unregistered","status":410,"timestamp":5}"#)
    }

    @Test(
        "a push with a typing error in its fields is not sent",
        arguments: [
            #"{"pushType":"alert"}"#, #"{"payload":"{}"}"#, #"{"pushType":"alert","payload":"{}","collapseID":"c"}"#,
            #"{"pushType":"alert","payload":"{}","priority":"10"}"#, #"{"pushType":"alert","payload":{}}"#, "", "[]",
        ])
    func malformed(body: String) async throws {
        #expect(try await post("/phone/p1/pushes", body).status == .badRequest)
        #expect(try await post("/phone/p1/pushes/review", body).status == .badRequest)
        #expect(await tools.pushes.isEmpty)
    }

    @Test("a review names the place and sends nothing")
    func review() async throws {
        let answer = try await post("/phone/p1/pushes/review", #"{"pushType":"alert","payload":"{\n  \"aps\" 1}"}"#)
        let findings = try JSONDecoder().decode([PushFinding].self, from: Data(answer.body.readableBytesView))
        #expect(findings.map(\.line) == [2])
        #expect(findings.map(\.column) == [9])
        #expect(await tools.pushes.isEmpty)
    }

    @Test("what is sealed reaches the tools with its bytes, and an unknown field is refused")
    func sealed() async throws {
        let draft = #"{"sender":"alice","users":["bob"],"kind":"img","message":"Hi","fileName":"a.png","content":"AQID"}"#
        let answer = try await post("/phone/notifications", draft)
        #expect(answer.status == .created)
        #expect(answer.text.contains(#""id":"7""#))
        let kept = try #require(await tools.drafts.first)
        #expect(kept.content == Data([1, 2, 3]))
        #expect(kept.fileName == "a.png")
        #expect(kept.users == ["bob"])
        #expect(try await post("/phone/notifications", draft.replacing("\"kind\"", with: "\"sort\"")).status == .badRequest)
        #expect(await tools.drafts.count == 1)
    }

    @Test("users who cannot open a sealed notification are named beside the backend's own answer")
    func warnings() async throws {
        let draft = #"{"sender":"alice","users":["bob","carol"],"kind":"text","message":"Hi"}"#
        #expect(
            try await post("/phone/notifications", draft).text
                == #"{"id":"7","readableBy":"nobody","trackingId":"t","warnings":["carol has no phone"]}"#)
        #expect(try await post("/phone/notifications", draft.replacing(#","carol""#, with: "")).text.contains(#""warnings":[]"#))
    }

    @Test("faults are those of one phone, and none is known that there is not")
    func faults() async throws {
        let put = try await harness.call(
            .put, "/phone/p1/faults", headers: Self.json, body: #"{"apns":"delay","backend":"damaged"}"#)
        #expect(put.status == .noContent)
        #expect(try await harness.call(.get, "/phone/p1/faults").text == #"{"apns":"delay","backend":"damaged"}"#)
        #expect(try await harness.call(.get, "/phone/p2/faults").text == #"{"apns":"none","backend":"none"}"#)
        let session = #"{"apns":"none","backend":"unauthorized"}"#
        #expect(try await harness.call(.put, "/phone/p1/faults", headers: Self.json, body: session).status == .noContent)
        for body in [#"{"apns":"delay"}"#, #"{"apns":"late","backend":"none"}"#, #"{"apns":"none","backend":"none","x":1}"#] {
            #expect(try await harness.call(.put, "/phone/p1/faults", headers: Self.json, body: body).status == .badRequest)
        }
    }

    @Test("a token is retired for the phone that is named")
    func token() async throws {
        #expect(try await harness.call(.delete, "/phone/p2/token").status == .noContent)
        #expect(await tools.retired == ["p2"])
    }

    @Test("samples are listed with their texts and served with their type")
    func samples() async throws {
        #expect(
            try await harness.call(.get, "/phone/samples").text
                == #"[{"altText":"A picture","fileName":"p.png","kind":"img","mediaType":"image/png"}]"#)
        let sample = try await harness.call(.get, "/phone/samples/img")
        #expect(sample.text == "picture" && sample.headers[.contentType] == "image/png")
        #expect(try await harness.call(.get, "/phone/samples/video").status == .notFound)
    }

    @Test("a phone that is not there has no tools", arguments: ["target", "faults"])
    func unknownPhone(path: String) async throws {
        #expect(try await harness.call(.get, "/phone/p9/\(path)").status == .notFound)
        #expect(try await post("/phone/p9/pushes", #"{"pushType":"alert","payload":"{}"}"#).status == .notFound)
    }

    @Test("without tools there are no such routes, and the page finds that out")
    func noTools() async throws {
        let bare = PageHarness([ScriptedPhone()])
        #expect(try await bare.call(.get, "/phone/p1/faults").status == .notFound)
        #expect(try await bare.call(.get, "/phone/samples").status == .notFound)
    }

    @Test("a page of another site can send nothing", arguments: ["/phone/p1/pushes", "/phone/notifications"])
    func crossSite(path: String) async throws {
        let headers: HTTPFields = [.contentType: "application/json", .secFetchSite: "cross-site"]
        let answer = try await harness.call(.post, path, headers: headers, body: #"{"pushType":"alert","payload":"{}"}"#)
        #expect(answer.status == .forbidden)
    }
}
