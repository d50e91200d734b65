import DeviceSimulation
import Foundation
import RichPushModel
import Testing

@testable import LabServices

/// The rich push tutorial's story with the real parts.
struct SeedStoryTests {
    @Test("in the foreground the push asks OK / More, and More shows the very bytes that the server holds")
    func foreground() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            try await stage.phone(1).perform(.sendPush(.init()))
            let asked = try await stage.wait(for: "the alert", on: 1) { $0.alert != nil }
            #expect(asked.alert?.message == "Check this image out!")
            try await stage.phone(1).perform(.alertMore)
            let shown = try await stage.wait(for: "the picture", on: 1) { $0.content?.state == .ready }
            let id = try #require(shown.content?.richID)
            let served = try await stage.caller("alice").call("GET", APIRoute.notification(id))
            let media = try #require(await stage.phone(1).media(for: id, attachmentOf: nil))
            #expect(served.status == 200 && served.headers["content-type"] == "image/png")
            #expect(try Data(contentsOf: media.file) == served.body)
        }
    }

    @Test("on the home screen the push becomes a notification with More, which opens the picture")
    func background() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            try await stage.phone(1).perform(.home)
            let answer = try await stage.caller("alice").call("POST", "/api/notifications", body: nil, headers: [:])
            #expect(answer.status == 200)
            let home = try await stage.wait(for: "the notification", on: 1) { !$0.notifications.isEmpty }
            let notice = try #require(home.notifications.first)
            #expect(notice.actions.map(\.title) == ["More", "Reply"])
            try await stage.phone(1).perform(.moreNotification(id: notice.id))
            try await stage.wait(for: "the picture", on: 1) { $0.screen == .content && $0.content?.state == .ready }
        }
    }

    @Test("the picture that a sender posted is the picture that the phone shows, byte for byte, and none of it went through APNs")
    func postedBytes() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            try await stage.phone(1).perform(.home)
            let picture = Picture.random(side: 64)
            let id = try await stage.caller("alice").send(picture, message: "Made for this test")
            let home = try await stage.wait(for: "the notification", on: 1) { !$0.notifications.isEmpty }
            try await stage.phone(1).perform(.tapNotification(id: try #require(home.notifications.first).id))
            try await stage.wait(for: "the picture", on: 1) { $0.content?.richID == id && $0.content?.state == .ready }
            let media = try #require(await stage.phone(1).media(for: id, attachmentOf: nil))
            #expect(try Data(contentsOf: media.file) == picture)
            let pushed = stage.demo.apns.recordedExchanges.map { Data($0.payload) }
            #expect(!pushed.isEmpty)
            #expect(pushed.allSatisfy { $0.range(of: Data("Made for this test".utf8)) == nil })
        }
    }

    @Test("a push to alice reaches each of her two phones and none of bob's, and bob gets 404 for its content")
    func onlyAlice() async throws {
        try await Stage.open(phones: 3) { stage in
            try await stage.signIn("alice", on: 1)
            try await stage.signIn("alice", on: 2)
            try await stage.signIn("bob", on: 3)
            for number in 1...3 { try await stage.phone(number).perform(.home) }
            var request = SendRequest(message: "For alice alone")
            request.audience = "username:alice"
            let answer = try await stage.caller("carol").call("POST", APIRoute.notifications, json: request)
            let id = try answer.decoded(SendAnswer.self).id
            for number in 1...2 {
                try await stage.wait(for: "alice's phone \(number)", on: number) { $0.notifications.contains { $0.richID == id } }
            }
            let counts = (1...3).map { number in
                stage.demo.apns.requests(
                    for: stage.demo.apns.issueToken(device: String(number), topic: "org.clarion.demo")
                ).accepted
            }
            #expect(counts == [1, 1, 0])
            #expect(await stage.phone(3).snapshot.notifications.isEmpty)
            for path in [APIRoute.notification(id), APIRoute.details(id)] {
                #expect(try await stage.caller("bob").call("GET", path).status == 404)
                #expect(try await stage.caller("alice").call("GET", APIRoute.details(id)).status == 200)
            }
        }
    }

    @Test("of two pushes to a phone that is offline APNs keeps the newest, and the inbox has both after its return")
    func offline() async throws {
        try await Stage.open { stage in
            try await stage.signIn("alice", on: 1)
            try await stage.phone(1).perform(.home)
            try await stage.phone(1).perform(.setNetwork(offline: true))
            for _ in 1...2 {
                let answer = try await stage.caller("alice").call("POST", "/api/notifications", body: nil, headers: [:])
                #expect(answer.status == 200)
            }
            _ = try await eventually("APNs took both") {
                stage.demo.apns.recordedExchanges.count { $0.answer?.status == 200 } == 2 ? true : nil
            }
            try await stage.phone(1).perform(.setNetwork(offline: false))
            try await stage.wait(for: "the newest push", on: 1) { $0.notifications.count == 1 }
            try await stage.phone(1).perform(.openApp)
            try await stage.phone(1).perform(.refreshInbox)
            let back = try await stage.wait(for: "both in the inbox", on: 1) { $0.inbox.count == 2 }
            #expect(Set(back.inbox.map(\.id)).count == 2)
        }
    }
}
