import ClarionTesting
import Foundation
import RichPushModel
import Testing

@testable import DeviceSimulation

@Suite("An Android phone and a message", .timeLimit(.minutes(2)))
struct AndroidMessageTests {
    let fixture: AndroidFixture

    init() throws { fixture = try AndroidFixture() }

    @Test("registers as its user with the token of FCM, and nothing that only Apple has")
    func registration() async throws {
        try await fixture.signIn()
        let update = try #require(fixture.server.updates.last)
        #expect(update.platform == "fcmv1")
        #expect(update.handle == fixture.device.token)
        #expect(update.topic == nil)
        #expect(await fixture.phone.snapshot.user == "alice")
    }

    @Test("shows what the server has, with its picture and the button More")
    func shown() async throws {
        try await fixture.signInAndLeave()
        let bytes = fixture.store(7)
        #expect(try fixture.push(7) == 200)
        #expect(await fixture.answered())
        let notice = try #require(await fixture.notices.first)
        #expect(notice.title == "Title 7")
        #expect(notice.body == "Message 7")
        #expect(notice.actions.map(\.title) == ["More"])
        let picture = try #require(await fixture.phone.media(for: RichID(number: 7)!, attachmentOf: notice.id))
        #expect(try Data(contentsOf: picture.file) == bytes)
        #expect(await eventually { fixture.receipts(.delivered) == [7] && fixture.receipts(.fetched) == [7] })
    }

    @Test("shows a message that only wakes the app as well")
    func silent() async throws {
        try await fixture.signInAndLeave()
        fixture.store(7)
        try fixture.push(7, words: [:], android: ["priority": "NORMAL"])
        #expect(await fixture.answered())
        #expect(await fixture.notices.map(\.title) == ["Title 7"])
    }

    @Test("shows a notification over the app too")
    func inFront() async throws {
        try await fixture.signIn()
        fixture.store(7)
        try fixture.push(7)
        #expect(await fixture.answered())
        let snapshot = await fixture.phone.snapshot
        #expect(snapshot.banner?.richID == RichID(number: 7))
        #expect(snapshot.alert == nil)
        #expect(await eventually { await fixture.phone.snapshot.inbox.map(\.id.number) == [7] })
    }

    @Test("groups notifications by the thread of their messages")
    func thread() async throws {
        try await fixture.signInAndLeave()
        fixture.store(7)
        try fixture.push(7, words: ["body": "New", "thread": "news"])
        #expect(await fixture.answered())
        #expect(await fixture.notices.first?.thread == "news")
    }

    @Test("plays the sound and shows the number that the message names; without them it is silent and counts what is unread")
    func sound() async throws {
        try await fixture.signInAndLeave()
        for number in [7, 8] as [Int32] { fixture.store(number) }
        try fixture.push(7, words: ["body": "New", "sound": "chime", "badge": "5"])
        #expect(await fixture.answered())
        #expect(fixture.steps(.shown).compactMap { $0.detail["sound"] } == ["chime"])
        #expect(await fixture.phone.snapshot.badge == 5)
        try fixture.push(8)
        #expect(await fixture.answered(2))
        #expect(fixture.steps(.shown).compactMap { $0.detail["sound"] } == ["chime", "none"])
        #expect(await fixture.phone.snapshot.badge == 2)
    }

    @Test("plays the sound and shows the number of a plain text too")
    func plainSound() async throws {
        try await fixture.signInAndLeave()
        try fixture.send(["data": ["body": "Hello", "sound": "default", "badge": "4"]])
        #expect(await eventually { await fixture.notices.map(\.body) == ["Hello"] })
        #expect(fixture.steps(.shown).last?.detail["sound"] == "default")
        #expect(await fixture.phone.snapshot.badge == 4)
    }

