import Foundation
import RichPushModel
import Testing

@testable import LabServices

/// The calls of the rich push tutorial's own phone, as it makes them, answered as it expects.
struct TutorialClientTests {
    @Test("the rich push tutorial's client registers, sends, fetches and unregisters with its five calls")
    func fiveCalls() async throws {
        try await Stage.open { stage in
            let token = stage.demo.apns.issueToken(device: "old phone", topic: "org.clarion.demo").uppercased()
            let pushes = stage.demo.apns.connect(device: "old phone")
            let alice = stage.caller("alice")
            let created = try await alice.call("POST", "/api/register?handle=\(token)", body: nil, headers: [:])
            #expect(created.status == 200)
            let id = try JSONDecoder().decode(String.self, from: created.body)
            let registration = Data(#"{"Platform":"apns","Handle":"\#(token)","Tags":["news"]}"#.utf8)
            let put = try await alice.call(
                "PUT", "/api/register/\(id)", body: registration, headers: ["Content-Type": "application/json"])
            #expect(put.status == 200)
            #expect(try await alice.call("POST", "/api/notifications", body: nil, headers: [:]).status == 200)
            let push = try #require(await first(of: pushes))
            let payload = String(decoding: push.payload, as: UTF8.self)
            let richID = try #require(PushEnvelope(payload: Data(push.payload))?.id)
            #expect(
                payload
                    == #"{"aps":{"content-available":1},"richId":"\#(richID)","richMessage":"Check this image out!","richType":"img"}"#
            )
            #expect(push.pushType == .background)
            #expect(push.priority == 5)
            let picture = try await alice.call("GET", "/api/notifications/\(richID)", body: nil, headers: [:])
            #expect(picture.status == 200 && picture.headers["content-type"] == "image/png" && !picture.body.isEmpty)
            #expect(try await alice.call("DELETE", "/api/register/\(id)", body: nil, headers: [:]).status == 200)
        }
    }

    @Test("the Notify Users tutorial's Send button reaches the named user as a plain alert")
    func sendButton() async throws {
        try await Stage.open { stage in
            let token = stage.demo.apns.issueToken(device: "old phone", topic: "org.clarion.demo").uppercased()
            let pushes = stage.demo.apns.connect(device: "old phone")
            let registration = Data(#"{"Platform":"apns","Handle":"\#(token)","Tags":[]}"#.utf8)
            let json = ["Content-Type": "application/json;charset=utf-8"]
            let put = try await stage.caller("bob").call("PUT", "/api/register/0123456789", body: registration, headers: json)
            #expect(put.status == 200)
            let sent = try await stage.caller("ann").call(
                "POST", "/api/notifications?pns=apns&to_tag=bob", body: Data(#""Hello""#.utf8), headers: json)
            #expect(sent.status == 200)
            let push = try #require(await first(of: pushes))
            #expect(String(decoding: push.payload, as: UTF8.self) == #"{"aps":{"alert":"From ann: Hello"}}"#)
            #expect(push.pushType == .alert)
        }
    }

    private func first<Element: Sendable>(of stream: AsyncStream<Element>) async throws -> Element? {
        try await withThrowingTaskGroup(of: Element?.self) { group in
            group.addTask {
                for await element in stream { return element }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: .seconds(30))
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}
