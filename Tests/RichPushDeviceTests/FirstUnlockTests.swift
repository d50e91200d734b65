import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("Before the first unlock after a restart")
struct FirstUnlockTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    /// The app on a restarted phone with one notification, whose records cannot be read.
    private func restarted() async throws -> RichPushEngine {
        let before = try await device.signedIn()
        device.backend.store(7, bytes: Samples.png(7))
        await before.stop()
        lock(true)
        return try await device.launch()
    }

    /// Lets the store refuse as the system does while files are protected.
    private func lock(_ locked: Bool) { device.storeIsLocked.with { $0 = locked } }

    private func more(_ number: Int32) -> NotificationResponse {
        NotificationResponse(identifier: "rich-\(number)", richID: id(number), action: .button(PushEnvelope.moreAction))
    }

    @Test("a tapped More shows why nothing is there, and opens the picture once after the unlock")
    func opensLater() async throws {
        let engine = try await restarted()
        await engine.didRespond(more(7))
        #expect(await device.router.shown.map(\.state) == [.missing(.storage(.locked))])
        #expect(device.receipts(.opened).isEmpty)
        lock(false)
        await engine.didUnlock()
        await engine.didUnlock()
        #expect(await device.router.shown.map(\.state) == [.missing(.storage(.locked)), .loading, .ready])
        _ = try await engine.refresh()
        #expect(device.receipts(.opened) == [id(7)])
        #expect(device.receipts(.action) == [id(7)])
    }

    @Test("a sign-out says that it removed nothing, and works after the unlock")
    func signOut() async throws {
        let engine = try await restarted()
        await #expect(throws: RichPushError.storage(.locked)) { try await engine.signOut() }
        #expect(device.secrets.with { $0[.credential] } != nil)
        lock(false)
        try await engine.signOut()
        #expect(device.secrets.with { $0[.credential] } == nil)
        #expect(device.files.isEmpty)
    }

    @Test("a tap is kept until something can be read, also when the app only learns of the unlock by coming to the front")
    func stillLocked() async throws {
        let engine = try await restarted()
        await engine.didRespond(more(7))
        await engine.didUnlock()
        #expect(await device.router.shown.count == 1)
        lock(false)
        _ = try await engine.refresh()
        #expect(await device.router.shown.last?.state == .ready)
    }

    @Test("taps are kept up to a bound, and dropped when it turns out that no user is signed in")
    func bounded() async throws {
        lock(true)
        let engine = try await device.launch()
        for number: Int32 in 1...40 { await engine.didRespond(more(number)) }
        #expect(await engine.waitingResponses.map(\.richID) == (25...40).map { id($0) })
        let shown = await device.router.shown.count
        lock(false)
        await engine.didUnlock()
        #expect(await engine.waitingResponses.isEmpty)
        #expect(await device.router.shown.count == shown)
    }

    @Test("a tap that waited is not replayed for another user, who signs in before anything else reads the device")
    func otherUser() async throws {
        device.storeIsLocked.with { $0 = true }
        let engine = try await device.launch()
        await engine.didRespond(NotificationResponse(identifier: "x", richID: id(7), action: .open))
        device.storeIsLocked.with { $0 = false }
        try await engine.signIn(user: "bob", password: "hidden")
        _ = try await engine.refresh()
        #expect(await device.router.shown.map(\.state) == [.missing(.storage(.locked))])
    }
}
