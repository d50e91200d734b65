import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice
@testable import RichPushSealing

@Suite("What a device keeps")
struct BoundsTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    private func count(_ collection: RecordKey.Collection, of session: SessionID) throws -> Int {
        try device.ports().store.records(collection, of: session, limit: 10_000).count
    }

    @Test("of notifications is bounded, even if the app is never opened")
    func withoutRefresh() async throws {
        var configuration = try TestDevice.configuration()
        configuration.limits.inboxCount = 3
        let engine = try await device.launch(configuration)
        let session = try await engine.signIn(user: "alice", password: "secret")
        for number: Int32 in 1...6 {
            device.backend.store(number)
            _ = await engine.handleBackgroundPush(Samples.silent(number), budget: .seconds(30))
        }
        #expect(try count(.shown, of: session.id) == 3)
        #expect(try count(.details, of: session.id) == 3)
        #expect(try await engine.inbox().entries.map(\.id) == [id(6), id(5), id(4)])
    }

    @Test("of what was shown in a time without bounds is brought to them by the next refresh")
    func olderRecords() async throws {
        let engine = try await device.signedIn()
        let session = try #require(await engine.session)
        let store = try device.ports().store
        for number: Int32 in 1...300 {
            try store.setRecord(JSONEncoder().encode(id(number)), for: RecordKey(.shown, "\(number)", of: session.id))
        }
        _ = try await engine.refresh()
        #expect(try count(.shown, of: session.id) == DeviceLimits().inboxCount)
        #expect(try NotificationRecords(store: store, limits: DeviceLimits()).wasShown(id(300), of: session.id))
    }

    @Test("of what sealed notifications say ends when they fall off a list that was cut short")
    func fellOff() async throws {
        let engine = try await device.signedIn()
        let session = try #require(await engine.session).id
        let records = NotificationRecords(store: try device.ports().store, limits: DeviceLimits())
        for number: Int32 in [1, 2] {
            try records.keep(Samples.entry(number, kind: .sealed, bytes: nil), of: session)
            try records.keep(SealedText(message: "Only for you"), of: id(number), of: session)
        }
        let list = Inbox(entries: [Samples.entry(2, kind: .sealed, bytes: nil), Samples.entry(9, bytes: nil)], unread: 2)
        _ = try records.synchronise(list, isComplete: false, known: [id(1), id(2)], of: session)
        #expect(try records.text(id(1), of: session) == nil)
        #expect(try records.text(id(2), of: session)?.message == "Only for you")
    }

    @Test("ends with a recall, of the newest notification too: its text, its content, its mark and its notification")
    func recalledNewest() async throws {
        let engine = try await device.signedIn()
        let session = try #require(await engine.session)
        device.backend.store(7)
        _ = await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30))
        device.backend.state.with { state in
            state.stored = [:]
            state.unread = 0
        }
        #expect(try await engine.refresh().entries.isEmpty)
        #expect(try count(.shown, of: session.id) == 0)
        #expect(try count(.details, of: session.id) == 0)
        #expect(await device.notifications.removed == ["rich-7"])
        #expect(!device.files.contains { (try? Data(contentsOf: URL(fileURLWithPath: $0))) == Samples.png(1) })
    }

    @Test("of a push that arrives while the list is read stays, although the list does not have it")
    func arrivesMeanwhile() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        await settle()
        let gate = Gate()
        device.backend.state.with { $0.gates["/notifications$"] = gate }
        device.backend.script { request in
            guard request.method == "GET", request.url.path == APIRoute.notifications else { return nil }
            return .success(ScriptedBackend.json(InboxPage(notifications: [], unread: 0), 200))
        }
        let refresh = Task { try? await engine.refresh().entries.map(\.id) }
        #expect(await eventually { device.backend.count("GET", APIRoute.notifications) == 1 })
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .newData)
        await gate.open()
        #expect(await ended(refresh) == [id(7)])
        // The next list was asked for later: what it does not have is gone.
        #expect(try await engine.refresh().entries.isEmpty)
    }

    @Test("of pictures is not more for each notification that the system refuses", arguments: [false, true])
    func refused(isForAttachment: Bool) async throws {
        let engine = try await device.signedIn()
        if isForAttachment { await device.notifications.refuseAttachments() } else { await device.notifications.deny() }
        for number: Int32 in 1...3 {
            device.backend.store(number)
            _ = await engine.handleBackgroundPush(Samples.silent(number), budget: .seconds(30))
        }
        #expect(device.files.count { $0.contains("/incoming/") } == 0)
    }

    @Test("of what the server says is gone ends when it is opened, not at the next refresh")
    func goneWhenOpened() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        #expect(try await engine.refresh().unread == 1)
        device.backend.state.with { $0.stored = [:] }
        #expect(await engine.open(id(7)).state == .failed(.recalled))
        #expect(try await engine.inbox() == Inbox(entries: [], unread: 0))
        #expect(await device.notifications.badge == 0)
    }

    @Test("is nothing of a user who signed out while the system took the notification")
    func signedOutMeanwhile() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        let gate = Gate()
        await device.notifications.wait(at: gate)
        let push = Task { await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) }
        #expect(await eventually { await gate.isWaitedAt })
        try await engine.signOut()
        await gate.open()
        _ = await ended(push)
        #expect(await eventually { await device.notifications.removed == ["rich-7"] })
        #expect(device.files.isEmpty)
    }

    @Test("is nothing that was shown when the process ended in the middle of a sign-out")
    func endedInSignOut() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        _ = await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30))
        await engine.stop()
        try device.ports().store.wipe()
        _ = try await device.launch()
        #expect(await device.notifications.removed == ["rich-7"])
        #expect(await device.notifications.badge == 0)
    }

    @Test("does not become a notification of a user who signed out while the extension fetched the picture")
    func extensionAfterSignOut() async throws {
        let app = try await device.signedIn()
        device.backend.store(7)
        let gate = Gate()
        device.backend.state.with { $0.gates["notifications/7$"] = gate }
        let serviceExtension = try device.launchExtension()
        let original = NotificationContent(body: "You have a new message", category: PushEnvelope.category)
        let request = EnrichmentRequest(identifier: "x", envelope: Samples.visible(7), original: original)
        let work = Task { await serviceExtension.enrich(request, budget: .seconds(30)) }
        #expect(await eventually { device.backend.count("GET", "/notifications/7") == 1 })
        try await app.signOut()
        await serviceExtension.expire()
        #expect(await ended(work) == original.neutral(original.body))
        await gate.open()
    }
}
