import ClarionTesting
import DeviceSimulation
import Foundation
import RichPushModel
import Testing

@Suite("The simulated phone itself")
struct PhoneStateTests {
    let fixture: PhoneFixture
    var phone: SimulatedPhone { fixture.phone }

    init() throws { fixture = try PhoneFixture() }

    @Test("locked, it hides what notifications say if the user wants that; a tap unlocks it")
    func lock() async throws {
        try await fixture.signIn()
        try await phone.perform(.setPreviews(whenUnlocked: true))
        try await phone.perform(.lock)
        #expect(await phone.snapshot.screen == .lock)
        fixture.store(7)
        await fixture.alert(7)
        #expect(await fixture.reached(.shown))
        let hidden = try #require(await phone.snapshot.notifications.first)
        #expect(hidden.previewHidden)
        #expect(!hidden.body.contains("Message"))
        #expect(hidden.actions.isEmpty)
        #expect(await phone.media(for: RichID(number: 7)!, attachmentOf: hidden.id) == nil)
        #expect(await phone.snapshot.banner == nil)
        await #expect(throws: PhoneActionError.self) { try await phone.perform(.openApp) }
        try await phone.perform(.tapNotification(id: hidden.id))
        #expect(await phone.snapshot.content?.state == .ready)
        #expect(await phone.snapshot.locked == false)
    }

    @Test("unlocked, it shows what was in front before")
    func unlock() async throws {
        try await fixture.signIn()
        try await phone.perform(.lock)
        #expect(await phone.snapshot.process == .background)
        try await phone.perform(.unlock)
        #expect(await phone.snapshot.screen == .main)
        #expect(await phone.snapshot.process == .active)
    }

    @Test("says when there is nothing to touch, and stays as it is")
    func notPossible() async throws {
        try await fixture.start()
        let before = await phone.snapshot
        let actions: [PhoneAction] = [
            .tapNotification(id: "x"), .moreNotification(id: "x"), .dismissNotification(id: "x"), .alertOK, .alertMore,
            .signIn(user: "a", password: "a"), .signOut, .sendPush(.init()), .refreshInbox, .openInbox(RichID(number: 1)!),
            .openLink,
        ]
        for action in actions { await #expect(throws: PhoneActionError.self) { try await phone.perform(action) } }
        #expect(await phone.snapshot == before)
    }

    @Test("a dismissal is reported by the app in the background")
    func dismiss() async throws {
        try await fixture.signIn()
        try await phone.perform(.home)
        fixture.store(7)
        await fixture.alert(7)
        #expect(await fixture.reached(.shown))
        let id = try #require(await phone.snapshot.notifications.first?.id)
        try await phone.perform(.dismissNotification(id: id))
        #expect(await phone.snapshot.notifications.isEmpty)
        #expect(await eventually { fixture.server.receipts.contains { $0.kind == .dismissed } })
        #expect(await phone.snapshot.screen == .home)
    }

    @Test("a banner goes away by itself")
    func banner() async throws {
        try await fixture.signIn()
        try await phone.perform(.home)
        fixture.store(7)
        await fixture.alert(7)
        #expect(await fixture.reached(.shown))
        #expect(await phone.snapshot.banner != nil)
        let clock = fixture.clock
        #expect(await eventually { clock.hasSleeper(dueIn: .seconds(6)) })
        clock.advance(by: .seconds(6))
        #expect(await eventually { await phone.snapshot.banner == nil })
        #expect(await phone.snapshot.notifications.count == 1)
    }

    @Test("opening from the inbox without a network says that it is not downloaded yet")
    func notDownloaded() async throws {
        try await fixture.signIn()
        fixture.store(7)
        try await phone.perform(.refreshInbox)
        try await phone.perform(.setNetwork(offline: true))
        try await phone.perform(.openInbox(RichID(number: 7)!))
        let content = try #require(await phone.snapshot.content)
        #expect(content.state == .missing)
        #expect(content.message == "Message 7")
        #expect(content.error != nil)
        try await phone.perform(.closeContent)
        #expect(await phone.snapshot.screen == .main)
    }

    @Test("every subscriber gets the same ordered story, beginning with a snapshot of the phone")
    func subscribers() async throws {
        try await fixture.start()
        let streams = [phone.updates(), phone.updates()]
        phone.record(.accepted, richID: RichID(number: 7), title: "One")
        phone.record(.apnsRequest, richID: RichID(number: 7), title: "Two", detail: ["status": "200"])
        await phone.stop()
        for stream in streams {
            var steps: [StoryStep] = []
            var hasSnapshot = false
            for await update in stream {
                switch update {
                case .snapshot: hasSnapshot = true
                case .story(let step): steps.append(step)
                }
            }
            #expect(hasSnapshot)
            #expect(steps.map(\.title) == ["One", "Two"])
            #expect(steps.map(\.sequence) == [1, 2])
        }
    }

    @Test("a subscriber that does not listen costs a bounded buffer")
    func slowSubscriber() async throws {
        let stream = phone.updates()
        for number in 1...2_000 { phone.record(.accepted, richID: nil, title: "\(number)") }
        #expect(phone.steps.count == 500)
        await phone.stop()
        var count = 0
        for await _ in stream { count += 1 }
        #expect(count <= 256)
    }
}
