import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("What was read on this device")
struct ReadStateTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    /// An app with two unread notifications in its list.
    private func engine() async throws -> RichPushEngine {
        let engine = try await device.signedIn()
        device.backend.store(1)
        device.backend.store(2)
        _ = try await engine.refresh()
        return engine
    }

    private func read(_ engine: RichPushEngine) async throws -> [RichID] {
        try await engine.inbox().entries.filter(\.read).map(\.id)
    }

    @Test("shows as read after the server has accepted it, before the list is fetched again, over a restart too")
    func untilRefresh() async throws {
        let first = try await engine()
        try await first.markRead(id(2))
        #expect(device.backend.state.with { $0.reads } == [id(2)])
        #expect(try await read(first) == [id(2)])
        #expect(try await first.inbox().unread == 1)
        #expect(await device.notifications.badge == 1)
        await first.stop()
        let second = try await device.launch()
        #expect(try await read(second) == [id(2)])
        #expect(try await second.inbox().unread == 1)
        #expect(try await second.refresh().unread == 1)
        #expect(try await read(second) == [id(2)])
    }

    @Test("shows as read after it was opened, also when the service extension sent it to the server")
    func sentByExtension() async throws {
        let engine = try await engine()
        device.backend.setOffline(true)
        _ = await engine.open(id(1))
        await engine.stop()
        device.backend.setOffline(false)
        let outbox = Outbox(store: try device.ports().store, limits: DeviceLimits())
        let session = try #require(await engine.session)
        for item in try outbox.items(of: session, now: device.clock.now) { try outbox.remove(item, of: session) }
        #expect(try await read(try await device.launch()) == [id(1)])
    }

    @Test("outweighs a list that was asked for before it was read")
    func olderList() async throws {
        let engine = try await engine()
        let gate = Gate()
        let old = ScriptedBackend.json(InboxPage(notifications: [Samples.entry(2, bytes: nil)], unread: 1), 200)
        device.backend.script { request in
            request.method == "GET" && request.url.path == APIRoute.notifications ? .success(old) : nil
        }
        device.backend.state.with { $0.gates["/notifications"] = gate }
        async let refreshed = engine.refresh()
        #expect(await eventually { device.backend.count("GET", "/notifications") == 2 })
        device.backend.state.with { $0.gates = [:] }
        try await engine.markRead(id(2))
        await gate.open()
        #expect(try await refreshed.unread == 0)
        #expect(try await read(engine) == [id(2)])
    }

    @Test("yields to the server's list that was requested after the server had accepted it")
    func serverWins() async throws {
        let engine = try await engine()
        try await engine.markRead(id(2))
        // Another device marked it as unread.
        device.backend.state.with { state in
            state.stored[id(2)]?.entry.read = false
            state.unread = 2
        }
        #expect(try await engine.refresh().unread == 2)
        #expect(try await read(engine).isEmpty)
    }

    @Test("is forgotten once the server's list has it, so that the record does not grow")
    func bounded() async throws {
        let engine = try await engine()
        let session = try #require(await engine.session)
        let records = NotificationRecords(store: try device.ports().store, limits: DeviceLimits())
        try await engine.markRead(id(1))
        try await engine.markRead(id(2))
        #expect(try records.readHere(of: session.id) == [id(1), id(2)])
        _ = try await engine.refresh()
        #expect(try records.readHere(of: session.id).isEmpty)
    }
}
