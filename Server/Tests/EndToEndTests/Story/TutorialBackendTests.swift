import AsyncHTTPClient
import DeviceSimulation
import Foundation
import NIOCore
import RichPushModel
import SharedAccess
import Testing

@testable import LabServices
@testable import ServerSettings

/// The rich push tutorial's own backend, which keeps its code and is given another connection string.
struct TutorialBackendTests {
    @Test("its payload, sent to a user's tag with nothing but format and tags, ends as the picture on the phone, byte for byte")
    func payload() async throws {
        try await Stage.open { stage in
            let picture = Picture.random(side: 32)
            // Before she has a device, so that the hub protocol's push is the only one.
            let id = try await stage.caller("alice").send(picture, message: "Check this image out!")
            try await stage.signIn("alice", on: 1)
            let token = try await registerAsTutorial("alice", phone: 1, stage)
            try await stage.phone(1).perform(.home)
            let payload = """
                {"aps":{"content-available":1,"sound":""},"richId":"\(id)","richMessage":"Check this image out!","richType":"img"}
                """
            try await send(payload, to: "username:alice", stage)
            let home = try await stage.wait(for: "the notification", on: 1) { !$0.notifications.isEmpty }
            let notice = try #require(home.notifications.first)
            #expect(home.notifications.count == 1)
            #expect(notice.actions.map(\.title) == ["More", "Reply"])
            try await stage.phone(1).perform(.moreNotification(id: notice.id))
            try await stage.wait(for: "the picture", on: 1) { $0.content?.richID == id && $0.content?.state == .ready }
            let media = try #require(await stage.phone(1).media(for: id, attachmentOf: nil))
            #expect(try Data(contentsOf: media.file) == picture)
            let asked = stage.demo.apns.recordedExchanges
            #expect(asked.count == 1)
            #expect(asked.first?.token?.uppercased() == token)
            #expect(asked.first?.answer?.status == 200)
            #expect(asked.first.map { String(decoding: $0.payload, as: UTF8.self) } == payload)
            let headers = asked.first?.headers.map { "\($0.name): \($0.value)" } ?? []
            #expect(headers.contains("apns-push-type: background"))
            #expect(headers.contains("apns-priority: 5"))
        }
    }

    /// The registration of the phone's token by the rich push tutorial's two calls; the record that the phone's own app made goes
    /// with it.
    private func registerAsTutorial(_ name: String, phone: Int, _ stage: Stage) async throws -> String {
        let token = stage.demo.apns.issueToken(device: String(phone), topic: Settings.demoTopic).uppercased()
        let caller = stage.caller(name)
        let created = try await caller.call("POST", "/api/register?handle=\(token)", body: nil, headers: [:])
        try #require(created.status == 200)
        let id = try JSONDecoder().decode(String.self, from: created.body)
        let registered = try await caller.call(
            "PUT", "/api/register/\(id)", body: Data(#"{"Platform":"apns","Handle":"\#(token)","Tags":["news"]}"#.utf8),
            headers: ["Content-Type": "application/json"])
        try #require(registered.status == 200)
        let records = try await stage.demo.node.hub.devices(withToken: token)
        #expect(records.map(\.id.text) == [id])
        #expect(records.first.map { Set($0.tags.map(\.text)) } == ["news", "username:\(name)"])
        return token
    }

    /// As `SendAppleNativeNotificationAsync(payload, tag)` does it.
    private func send(_ payload: String, to tag: String, _ stage: Stage) async throws {
        let path = "/\(stage.hubName)/messages"
        let signer = SharedAccessSigner(try await stage.connection())
        var request = HTTPClientRequest(url: stage.address + path + "?api-version=2020-06")
        request.method = .POST
        request.headers.add(contentsOf: [
            ("Authorization", signer.token(audience: "http://127.0.0.1\(path)/", expiresAt: stage.now + .seconds(1200))),
            ("ServiceBusNotification-Format", "apple"), ("ServiceBusNotification-Tags", tag),
        ])
        request.body = .bytes(ByteBuffer(string: payload))
        #expect(try await HTTPClient.shared.execute(request, timeout: .seconds(30)).status == .created)
    }
}
