import Foundation
import RichPushModel
import Testing

@testable import DeviceSimulation

/// A phone whose user speaks another language than the sender.
struct SpokenLanguageTests {
    @Test(
        "a phone shows the push, the inbox and the link of the language of its user, and another phone those of the send",
        arguments: [PreviewPolicy.open, .neutral])
    func translated(_ preview: PreviewPolicy) async throws {
        try await Stage.open { stage in
            try await ProcessPhone.use("alice", on: stage, change: { $0.languages = ["sv-SE", "en"] }) { swedish in
                try await ProcessPhone.use("bob", on: stage, change: { $0.languages = ["fr"] }) { french in
                    for device in [swedish, french] { try await device.phone.perform(.lock) }
                    let id = try await Self.send(preview, from: stage)
                    for (device, text, link) in [
                        (swedish, "Hej", "https://example.org/sv"), (french, "Hello", "https://example.org/en"),
                    ] {
                        try await device.settled()
                        #expect(await device.phone.snapshot.notifications.map(\.body) == [text], "\(device.name)")
                        try await device.phone.perform(.unlock)
                        try await device.phone.perform(.openApp)
                        try await device.phone.perform(.refreshInbox)
                        #expect(await device.phone.snapshot.inbox.map(\.message) == [text], "\(device.name)")
                        try await device.phone.perform(.openInbox(id))
                        let shown = try await eventually("\(device.name) shows the link") {
                            await device.phone.snapshot.content?.link
                        }
                        #expect(shown == link, "\(device.name)")
                    }
                }
            }
        }
    }

    private static func send(_ preview: PreviewPolicy, from stage: Stage) async throws -> RichID {
        var request = SendRequest(message: "Hello")
        request.audience = "username:alice || username:bob"
        request.preview = preview
        request.link = "https://example.org/en"
        var swedish = SendTranslation(language: "sv", message: "Hej")
        swedish.link = "https://example.org/sv"
        request.translations = [swedish]
        let sent = try await stage.caller("alice").call("POST", APIRoute.notifications, json: request)
        try #require(sent.status == 201, "\(String(decoding: sent.body, as: UTF8.self))")
        return try sent.decoded(SendAnswer.self).id
    }
}