    @Test("opens the content on a tap, from the lock screen too, and reports it", arguments: [false, true])
    func tap(isLocked: Bool) async throws {
        try await fixture.signInAndLeave()
        fixture.store(7)
        try fixture.push(7)
        #expect(await fixture.answered())
        if isLocked { try await fixture.phone.perform(.lock) }
        try await fixture.phone.perform(.tapNotification(id: try #require(await fixture.notices.first).id))
        let snapshot = await fixture.phone.snapshot
        #expect(snapshot.screen == .content)
        #expect(snapshot.content?.state == .ready)
        #expect(snapshot.content?.hasMedia == true)
        #expect(snapshot.notifications.isEmpty)
        #expect(await eventually { fixture.receipts(.opened) == [7] })
    }

    @Test("reports the button More, and a dismissal from a process that was not there")
    func actions() async throws {
        try await fixture.signInAndLeave()
        for number in [7, 8] as [Int32] {
            fixture.store(number)
            try fixture.push(number)
        }
        #expect(await fixture.answered(2))
        try await fixture.phone.perform(.endApp)
        try await fixture.phone.perform(.dismissNotification(id: "rich-8"))
        #expect(await eventually { fixture.receipts(.dismissed) == [8] })
        try await fixture.phone.perform(.moreNotification(id: "rich-7"))
        #expect(await fixture.phone.snapshot.content?.state == .ready)
        #expect(await eventually { fixture.server.receipts.contains { $0.kind == .action && $0.action == "richPushMore" } })
    }

    @Test("does not show what is marked for another user, and fetches nothing of it")
    func otherUser() async throws {
        try await fixture.signInAndLeave()
        fixture.store(7)
        try fixture.push(7, for: "bob")
        #expect(await fixture.answered())
        #expect(await fixture.notices.isEmpty)
        #expect(fixture.server.count("GET", "/details") == 0)
        #expect(fixture.steps(.held).contains { $0.title.contains("for another user") })
    }

    @Test("shows a message that came twice once")
    func duplicate() async throws {
        try await fixture.signInAndLeave()
        fixture.store(7)
        try fixture.push(7)
        try fixture.push(7)
        #expect(await fixture.answered(2))
        #expect(await fixture.notices.count == 1)
        #expect(fixture.steps(.shown).count { $0.detail["by"] == "the app" } == 1)
        #expect(fixture.steps(.delivered).count == 2)
        #expect(await fixture.reached(.held, "duplicate"))
    }

    @Test("does not show again what the user has dismissed")
    func dismissedDuplicate() async throws {
        try await fixture.signInAndLeave()
        fixture.store(7)
        try fixture.push(7)
        #expect(await fixture.answered())
        try await fixture.phone.perform(.clearNotifications)
        try fixture.push(7)
        #expect(await fixture.answered(2))
        #expect(await fixture.notices.isEmpty)
    }

    @Test("shows words and no picture when the content is not what the server promised")
    func corrupt() async throws {
        try await fixture.signInAndLeave()
        fixture.server.store(7, PhoneFixture.png(7), sha256: PhoneFixture.digest(PhoneFixture.png(8)))
        try fixture.push(7)
        #expect(await fixture.answered())
        let notice = try #require(await fixture.notices.first)
        #expect(notice.title == "Title 7")
        #expect(!notice.hasAttachment)
        #expect(await eventually { fixture.receipts(.failed) == [7] })
        #expect(fixture.receipts(.fetched).isEmpty)
    }

    @Test("shows the words of the message when the server is away")
    func away() async throws {
        try await fixture.signInAndLeave()
        fixture.server.setAway(true)
        try fixture.push(7, words: ["title": "Shop", "subtitle": "Today", "body": "New"])
        #expect(await fixture.answered())
        let notice = try #require(await fixture.notices.first)
        #expect(notice.title == "Shop")
        #expect(notice.subtitle == "Today")
        #expect(notice.body == "New")
        #expect(notice.actions.map(\.title) == ["More"])
    }

    @Test("shows a plain text to a user who is signed in, and to no other")
    func plain() async throws {
        await fixture.phone.start()
        try await fixture.phone.perform(.openApp)
        try await fixture.phone.perform(.setPermission(.granted))
        try fixture.send(["data": ["body": "Hello"]])
        #expect(await fixture.reached(.held, "No user is signed in"))
        #expect(await fixture.notices.isEmpty)
        try await fixture.phone.perform(.signIn(user: "alice", password: "alice"))
        try fixture.send(["data": ["body": "Hello"]])
        #expect(await eventually { await fixture.notices.map(\.body) == ["Hello"] })
    }

    @Test("passes over a message that says nothing")
    func nothing() async throws {
        try await fixture.signInAndLeave()
        try fixture.send(["data": ["other": "x"]])
        #expect(await fixture.reached(.held, "nothing to show"))
        #expect(await fixture.notices.isEmpty)
    }

    @Test("leaves a message with a notification to the system, and opens the app for it")
    func notification() async throws {
        try await fixture.signInAndLeave()
        try await fixture.phone.perform(.endApp)
        try fixture.send(["notification": ["title": "Shop", "body": "Sale"]])
        #expect(await eventually { await fixture.notices.map(\.title) == ["Shop"] })
        #expect(await fixture.phone.snapshot.process == .notRunning)
        try await fixture.phone.perform(.tapNotification(id: try #require(await fixture.notices.first).id))
        #expect(await fixture.reached(.opened))
        #expect(await fixture.phone.snapshot.process == .active)
        #expect(fixture.device.shownMessages.isEmpty)
    }

    @Test("shows nothing without permission, and the content stays in the inbox")
    func denied() async throws {
        try await fixture.signInAndLeave()
        try await fixture.phone.perform(.setPermission(.denied))
        fixture.store(7)
        try fixture.push(7)
        #expect(await fixture.answered())
        #expect(await fixture.notices.isEmpty)
        #expect(await eventually { await fixture.phone.snapshot.inbox.map(\.id.number) == [7] })
    }
}
