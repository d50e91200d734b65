import DeviceSimulation
import Foundation
import RichPushModel
import ServiceErrors
import SimulatedPhonePage
import Testing

@testable import LabServices

/// The tools beside the phones of a demo, on real parts.
struct PhoneToolsTests {
    private func faults(_ stage: Stage, apns: PhoneFaults.APNs = .none, backend: PhoneFaults.Backend = .none) async throws {
        try await stage.demo.tools.set(PhoneFaults(apns: apns, backend: backend), of: "1")
    }

    @Test("a push by hand reaches the phone it is for, and its story says when it was sent, asked for, delivered and shown")
    func push() async throws {
        try await Stage.open(phones: 2) { stage in
            for number in 1...2 { try await stage.signIn("alice", on: number) }
            for number in 1...2 { try await stage.phone(number).perform(.home) }
            let push = HandPush(priority: 10, payload: #"{"aps":{"alert":{"title":"Harbour","body":"The ferry leaves."}}}"#)
            let answer = try await stage.demo.tools.send(push, to: "1")
            #expect(answer.status == 200)
            #expect(answer.reason == nil)
            try await stage.wait(for: "the notification", on: 1) { $0.notifications.first?.title == "Harbour" }
            let phone = stage.phone(1)
            _ = try await eventually("the story has all five") {
                let steps = phone.steps.filter { $0.push == answer.apnsId }.map(\.step)
                return [.send, .apnsRequest, .apnsAnswer, .delivered, .shown].allSatisfy(steps.contains) ? true : nil
            }
            #expect(await stage.phone(2).snapshot.notifications.isEmpty)
            #expect(!stage.phone(2).steps.contains { $0.push == answer.apnsId })
        }
    }

    @Test(
        "what APNs refuses comes back with its reason",
        arguments: [
            (HandPush(pushType: "background", priority: 10, payload: #"{"aps":{"content-available":1}}"#), 400, "BadPriority"),
            (HandPush(priority: 7, payload: "{}"), 400, "BadPriority"),
            (HandPush(topic: "org.example.other", payload: "{}"), 400, "DeviceTokenNotForTopic"),
            (HandPush(payload: ""), 400, "PayloadEmpty"),
            (HandPush(payload: String(repeating: "x", count: 4_097)), 413, "PayloadTooLarge"),
            (HandPush(pushType: "alarm", payload: "{}"), 400, "InvalidPushType"),
            (HandPush(expiration: -1, payload: "{}"), 400, "BadExpirationDate"),
        ])
    func refused(push: HandPush, status: Int, reason: String) async throws {
        try await Stage.open { stage in
            let answer = try await stage.demo.tools.send(push, to: "1")
            #expect(answer.status == status)
            // Another app's topic is refused because of the key, before the token is checked.
            #expect(answer.reason == reason || (reason == "DeviceTokenNotForTopic" && answer.reason == "TopicDisallowed"))
        }
    }

    @Test("faults of APNs affect the phone they are for until they are removed, and no other")
    func apnsFaults() async throws {
        try await Stage.open(phones: 2) { stage in
            let push = HandPush(payload: #"{"aps":{"alert":"a"}}"#)
            for (fault, status) in [(PhoneFaults.APNs.unavailable, 503), (.tooManyRequests, 429)] {
                try await faults(stage, apns: fault)
                for _ in 1...2 { #expect(try await stage.demo.tools.send(push, to: "1").status == status) }
                #expect(try await stage.demo.tools.send(push, to: "2").status == 200)
            }
            try await faults(stage, apns: .drop)
            #expect(try await stage.demo.tools.send(push, to: "1").status == nil)
            try await faults(stage)
            #expect(try await stage.demo.tools.send(push, to: "1").status == 200)
        }
    }

    @Test(
        "a fault of the backend keeps the content away but not the text, until it is removed",
        arguments: [PhoneFaults.Backend.gone, .failing, .damaged, .oversized, .disguised])
    func backendFaults(fault: PhoneFaults.Backend) async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            try await stage.phone(1).perform(.home)
            try await faults(stage, backend: fault)
            let id = try await stage.caller("alice").send(Picture.random(side: 32), message: "Words stay")
            let shown = try await stage.wait(for: "the notification", on: 1) { !$0.notifications.isEmpty }
            #expect(shown.notifications.first?.hasAttachment == false)
            #expect(await stage.phone(1).media(for: id, attachmentOf: nil) == nil)
            try await faults(stage)
            try await stage.phone(1).perform(.openApp)
            try await stage.phone(1).perform(.openInbox(id))
            try await stage.wait(for: "the picture", on: 1) { $0.content?.richID == id && $0.content?.state == .ready }
        }
    }

    @Test("a phone that gets 401 shows the push's own text, and its app asks for the password until that is removed")
    func unauthorized() async throws {
        try await Stage.open { stage in
            let phone = stage.phone(1)
            try await stage.signIn("alice", on: 1)
            try await phone.perform(.home)
            try await faults(stage, backend: .unauthorized)
            _ = try await stage.caller("alice").send(Picture.random(side: 32), message: "Words stay")
            let shown = try await stage.wait(for: "the notification", on: 1) { !$0.notifications.isEmpty }
            #expect(shown.notifications.first?.hasAttachment == false)
            try await phone.perform(.openApp)
            try await stage.wait(for: "the sign-in screen", on: 1) { $0.screen == .signIn }
            try await phone.perform(.signIn(user: "alice", password: "alice"))
            #expect(await phone.snapshot.signIn.error == "User name and password do not match.")
            try await faults(stage)
            try await phone.perform(.signIn(user: "alice", password: "alice"))
            let inbox = try await stage.wait(for: "the inbox", on: 1) { $0.screen == .main && !$0.inbox.isEmpty }
            #expect(inbox.user == "alice")
            #expect(inbox.signIn.error == nil)
        }
    }

    @Test("the story of a push to a phone that is offline says that APNs keeps it, and what became of it")
    func away() async throws {
        try await Stage.open { stage in
            let phone = stage.phone(1)
            try await stage.signIn("alice", on: 1)
            try await phone.perform(.setNetwork(offline: true))
            var sent: [String] = []
            for expiration in [nil, 0, nil] as [Int64?] {
                let push = HandPush(expiration: expiration, payload: #"{"aps":{"alert":"a"}}"#)
                sent.append(try await stage.demo.tools.send(push, to: "1").apnsId)
            }
            let ids = sent
            func titles(_ id: String) -> [String] {
                phone.steps.filter { $0.push == id && ($0.step == .stored || $0.step == .held) }.map(\.title)
            }
            let kept = "APNs keeps it until the phone is back"
            _ = try await eventually("the outcomes are shown") { titles(ids[2]) == [kept] ? true : nil }
            #expect(titles(ids[0]).count == 2 && titles(ids[0]).first == kept)
            #expect(titles(ids[0]).last?.hasPrefix("A newer push replaced it") == true)
            #expect(titles(ids[1]).count == 1 && titles(ids[1]).first?.contains("to be tried once only") == true)
            try await phone.perform(.setNetwork(offline: false))
            _ = try await eventually("the newest arrives") {
                phone.steps.contains { $0.push == ids[2] && $0.step == .shown } ? true : nil
            }
        }
    }

    @Test("a retired token is answered 410, and the phone has another one after its next start")
    func retired() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            let before = try await stage.demo.tools.target(of: "1").deviceToken
            try await stage.demo.tools.retireToken(of: "1")
            _ = try await stage.caller("alice").call("POST", "/api/notifications", body: nil, headers: [:])
            _ = try await eventually("APNs says 410") {
                stage.phone(1).steps.contains { $0.step == .apnsAnswer && $0.detail["status"] == "410" } ? true : nil
            }
            let after = try await stage.demo.tools.target(of: "1").deviceToken
            #expect(after != before)
            try await stage.phone(1).perform(.terminate)
            try await stage.phone(1).perform(.openApp)
            _ = try await eventually("the new token is registered") {
                try await stage.demo.node.hub.devices(withToken: after).isEmpty ? nil : true
            }
        }
    }

    @Test("what is sealed beside the phones opens on the phones of those it is for, and the server has none of its text")
    func sealed() async throws {
        try await Stage.open(phones: 2) { stage in
            try await stage.signIn("bob", on: 1)
            try await stage.signIn("carol", on: 2)
            try await stage.phone(1).perform(.home)
            var draft = SealedDraft(sender: "alice", users: ["bob", "dave"], kind: .image, message: "For bob alone")
            draft.content = Picture.random(side: 16)
            draft.fileName = "picture.gif"
            let sent = try await stage.demo.tools.send(draft)
            let id = sent.answer.id
            #expect(sent.warnings == ["dave is not signed in with an app that opens sealed content"])
            let home = try await stage.wait(for: "the notification", on: 1) { !$0.notifications.isEmpty }
            #expect(home.notifications.first?.body == "For bob alone")
            try await stage.phone(1).perform(.openApp)
            try await stage.phone(1).perform(.openInbox(id))
            let opened = try await stage.wait(for: "the picture", on: 1) { $0.content?.state == .ready }
            #expect(opened.content?.sealed == true)
            let media = try #require(await stage.phone(1).media(for: id, attachmentOf: nil))
            #expect(try Data(contentsOf: media.file) == draft.content)
            let stored = try await stage.caller("alice").call("GET", APIRoute.details(id))
            #expect(stored.status == 200)
            #expect(stored.body.range(of: Data("For bob alone".utf8)) == nil)
            #expect(await stage.phone(2).snapshot.notifications.isEmpty)
        }
    }

    @Test("a sealed message without recipients is refused with the reason, and so is an invalid name")
    func sealedWithoutRecipients() async throws {
        try await Stage.open { stage in
            for (users, words) in [
                (["dave"], "no key to seal for"), ([], "name at least one user"), (["d ave"], "'d ave' is not a user name"),
            ] {
                let draft = SealedDraft(sender: "alice", users: users, kind: .text, message: "For nobody")
                let error = await #expect(throws: ServiceError.self) { try await stage.demo.tools.send(draft) }
                #expect(error?.detail?.contains(words) == true, "\(error?.detail ?? "none")")
            }
        }
    }

    @Test("a reply in a notification reaches its sender")
    func reply() async throws {
        try await Stage.open(phones: 2) { stage in
            try await stage.signIn("alice", on: 1)
            try await stage.signIn("bob", on: 2)
            for number in 1...2 { try await stage.phone(number).perform(.home) }
            var request = SendRequest(message: "Are you coming?")
            request.audience = "username:alice"
            let sent = try await stage.caller("bob").call("POST", APIRoute.notifications, json: request)
            #expect(sent.status == 201)
            let home = try await stage.wait(for: "the question", on: 1) { !$0.notifications.isEmpty }
            let notice = try #require(home.notifications.first)
            await #expect(throws: PhoneActionError.self) {
                try await stage.phone(1).perform(.replyNotification(id: notice.id, text: "  "))
            }
            try await stage.phone(1).perform(.replyNotification(id: notice.id, text: "On my way"))
            try await stage.wait(for: "the answer", on: 2) { $0.notifications.contains { $0.body == "On my way" } }
            #expect(await stage.phone(1).snapshot.notifications.isEmpty)
        }
    }
}
