import ClarionTesting
@testable import DeviceSimulation
import Foundation
import RichPushModel
import Testing

@Suite("The rich push tutorial's story on the simulated phone")
struct SeedStoryTests {
    let fixture: PhoneFixture
    var phone: SimulatedPhone { fixture.phone }

    init() throws { fixture = try PhoneFixture() }

    @Test("signing in registers the phone and shows the main screen; a wrong password says so")
    func signIn() async throws {
        try await fixture.start()
        #expect(await phone.snapshot.screen == .home)
        try await phone.perform(.openApp)
        #expect(await phone.snapshot.screen == .signIn)
        try await phone.perform(.signIn(user: "alice", password: "wrong"))
        #expect(await phone.snapshot.signIn.error == "User name and password do not match.")
        try await phone.perform(.signIn(user: "alice", password: "alice"))
        let snapshot = await phone.snapshot
        #expect(snapshot.screen == .main)
        #expect(snapshot.user == "alice")
        #expect(snapshot.permission == .granted)
        #expect(snapshot.signIn == .init())
    }

    @Test("in the foreground a silent push asks OK / More, and More shows exactly the bytes of the server")
    func foreground() async throws {
        try await fixture.signIn()
        let bytes = fixture.store(7)
        await fixture.silent(7)
        #expect(await fixture.answered())
        let asked = await phone.snapshot
        let words = PhoneSnapshot.Alert(
            richID: RichID(number: 7)!, title: "Title 7", subtitle: "Subtitle 7", message: "Message 7")
        #expect(asked.alert == words)
        #expect(asked.notifications.isEmpty)
        try await phone.perform(.alertMore)
        let shown = await phone.snapshot
        #expect(shown.screen == .content)
        #expect(shown.alert == nil)
        #expect(shown.content?.state == .ready)
        #expect(shown.content?.subtitle == "Subtitle 7")
        let media = try #require(await phone.media(for: RichID(number: 7)!, attachmentOf: nil))
        #expect(try Data(contentsOf: media.file) == bytes)
        #expect(media.mediaType == "image/png")
    }

    @Test("a step that is recorded later keeps the moment at which it happened")
    func lateRecording() async throws {
        let moment = Timestamp(seconds: 5)
        phone.record(.apnsRequest, richID: nil, title: "recorded late", at: moment)
        #expect(phone.steps.last?.at == moment)
    }

    @Test("OK closes the question and opens nothing; the inbox has it")
    func ok() async throws {
        try await fixture.signIn()
        fixture.store(7)
        await fixture.silent(7)
        #expect(await fixture.answered())
        try await phone.perform(.alertOK)
        let snapshot = await phone.snapshot
        #expect(snapshot.alert == nil)
        #expect(snapshot.screen == .main)
        #expect(snapshot.inbox.map(\.downloaded) == [true])
        #expect(snapshot.unread == 1)
    }

    @Test("after Home a notification with the picture comes, and a tap opens it", arguments: [false, true])
    func background(isMore: Bool) async throws {
        try await fixture.signIn()
        let bytes = fixture.store(7)
        try await phone.perform(.home)
        await fixture.silent(7)
        #expect(await fixture.answered())
        let snapshot = await phone.snapshot
        #expect(snapshot.screen == .home)
        #expect(snapshot.badge == 1)
        let notice = try #require(snapshot.notifications.first)
        #expect(snapshot.banner == notice)
        #expect(notice.actions == [.init(id: "richPushMore", title: "More")])
        let attachment = try #require(await phone.media(for: RichID(number: 7)!, attachmentOf: notice.id))
        #expect(try Data(contentsOf: attachment.file) == bytes)
        try await phone.perform(isMore ? .moreNotification(id: notice.id) : .tapNotification(id: notice.id))
        let opened = await phone.snapshot
        #expect(opened.content?.state == .ready)
        #expect(opened.process == .active)
        #expect(opened.notifications.isEmpty)
        #expect(opened.badge == 0)
        #expect(await eventually { fixture.server.receipts.contains { $0.kind == .opened } })
    }

    @Test("a tap on the older of two notifications opens the older picture, also after a cold start and offline")
    func coldStart() async throws {
        try await fixture.signIn()
        let older = fixture.store(7)
        fixture.store(8)
        try await phone.perform(.home)
        await fixture.silent(7)
        #expect(await fixture.answered(1))
        await fixture.silent(8)
        #expect(await fixture.answered(2))
        let ids = await phone.snapshot.notifications.map(\.richID)
        #expect(ids == [RichID(number: 8), RichID(number: 7)])
        try await phone.perform(.terminate)
        #expect(await phone.snapshot.process == .forceQuit)
        try await phone.perform(.setNetwork(offline: true))
        try await phone.perform(.tapNotification(id: "rich-7"))
        #expect(await phone.snapshot.content?.state == .ready)
        let media = try #require(await phone.media(for: RichID(number: 7)!, attachmentOf: nil))
        #expect(try Data(contentsOf: media.file) == older)
    }

