import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

/// Alice's pushes, with her words in them, that arrive when bob is signed in. The server has nothing of hers for him.
@Suite("A phone that two users share")
struct SharedPhoneTests {
    enum Answer: CaseIterable {
        case notFound
        case failing
        case unreachable
    }

    static let secret = "Alice, your results are here"
    static let neutral = "You have a new message"
    let device: TestDevice

    init() throws { device = try TestDevice() }

    /// An app in which alice was signed in before bob.
    private func bobs(_ answer: Answer = .notFound) async throws -> RichPushEngine {
        let engine = try await device.signedIn()
        try await engine.signIn(user: "bob", password: "hidden")
        switch answer {
        case .notFound: break
        case .failing:
            device.backend.script { $0.url.path.hasSuffix("/details") ? .success(TransportResponse(status: 503)) : nil }
        case .unreachable: device.backend.setOffline(true)
        }
        return engine
    }

    private func alert(_ title: String = "Clinic") -> NotificationContent {
        NotificationContent(
            title: title, subtitle: Self.secret, body: Self.secret, thread: "clinic", category: "richPush", badge: 3)
    }

    @Test("says nothing of a silent push for the other, in front or not", arguments: Answer.allCases, [true, false])
    func silent(answer: Answer, isActive: Bool) async throws {
        let engine = try await bobs(answer)
        if isActive { await device.environment.set(.active) }
        let push = Samples.silent(7, message: Self.secret)
        let result = await engine.handleBackgroundPush(push, budget: .seconds(30))
        #expect(result == (answer == .notFound ? .noData : .failed))
        let bodies = await device.notifications.presented.map(\.content.body)
        #expect(bodies == (answer == .notFound ? [] : [Self.neutral]))
        #expect(await device.router.offers.isEmpty)
    }

    @Test("replaces the text of an alert for the other, title and all", arguments: Answer.allCases)
    func alert(answer: Answer) async throws {
        _ = try await bobs(answer)
        let request = EnrichmentRequest(identifier: "r", envelope: Samples.visible(7), original: alert())
        let content = await (try device.launchExtension()).enrich(request, budget: .seconds(30))
        #expect(content == NotificationContent(body: Self.neutral, category: "richPush", isNeutral: true))
    }

    @Test("replaces them too when the system ends the extension early")
    func expired() async throws {
        _ = try await bobs()
        let gate = Gate()
        device.backend.state.with { $0.gates["details"] = gate }
        let serviceExtension = try device.launchExtension()
        let request = EnrichmentRequest(identifier: "r", envelope: Samples.visible(7), original: alert())
        async let content = serviceExtension.enrich(request, budget: .seconds(30))
        #expect(await eventually { device.backend.count("GET", "/details") == 1 })
        await serviceExtension.expire()
        #expect(await content == NotificationContent(body: Self.neutral, category: "richPush", isNeutral: true))
        await gate.open()
    }

    @Test("does not ask about an alert for the other, and lists it only with neutral text")
    func foreground() async throws {
        let engine = try await bobs(.unreachable)
        let own = ForegroundNotification(identifier: "r", richID: id(7), content: alert())
        #expect(await engine.willPresent(own) == [])
        let neutral = ForegroundNotification(identifier: "r", richID: id(7), content: NotificationContent(body: Self.neutral))
        #expect(await engine.willPresent(neutral) == [.list])
        #expect(await device.router.offers.isEmpty)
    }

    @Test("lists what the extension made neutral whatever language it did that in, and not the same text without its mark")
    func marked() async throws {
        let engine = try await bobs(.unreachable)
        var german = try TestDevice.configuration()
        german.neutralText = "Du hast eine neue Nachricht"
        let serviceExtension = EnrichmentEngine(configuration: german, device: try device.ports(isForApp: false))
        let request = EnrichmentRequest(identifier: "r", envelope: Samples.visible(7), original: alert())
        var content = await serviceExtension.enrich(request, budget: .seconds(30))
        #expect(content.body == german.neutralText)
        #expect(await engine.willPresent(ForegroundNotification(identifier: "r", richID: id(7), content: content)) == [.list])
        content.isNeutral = false
        #expect(await engine.willPresent(ForegroundNotification(identifier: "r", richID: id(7), content: content)) == [])
    }

    @Test("shows what the server says is for the one who is signed in")
    func proven() async throws {
        let engine = try await bobs()
        device.backend.store(7)
        let request = EnrichmentRequest(identifier: "r", envelope: Samples.visible(7), original: alert())
        let content = await (try device.launchExtension()).enrich(request, budget: .seconds(30))
        #expect(content.body == "Words")
        #expect(await engine.willPresent(ForegroundNotification(identifier: "r", richID: id(7), content: content)) == [.list])
        #expect(await device.router.offers.map(\.message) == ["Words"])
    }

    @Test("shows neutral text when no user is signed in, and when the server knows no such notification")
    func signedOut() async throws {
        let request = EnrichmentRequest(identifier: "r", envelope: Samples.visible(7), original: alert())
        #expect(await (try device.launchExtension()).enrich(request, budget: .seconds(30)).body == Self.neutral)
        _ = try await device.signedIn()
        #expect(await (try device.launchExtension()).enrich(request, budget: .seconds(30)).body == Self.neutral)
    }

    @Test("is one where two names have been signed in, and stays one; it is none when the same user comes back")
    func sharing() async throws {
        let engine = try await device.signedIn()
        #expect(await engine.session?.isShared == false)
        try await engine.signOut()
        try await engine.signIn(user: "alice", password: "secret")
        #expect(await engine.session?.isShared == false)
        for (name, password) in [("bob", "hidden"), ("bob", "hidden"), ("alice", "secret")] {
            try await engine.signIn(user: name, password: password)
            #expect(await engine.session?.isShared == true)
        }
        #expect(device.secrets.with { $0[.servedUser] } == "several")
        #expect(try await device.launch().session?.isShared == true)
    }

    @Test("is assumed for a session that does not say")
    func olderSession() throws {
        let kept = Session(id: SessionID("s")!, user: "a", installation: InstallationID("i")!, signedInAt: device.clock.now)
        var fields = try #require(try JSONSerialization.jsonObject(with: JSONEncoder().encode(kept)) as? [String: Any])
        fields["isShared"] = nil
        let read = try JSONDecoder().decode(Session.self, from: JSONSerialization.data(withJSONObject: fields))
        #expect(read.isShared)
    }
}
