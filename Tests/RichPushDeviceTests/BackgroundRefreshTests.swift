import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("A refresh in the background")
struct BackgroundRefreshTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    private func launch() async throws -> RichPushEngine {
        var configuration = try TestDevice.configuration()
        configuration.refreshTask = "org.example.refresh"
        return try await device.launch(configuration)
    }

    @Test("is asked for at every launch and at every run, and by an app without one never")
    func scheduled() async throws {
        _ = try await device.signedIn()
        #expect(await device.scheduling.pauses.isEmpty)
        let engine = try await launch()
        #expect(await device.scheduling.pauses == [.seconds(4 * 3600)])
        _ = await engine.handleBackgroundRefresh(budget: .seconds(25))
        #expect(await device.scheduling.pauses.count == 2)
    }

    @Test("sends what waits and reads the inbox")
    func refreshes() async throws {
        let engine = try await launch()
        try await engine.signIn(user: "alice", password: "secret")
        device.backend.setOffline(true)
        _ = await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30))
        device.backend.setOffline(false)
        device.backend.store(8)
        #expect(await engine.handleBackgroundRefresh(budget: .seconds(25)))
        #expect(device.receipts(.delivered) == [id(7)])
        #expect(try await engine.inbox().entries.map(\.id) == [id(8)])
    }

    @Test("says that it failed when the server cannot be reached, and when it does not answer in time")
    func failing() async throws {
        let engine = try await launch()
        try await engine.signIn(user: "alice", password: "secret")
        device.backend.setOffline(true)
        #expect(await engine.handleBackgroundRefresh(budget: .seconds(25)) == false)
        device.backend.setOffline(false)
        let gate = Gate()
        device.backend.state.with { $0.gates["notifications$"] = gate }
        async let answer = engine.handleBackgroundRefresh(budget: .seconds(5))
        #expect(await eventually { device.backend.count("GET", "/notifications") == 2 })
        device.clock.advance(by: .seconds(5))
        #expect(await answer == false)
        await gate.open()
    }

    @Test("revokes a sign-out that the server has not got, and waits for that")
    func revocation() async throws {
        let engine = try await launch()
        try await engine.signIn(user: "alice", password: "secret")
        device.backend.setOffline(true)
        try await engine.signOut()
        #expect(await engine.handleBackgroundRefresh(budget: .seconds(25)) == false)
        device.backend.setOffline(false)
        #expect(await engine.handleBackgroundRefresh(budget: .seconds(25)))
        #expect(device.backend.state.with { $0.credentials.isEmpty })
    }
}