    @Test("the button Send push is the rich push tutorial's call without a body; a draft becomes JSON with uploaded content")
    func sends() async throws {
        let fixture = try PhoneFixture { configuration in
            configuration.samples[.image] = .init(data: Data([1]), mediaType: "image/png", altText: "Alt")
        }
        try await fixture.signIn()
        try await fixture.phone.perform(.sendPush(.init()))
        try await fixture.phone.perform(.sendPush(.init(style: .alert, message: "Hi")))
        let posts = fixture.server.state.withLockedValue { $0.requests.filter { $0.method == "POST" } }
            .filter { $0.url.path == APIRoute.notifications }
        #expect(posts.map { $0.body == nil } == [true, false])
        let request = try JSONDecoder().decode(SendRequest.self, from: try #require(posts.last?.body))
        #expect(request.contentID == "content-1")
        #expect(request.style == .alert)
        #expect(await fixture.phone.snapshot.sending == .init())
        #expect(fixture.steps(.send).count == 2)
    }

    @Test("signing out leaves nothing on the phone but the installation's name and a digest")
    func signOut() async throws {
        try await fixture.signIn()
        fixture.store(7)
        try await phone.perform(.home)
        await fixture.silent(7)
        #expect(await fixture.answered())
        try await phone.perform(.openApp)
        try await phone.perform(.signOut)
        let snapshot = await phone.snapshot
        #expect(snapshot.screen == .signIn)
        #expect(snapshot.user == nil)
        #expect(snapshot.notifications.isEmpty)
        #expect(snapshot.inbox.isEmpty)
        #expect(snapshot.badge == 0)
        let files = FileManager.default.enumerator(at: fixture.folder, includingPropertiesForKeys: [.isRegularFileKey])
        let left = (files?.allObjects as? [URL] ?? []).filter { url in
            (try? url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true
        }
        #expect(Set(left.map(\.lastPathComponent)) == ["installation-id", "served-user", "system.json"])
        #expect(snapshot.undelivered == nil)
    }

    @Test(
        "a sign-in without the previous user's sign-out clears their screen, also when it fails",
        arguments: [false, true])
    func nextUser(offline: Bool) async throws {
        try await fixture.signIn()
        fixture.store(7)
        // A question over an open content.
        await fixture.alert(7)
        let isAsked = await eventually {
            let now = await self.phone.snapshot
            return now.alert?.richID == RichID(number: 7) && now.inbox.contains { $0.id == RichID(number: 7) }
        }
        #expect(isAsked)
        try await phone.perform(.openInbox(RichID(number: 7)!))
        let before = await phone.snapshot
        #expect(before.content != nil)
        #expect(before.alert != nil)
        try await phone.perform(.setNetwork(offline: offline))
        try await phone.perform(.signIn(user: "bob", password: "bob"))
        let snapshot = await phone.snapshot
        #expect(snapshot.content == nil)
        #expect(snapshot.alert == nil)
        #expect(snapshot.user == (offline ? nil : "bob"))
        #expect(snapshot.screen == (offline ? .signIn : .main))
    }

    @Test("signing out reports what the server did not get, to the user and in the story, until the next sign-in")
    func lostAnswer() async throws {
        let fixture = try PhoneFixture { $0.app.offersReply = true }
        let phone = fixture.phone
        try await fixture.signIn()
        fixture.store(7)
        try await phone.perform(.home)
        await fixture.alert(7)
        #expect(await fixture.reached(.shown))
        try await phone.perform(.setNetwork(offline: true))
        let notice = try #require(await phone.snapshot.notifications.first)
        try await phone.perform(.replyNotification(id: notice.id, text: "On my way"))
        try await phone.perform(.openApp)
        try await phone.perform(.signOut)
        let words = try #require(await phone.snapshot.undelivered)
        #expect(words.hasPrefix("An answer of yours did not reach the server. It is gone from this phone."))
        let step = try #require(fixture.steps(.failed).last { $0.detail["replies"] != nil })
        #expect(step.detail["replies"] == "1")
        #expect(!words.contains("On my way"))
        let all = FileManager.default.enumerator(at: fixture.folder, includingPropertiesForKeys: nil)
        let left = (all?.allObjects as? [URL] ?? []).compactMap { try? Data(contentsOf: $0) }
        #expect(left.allSatisfy { $0.range(of: Data("On my way".utf8)) == nil })
        try await phone.perform(.setNetwork(offline: false))
        try await phone.perform(.signIn(user: "alice", password: "alice"))
        #expect(await phone.snapshot.undelivered == nil)
        #expect(fixture.server.count("POST", "/replies") == 0)
    }
}
