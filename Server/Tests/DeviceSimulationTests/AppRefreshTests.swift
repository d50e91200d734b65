import ClarionTesting
import Foundation
import RichPushModel
import Testing

@testable import DeviceSimulation

/// The app that is run now and then without its user, on the phone's clock.
@Suite struct AppRefreshTests {
    private static let pause: Duration = .seconds(4 * 3600)
    let fixture: PhoneFixture

    init() throws { fixture = try PhoneFixture { $0.app.refreshTask = "org.example.refresh" } }

    private var phone: SimulatedPhone { fixture.phone }

    private func ended(_ count: Int = 1) async -> Bool {
        let phone = phone
        return await eventually { phone.steps.count { $0.detail["refreshed"] == "yes" } == count }
    }

    /// Advances the clock by `duration` once a task sleeps for it.
    private func pass(_ duration: Duration) async {
        let clock = fixture.clock
        #expect(await eventually { clock.hasSleeper(dueIn: duration) })
        clock.advance(by: duration)
    }

    @Test("sends what waited and reads the inbox in the background, and again after the next pause")
    func runs() async throws {
        try await fixture.signIn()
        try await phone.perform(.home)
        try await phone.perform(.setConnection(.offline))
        fixture.store(7)
        await phone.receive(
            IncomingPush(
                payload: Data(#"{"aps":{"content-available":1},"richId":"7","richType":"img"}"#.utf8), pushType: "background",
                apnsID: "a", collapseID: nil, topic: FakePushService.topic))
        try await phone.perform(.setConnection(.online))
        try await phone.happen(.idle)
        #expect(fixture.server.receipts.isEmpty)
        await pass(Self.pause)
        #expect(await ended())
        #expect(fixture.server.receipts.map(\.kind).contains(.delivered))
        let phone = phone
        // The inbox is read once more when the app has answered.
        #expect(
            await eventually {
                let inbox = await phone.snapshot.inbox.map(\.id)
                let isQuiet = await phone.isQuiet
                return isQuiet && inbox == [RichID(number: 7)!]
            })
        await pass(Self.pause)
        #expect(await ended(2))
    }

    @Test("waits while low power is on, and comes a quarter of an hour later when it is off")
    func held() async throws {
        try await fixture.signIn()
        try await phone.perform(.home)
        try await phone.happen(.idle)
        try await phone.perform(.setLowPower(on: true))
        let before = fixture.server.count("GET", "/notifications")
        await pass(Self.pause)
        #expect(await fixture.reached(.held))
        #expect(fixture.server.count("GET", "/notifications") == before)
        try await phone.perform(.setLowPower(on: false))
        await pass(.seconds(900))
        #expect(await ended())
    }

    @Test("does not come to an app that the user force-quit")
    func forceQuit() async throws {
        try await fixture.signIn()
        try await phone.perform(.terminate)
        await pass(Self.pause)
        let phone = phone
        #expect(await eventually { phone.steps.contains { $0.title.hasPrefix("The app's refresh: Dropped") } })
        #expect(await phone.snapshot.process == .forceQuit)
    }
}
