import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("The service extension")
struct EnrichmentTests {
    let device: TestDevice
    let original = NotificationContent(title: "App", body: "You have a new message", category: "richPush")
    let neutral = NotificationContent(body: "You have a new message", category: "richPush", isNeutral: true)

    init() throws { device = try TestDevice() }

    private func request(_ number: Int32) -> EnrichmentRequest {
        EnrichmentRequest(identifier: "r\(number)", envelope: Samples.visible(number), original: original)
    }

    @Test("replaces neutral text by the real text and attaches the small variant")
    func enriched() async throws {
        _ = try await device.signedIn()
        device.backend.store(7, bytes: Samples.png(7, count: 9_000), thumb: Samples.png(8))
        let content = await (try device.launchExtension()).enrich(request(7), budget: .seconds(30))
        #expect(content.title == "Title")
        #expect(content.body == "Words")
        #expect(content.category == "richPush")
        #expect(content.badge == 1)
        let attachment = try #require(content.attachment)
        #expect(try Data(contentsOf: attachment.file) == Samples.png(8))
        #expect(attachment.file.pathExtension == "png")
        #expect(attachment.altText == "A picture")
        #expect(device.receipts(.delivered) == [id(7)])
        #expect(device.receipts(.fetched) == [id(7)])
    }

    @Test("hands over a copy: the cached file stays when the system moves the attachment away")
    func copy() async throws {
        let app = try await device.signedIn()
        device.backend.store(7)
        let content = await (try device.launchExtension()).enrich(request(7), budget: .seconds(30))
        try FileManager.default.removeItem(at: try #require(content.attachment).file)
        device.backend.setOffline(true)
        #expect(await app.open(id(7)).state == .ready)
    }

    @Test(
        "leaves the push as it was when offline, without its text when no user or another one is signed in", arguments: [0, 1, 2])
    func unchanged(cause: Int) async throws {
        if cause > 0 { _ = try await device.signedIn() }
        device.backend.setOffline(cause == 1)
        let content = await (try device.launchExtension()).enrich(request(7), budget: .seconds(30))
        #expect(content == (cause == 1 ? original : neutral))
    }

    @Test("leaves foreign pushes alone")
    func foreign() async throws {
        let foreign = EnrichmentRequest(identifier: "x", envelope: nil, original: NotificationContent(body: "Other"))
        #expect(await (try device.launchExtension()).enrich(foreign, budget: .seconds(30)) == foreign.original)
    }

    @Test("gives the button More even to a push that it cannot improve")
    func category() async throws {
        var bare = request(7)
        bare.original.category = nil
        #expect(await (try device.launchExtension()).enrich(bare, budget: .seconds(30)).category == "richPush")
    }

    @Test("shows the text without the picture when the picture is not what was announced")
    func textOnly() async throws {
        _ = try await device.signedIn()
        device.backend.store(7)
        device.backend.state.with { $0.stored[id(7)]?.bytes = Samples.png(2) }
        let content = await (try device.launchExtension()).enrich(request(7), budget: .seconds(30))
        #expect(content.body == "Words")
        #expect(content.attachment == nil)
    }

    @Test("shows the text without the picture when the picture is gone: whose the notification is, the server has said")
    func goneContent() async throws {
        _ = try await device.signedIn()
        device.backend.store(7)
        let problem = Problem(type: "about:blank", title: "No", status: 404, detail: nil, code: "not-found")
        device.backend.script {
            $0.method == "GET" && $0.url.path.hasSuffix("/7") ? .success(ScriptedBackend.json(problem, 404)) : nil
        }
        let content = await (try device.launchExtension()).enrich(request(7), budget: .seconds(30))
        #expect(content.body == "Words")
        #expect(content.attachment == nil)
        #expect(!content.isNeutral)
    }

    @Test("hands over what it has when the system says that time is up, once, and the late picture is dropped")
    func expires() async throws {
        _ = try await device.signedIn()
        device.backend.store(7)
        let gate = Gate()
        device.backend.state.with { state in
            state.script = nil
            state.gates["/notifications/7"] = nil
        }
        let serviceExtension = try device.launchExtension()
        device.backend.script { request in
            guard request.url.path.hasSuffix("/details") else { return nil }
            device.backend.state.with { $0.gates["notifications/7"] = gate }
            return nil
        }
        async let content = serviceExtension.enrich(request(7), budget: .seconds(30))
        #expect(await eventually { device.backend.count("GET", "/notifications/7") == 1 })
        await serviceExtension.expire()
        #expect(await content.body == "Words")
        #expect(await content.attachment == nil)
        await gate.open()
    }

    @Test("ends by itself before its time although the network is stuck and the system does not expire it")
    func ownDeadline() async throws {
        let engine = try await device.signedIn()
        let gate = Gate()
        device.backend.state.with { $0.gates["details"] = gate }
        let serviceExtension = try device.launchExtension()
        async let content = serviceExtension.enrich(request(7), budget: .seconds(30))
        #expect(await eventually { device.backend.count("GET", "/details") == 1 && device.clock.sleeperCount > 1 })
        device.clock.advance(by: .seconds(28))
        #expect(await content == original)
        // The process may end with its answer: what failed is on record before, and the app sends it.
        _ = try await engine.refresh()
        #expect(device.receipts(.failed) == [id(7)])
        await gate.open()
    }

    @Test("serves two pushes at once, each with its own picture")
    func two() async throws {
        _ = try await device.signedIn()
        device.backend.store(7, bytes: Samples.png(7))
        device.backend.store(8, bytes: Samples.png(8))
        let serviceExtension = try device.launchExtension()
        async let first = serviceExtension.enrich(request(7), budget: .seconds(30))
        async let second = serviceExtension.enrich(request(8), budget: .seconds(30))
        let files = await [first.attachment?.file, second.attachment?.file]
        #expect(try files.map { try Data(contentsOf: try #require($0)) } == [Samples.png(7), Samples.png(8)])
    }

    @Test("the number on the icon counts what came while a slower notification was fetched")
    func badge() async throws {
        _ = try await device.signedIn()
        device.backend.store(7)
        device.backend.store(8)
        let gate = Gate()
        device.backend.script { request in
            if request.url.path.hasSuffix("/7/details") { device.backend.state.with { $0.gates["notifications/7"] = gate } }
            return nil
        }
        let serviceExtension = try device.launchExtension()
        async let slow = serviceExtension.enrich(request(7), budget: .seconds(30))
        #expect(await eventually { device.backend.count("GET", "/notifications/7") == 1 })
        #expect(await serviceExtension.enrich(request(8), budget: .seconds(30)).badge == 2)
        await gate.open()
        #expect(await slow.badge == 2)
    }

    @Test("a number that the push brings is left as it is")
    func ownBadge() async throws {
        _ = try await device.signedIn()
        device.backend.store(7)
        var numbered = request(7)
        numbered.original.badge = 5
        #expect(await (try device.launchExtension()).enrich(numbered, budget: .seconds(30)).badge == 5)
    }

    @Test("does not show the text of a user who signed out while it was fetching")
    func signedOutMeanwhile() async throws {
        let app = try await device.signedIn()
        device.backend.store(7)
        let gate = Gate()
        device.backend.state.with { $0.gates["details"] = gate }
        let serviceExtension = try device.launchExtension()
        async let content = serviceExtension.enrich(request(7), budget: .seconds(30))
        #expect(await eventually { device.backend.count("GET", "/details") == 1 })
        try await app.signOut()
        await gate.open()
        #expect(await content == neutral)
        #expect(device.files.isEmpty)
    }

    @Test("before the first unlock leaves the push as it was and deletes nothing")
    func locked() async throws {
        _ = try await device.signedIn()
        device.backend.store(7)
        let before = device.files
        device.isLocked.with { $0 = true }
        #expect(await (try device.launchExtension()).enrich(request(7), budget: .seconds(30)) == original)
        #expect(device.files == before)
    }

    @Test("puts what it learned into the app's inbox")
    func inbox() async throws {
        let app = try await device.signedIn()
        device.backend.store(7)
        _ = await (try device.launchExtension()).enrich(request(7), budget: .seconds(30))
        let inbox = try await app.inbox()
        #expect(inbox.entries.map(\.id) == [id(7)])
        #expect(inbox.unread == 1)
    }
}
