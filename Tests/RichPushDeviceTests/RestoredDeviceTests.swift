import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("A device whose secrets are not its own")
struct RestoredDeviceTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    @Test("a session without its credential is none: nothing of the user before is left")
    func restored() async throws {
        let first = try await device.signedIn()
        device.backend.store(1)
        _ = try await first.refresh()
        await first.stop()
        device.secrets.with { $0 = [:] }
        let second = try await device.launch()
        #expect(await second.session == nil)
        #expect(
            await second.handleBackgroundPush(
                PushEnvelope(id: id(1), kind: .image, hasAlert: false, wakesApp: true), budget: .seconds(30)) == .noData)
        #expect(!device.files.contains { $0.contains("sessions/") || $0.hasSuffix("session.json") })
    }

    @Test("a credential that cannot be read yet is not a missing one")
    func locked() async throws {
        let first = try await device.signedIn()
        await first.stop()
        device.isLocked.with { $0 = true }
        let second = try await device.launch()
        #expect(await second.session == nil)
        device.isLocked.with { $0 = false }
        await second.didUnlock()
        #expect(await second.session?.user == "alice")
    }

    @Test("a server that fails over receipts still gets the read marks, and the receipts when it can")
    func receiptsFail() async throws {
        let engine = try await device.signedIn()
        device.backend.store(1)
        _ = try await engine.refresh()
        device.backend.script { request in
            request.url.path == APIRoute.receipts ? .success(TransportResponse(status: 500)) : nil
        }
        _ = await engine.open(id(1))
        try await engine.markRead(id(1))
        #expect(device.backend.state.with { $0.reads } == [id(1)])
        #expect(device.receipts(.opened).isEmpty)
        device.backend.script(nil)
        _ = try await engine.refresh()
        #expect(device.receipts(.opened) == [id(1)])
    }
}
