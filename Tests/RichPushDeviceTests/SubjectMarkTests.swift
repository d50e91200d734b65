import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

/// Pushes that say for whom they are, as a server makes them for an audience of one user. The server of these tests would answer
/// for every one of them, so that only the mark can keep one from the wrong user.
@Suite("A push that says for whom it is")
struct SubjectMarkTests {
    /// SHA-256 over three lines: "clarion subject 1", the number 7 and the name, as the server's own tests have it.
    static let alices = SubjectMark("27e90420f33712e2")
    static let bobs = SubjectMark("ca5e2e572d08b18e")
    static let secret = "Alice, your results are here"
    static let neutral = "You have a new message"
    let device: TestDevice

    init() throws {
        device = try TestDevice()
        device.backend.store(7)
    }

    private func push(_ mark: SubjectMark?, hasAlert: Bool = false) -> PushEnvelope {
        PushEnvelope(
            id: id(7), kind: .image, message: Self.secret, subject: mark, hasAlert: hasAlert, wakesApp: !hasAlert)
    }

    private func request(_ mark: SubjectMark?) -> EnrichmentRequest {
        EnrichmentRequest(identifier: "r", envelope: push(mark, hasAlert: true), original: Self.alert)
    }

    private static let alert = NotificationContent(
        title: "Clinic", subtitle: secret, body: secret, thread: "clinic", category: "richPush", badge: 3)

    private var calls: Int { device.backend.state.with { $0.requests.filter { $0.url.path.contains("/notifications/") }.count } }

    @Test("is not fetched and not shown when it is silent and for another, in front or not", arguments: [true, false])
    func silent(isActive: Bool) async throws {
        let engine = try await device.signedIn()
        if isActive { await device.environment.set(.active) }
        #expect(await engine.handleBackgroundPush(push(Self.bobs), budget: .seconds(30)) == .noData)
        #expect(await device.notifications.presented.isEmpty)
        #expect(await device.router.offers.isEmpty)
        #expect(calls == 0)
        #expect(await engine.handleBackgroundPush(push(Self.alices), budget: .seconds(30)) == .newData)
        #expect(calls > 0)
    }

    @Test("is neutral and not fetched when it is an alert for another, although only one user was ever signed in")
    func alert() async throws {
        let engine = try await device.signedIn()
        let content = await (try device.launchExtension()).enrich(request(Self.bobs), budget: .seconds(30))
        #expect(content == NotificationContent(body: Self.neutral, category: "richPush", isNeutral: true))
        #expect(calls == 0)
        #expect(device.receipts(.delivered).isEmpty)
        #expect(await engine.session?.isShared == false)
    }

    @Test("is not asked about in the foreground when it is for another, and listed only with neutral text")
    func foreground() async throws {
        let engine = try await device.signedIn()
        let open = ForegroundNotification(identifier: "r", richID: id(7), subject: Self.bobs, content: Self.alert)
        #expect(await engine.willPresent(open) == [])
        let neutral = NotificationContent(body: Self.neutral)
        #expect(
            await engine.willPresent(
                ForegroundNotification(identifier: "r", richID: id(7), subject: Self.bobs, content: neutral)) == [.list])
        #expect(await device.router.offers.isEmpty)
    }

    @Test("has its own text on a shared phone without a network when it is this user's")
    func proven() async throws {
        let engine = try await device.signedIn()
        try await engine.signIn(user: "bob", password: "hidden")
        #expect(await engine.session?.isShared == true)
        device.backend.setOffline(true)
        let content = await (try device.launchExtension()).enrich(request(Self.bobs), budget: .seconds(30))
        #expect(content.body == Self.secret)
        #expect(content.title == "Clinic")
        #expect(await engine.handleBackgroundPush(push(Self.bobs), budget: .seconds(30)) == .failed)
        #expect(await device.notifications.presented.map(\.content.body) == [Self.secret])
        let notice = ForegroundNotification(identifier: "r", richID: id(7), subject: Self.bobs, content: Self.alert)
        #expect(await engine.willPresent(notice) == [.list])
        #expect(await device.router.offers.map(\.message) == [Self.secret])
    }

    @Test("without a mark keeps its text to itself on a shared phone, as before")
    func unmarked() async throws {
        let engine = try await device.signedIn()
        try await engine.signIn(user: "bob", password: "hidden")
        device.backend.setOffline(true)
        #expect(await (try device.launchExtension()).enrich(request(nil), budget: .seconds(30)).body == Self.neutral)
    }

    @Test("is this user's however the name is written")
    func spelling() async throws {
        let session = Session(
            id: SessionID("s")!, user: "ALICE", installation: InstallationID("i")!, signedInAt: device.clock.now, isShared: true)
        #expect(session.owner(of: id(7), marked: Self.alices) == .thisUser)
        #expect(session.owner(of: id(8), marked: Self.alices) == .another)
        #expect(session.owner(of: id(7), marked: nil) == .unmarked)
    }
}
