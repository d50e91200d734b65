import ClarionTesting
import DeviceSimulation
import Foundation
import RichPushModel
import Testing

@Suite("What the simulated system does with a push")
struct DeliveryMatrixTests {
    let fixture: PhoneFixture
    var phone: SimulatedPhone { fixture.phone }

    init() throws { fixture = try PhoneFixture() }

    private func suspended() async throws {
        try await fixture.signIn()
        try await phone.perform(.home)
        #expect(await phone.snapshot.process == .background)
        let clock = fixture.clock
        for _ in 0..<3 where await phone.snapshot.process != .suspended {
            #expect(await eventually { clock.hasSleeper(dueIn: .seconds(5)) })
            clock.advance(by: .seconds(5))
            _ = await eventually { await phone.snapshot.process == .suspended }
        }
        #expect(await phone.snapshot.process == .suspended)
    }

    @Test(
        "an alert is enriched by the service extension in every state of the app",
        arguments: [PhoneSnapshot.ProcessState.background, .suspended, .forceQuit])
    func alertAlways(state: PhoneSnapshot.ProcessState) async throws {
        state == .suspended ? try await suspended() : try await fixture.signIn()
        let bytes = fixture.store(7)
        if state == .background { try await phone.perform(.home) }
        if state == .forceQuit { try await phone.perform(.terminate) }
        await fixture.alert(7)
        #expect(await fixture.reached(.shown))
        let notice = try #require(await phone.snapshot.notifications.first)
        #expect(notice.title == "Title 7")
        #expect(notice.body == "Message 7")
        #expect(notice.altText == "Alt")
        #expect(notice.thread == "t")
        let media = try #require(await phone.media(for: RichID(number: 7)!, attachmentOf: notice.id))
        #expect(try Data(contentsOf: media.file) == bytes)
        #expect(await phone.snapshot.process == state)
    }

    @Test("an alert that also wakes the app is shown once")
    func both() async throws {
        try await suspended()
        fixture.store(7)
        await fixture.alert(7, wakes: true)
        #expect(await fixture.answered())
        #expect(await phone.snapshot.notifications.count == 1)
        #expect(fixture.server.count("GET", "/notifications/7") == 1)
    }

    @Test("a silent push wakes a suspended app and an app that never ran, but not one that the user removed")
    func silent() async throws {
        try await suspended()
        fixture.store(7)
        await fixture.silent(7)
        #expect(await fixture.answered())
        #expect(await phone.snapshot.notifications.count == 1)
        try await phone.perform(.terminate)
        fixture.store(8)
        await fixture.silent(8)
        #expect(await fixture.reached(.held))
        #expect(await phone.snapshot.notifications.count == 1)
    }

    @Test("an app that never ran since the phone started is launched in the background, with its session")
    func afterRestart() async throws {
        try await fixture.signIn()
        await phone.stop()
        let restarted = try fixture.restarted()
        await restarted.start()
        #expect(await eventually { await fixture.service.isConnected })
        fixture.store(7)
        await fixture.silent(7)
        #expect(await eventually { await restarted.snapshot.notifications.count == 1 })
        #expect(await restarted.snapshot.notifications.first?.actions.map(\.title) == ["More"])
        await restarted.stop()
    }

    @Test("with background refresh off the newest silent push is held and comes when the user opens the app")
    func held() async throws {
        try await suspended()
        try await phone.perform(.setBackgroundRefresh(on: false))
        for number: Int32 in [7, 8] {
            fixture.store(number)
            await fixture.silent(number)
        }
        #expect(await fixture.reached(.held, 2))
        #expect(await phone.snapshot.notifications.isEmpty)
        try await phone.perform(.openApp)
        #expect(await fixture.answered())
        #expect(await phone.snapshot.alert?.richID == RichID(number: 8))
        #expect(await phone.snapshot.inbox.map(\.id) == [RichID(number: 8)!, RichID(number: 7)!])
    }

    @Test("more silent pushes in an hour than the system allows are held")
    func budget() async throws {
        var budget = try PhoneFixture { $0.backgroundWakesPerHour = 1 }
        budget = try PhoneFixture { $0.backgroundWakesPerHour = 0 }
        try await budget.signIn()
        try await budget.phone.perform(.terminate)
        try await budget.phone.perform(.openApp)
        try await budget.phone.perform(.home)
        let clock = budget.clock
        let phone = budget.phone
        #expect(await eventually { clock.hasSleeper(dueIn: .seconds(5)) })
        clock.advance(by: .seconds(5))
        #expect(await eventually { await phone.snapshot.process == .suspended })
        await budget.silent(7)
        #expect(await budget.reached(.held))
    }

    @Test("while offline nothing comes; online again, the inbox has all although only the newest push was kept")
    func offline() async throws {
        try await fixture.signIn()
        try await phone.perform(.setNetwork(offline: true))
        #expect(await phone.snapshot.network == .offline)
        for number: Int32 in [7, 8] {
            fixture.store(number)
            await fixture.alert(number)
        }
        try await phone.perform(.setNetwork(offline: false))
        #expect(await fixture.reached(.shown))
        #expect(fixture.steps(.delivered).map(\.richID) == [RichID(number: 8)])
        try await phone.perform(.refreshInbox)
        #expect(await phone.snapshot.inbox.map(\.id) == [RichID(number: 8)!, RichID(number: 7)!])
    }

    @Test("an alert in the foreground goes to the list and the app asks OK / More, once")
    func alertInForeground() async throws {
        try await fixture.signIn()
        fixture.store(7)
        await fixture.alert(7)
        #expect(await fixture.reached(.shown, 2))
        let snapshot = await phone.snapshot
        #expect(snapshot.banner == nil)
        #expect(snapshot.notifications.count == 1)
        #expect(snapshot.alert?.richID == RichID(number: 7))
        try await phone.perform(.alertMore)
        #expect(await phone.snapshot.notifications.isEmpty)
    }

    @Test("without permission nothing is shown, and the inbox still has it")
    func denied() async throws {
        try await fixture.signIn()
        try await phone.perform(.setPermission(.denied))
        try await phone.perform(.home)
        fixture.store(7)
        await fixture.alert(7)
        #expect(await fixture.reached(.held))
        #expect(await phone.snapshot.notifications.isEmpty)
        try await phone.perform(.openApp)
        #expect(await phone.snapshot.inbox.count == 1)
        #expect(await phone.snapshot.badge == 0)
    }

    @Test("the same collapse id replaces what is shown")
    func collapse() async throws {
        try await fixture.signIn()
        try await phone.perform(.home)
        for number: Int32 in [7, 8] {
            fixture.store(number)
            await fixture.alert(number, collapseID: "c")
            #expect(await fixture.reached(.shown, Int(number) - 6))
        }
        #expect(await phone.snapshot.notifications.map(\.body) == ["Message 8"])
        let files = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.appendingPathComponent("system").path)
        #expect(files.count == 1)
    }

    @Test("a push for another app is not shown")
    func otherTopic() async throws {
        try await fixture.signIn()
        await fixture.service.push(#"{"aps":{"alert":"x"}}"#, type: "alert", topic: "org.example.other")
        #expect(await fixture.reached(.held))
        #expect(await phone.snapshot.notifications.isEmpty)
    }
}
