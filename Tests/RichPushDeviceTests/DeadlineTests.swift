import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("A deadline")
struct DeadlineTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    private func gate(_ path: String) -> Gate {
        let gate = Gate()
        device.backend.state.with { $0.gates[path] = gate }
        return gate
    }

    private func puts() -> Int { device.backend.requests.count { $0.method == "PUT" } }

    @Test("of a background push holds although it shares the download of a user who waits longer")
    func sharesLonger() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        let stuck = gate("notifications/7$")
        let opening = Task { await engine.open(id(7)) }
        #expect(await eventually { device.backend.count("GET", "/notifications/7") == 1 })
        let push = Task { await engine.handleBackgroundPush(Samples.visible(7), budget: .seconds(30)) }
        #expect(await eventually { device.backend.count("GET", "/details") == 2 })
        await settle()
        device.clock.advance(by: .seconds(28))
        #expect(await ended(push) == .failed)
        #expect(device.backend.count("GET", "/notifications/7") == 1)
        await stuck.open()
        #expect(await ended(opening)?.state == .ready)
    }

    @Test("of an opening is not that of the background download which it shares")
    func sharesShorter() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        let stuck = gate("notifications/7$")
        let push = Task { await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) }
        #expect(await eventually { device.backend.count("GET", "/notifications/7") == 1 })
        await settle()
        device.clock.advance(by: .seconds(20))
        let opening = Task { await engine.open(id(7)) }
        await settle()
        device.backend.state.with { $0.gates = [:] }
        device.clock.advance(by: .seconds(8))
        #expect(await ended(push) == .failed)
        #expect(await ended(opening)?.state == .ready)
        #expect(device.backend.count("GET", "/notifications/7") == 2)
        await stuck.open()
    }

    @Test("of a background push holds although the credential must be renewed near its end, and that ends no session")
    func renewal() async throws {
        let engine = try await device.signedIn()
        #expect(await eventually { device.log.kinds.contains(.registered) || puts() > 0 })
        await settle()
        let before = puts()
        let slow = gate("details")
        let stuck = gate("installations")
        device.backend.script { $0.url.path.hasSuffix("/details") ? .success(ScriptedBackend.problem(401)) : nil }
        let push = Task { await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) }
        #expect(await eventually { device.backend.count("GET", "/details") == 1 })
        await settle()
        device.clock.advance(by: .seconds(20))
        await slow.open()
        #expect(await eventually { puts() == before + 1 })
        await settle()
        device.clock.advance(by: .seconds(8))
        #expect(await ended(push) == .failed)
        #expect(await engine.session?.isRejected == false)
        await stuck.open()
    }

    @Test("of a background push holds although the system does not take the notification")
    func presentation() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        let stuck = Gate()
        await device.notifications.wait(at: stuck)
        let push = Task { await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) }
        #expect(await eventually { await stuck.isWaitedAt })
        device.clock.advance(by: .seconds(30))
        #expect(await ended(push) == .failed)
        await stuck.open()
    }

    @Test("of the receipts is not that of the inbox: a server that takes none still shows its list")
    func receipts() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        let session = try #require(await engine.session)
        await settle()
        let stuck = gate("receipts")
        await engine.note(.dismissed, of: id(7), in: session)
        let refresh = Task { try? await engine.refresh().entries.map(\.id) }
        #expect(await eventually { device.backend.count("POST", "/receipts") > 0 })
        await settle()
        device.clock.advance(by: .seconds(4))
        #expect(await ended(refresh) == [id(7)])
        await stuck.open()
    }

    @Test("that passes while a new credential is fetched, or a missing network, does not ask the user to sign in again")
    func offlineRenewal() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        await settle()
        device.backend.state.with { $0.credentials = [] }
        device.backend.script { $0.method == "PUT" ? .failure(.unreachable) : nil }
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .failed)
        #expect(await engine.session?.isRejected == false)
        device.backend.script(nil)
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .newData)
    }
}
