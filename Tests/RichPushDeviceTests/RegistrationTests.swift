import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("Registering the installation")
struct RegistrationTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    private var puts: Int { device.backend.requests.count { $0.method == "PUT" } }

    private var failures: Int { device.log.kinds.count { $0 == .registrationFailed } }

    @Test("happens again only when something changed or a week has passed")
    func onlyWhenDue() async throws {
        let engine = try await device.signedIn()
        #expect(puts == 1)
        await engine.didRegister(token: "ABCDEF")
        _ = try await engine.refresh()
        #expect(await eventually { await engine.registration == nil })
        #expect(puts == 1)
        await engine.didRegister(token: "0123")
        #expect(await eventually { puts == 2 })
        #expect(await eventually { await engine.registration == nil })
        device.clock.advance(by: .seconds(7 * 86_400))
        _ = try await engine.refresh()
        #expect(await eventually { puts == 3 })
    }

    @Test("updates the server when the language changes")
    func locale() async throws {
        let engine = try await device.signedIn()
        await device.environment.set(locale: "sv-SE")
        _ = try await engine.refresh()
        #expect(await eventually { puts == 2 })
        let body = try #require(device.backend.requests.last { $0.method == "PUT" }?.body)
        #expect(try JSONDecoder().decode(InstallationUpdate.self, from: body).locale == "sv-SE")
    }

    private var registered: InstallationUpdate? {
        device.backend.requests.last { $0.method == "PUT" }?.body
            .flatMap { try? JSONDecoder().decode(InstallationUpdate.self, from: $0) }
    }

    @Test("reports what operators want to know: versions, time zone, capabilities, permission")
    func facts() async throws {
        _ = try await device.signedIn()
        let update = try #require(registered)
        #expect(update.appVersion == "2.1 (417)")
        #expect(update.systemVersion == "iOS 18.2")
        #expect(update.timeZone == "Europe/Stockholm")
        #expect(update.permission == "granted")
        #expect(update.capabilities == ["sealed-content", "service-extension"])
    }

    @Test("says of itself what a server takes, however long or odd a build calls itself")
    func oddFacts() async throws {
        let version = "feature/\u{202E}" + String(repeating: "x", count: 200)
        await device.environment.set(appVersion: version)
        _ = try await device.signedIn()
        #expect(registered?.appVersion == "feature/" + String(repeating: "x", count: 56))
    }

    @Test("names what the app is configured for among its capabilities")
    func capabilities() async throws {
        var configuration = try TestDevice.configuration()
        configuration.refreshTask = "org.example.refresh"
        (configuration.offersReply, configuration.opensSealedContent) = (true, false)
        let engine = try await device.launch(configuration)
        try await engine.signIn(user: "alice", password: "secret")
        #expect(registered?.capabilities == ["background-refresh", "replies", "service-extension"])
    }

    @Test("reports a refused permission when it is requested, and a withdrawn one when the app comes back")
    func permission() async throws {
        let engine = try await device.signedIn()
        await device.notifications.deny()
        _ = await engine.requestPermission()
        #expect(await eventually { puts == 2 })
        #expect(registered?.permission == "denied")
        #expect(await eventually { await engine.registration == nil })
        await device.notifications.allow()
        _ = try await engine.refresh()
        #expect(await eventually { puts == 3 })
        #expect(registered?.permission == "granted")
    }

    @Test("keeps what the server says of its credentials, over a launch too")
    func environments() async throws {
        device.backend.state.with { $0.environments = ["production"] }
        let engine = try await device.signedIn()
        #expect(await engine.serverEnvironments == ["production"])
        device.backend.state.with { $0.environments = ["production", "sandbox"] }
        #expect(try await device.launch().serverEnvironments == ["production"])
        try await engine.setTags(["news"])
        #expect(await engine.serverEnvironments == ["production", "sandbox"])
        try await engine.signOut()
        #expect(await engine.serverEnvironments == nil)
    }

    /// Lets the server refuse tags that begin so.
    private func protect(_ prefix: String) {
        device.backend.script { request in
            let update = request.body.flatMap { try? JSONDecoder().decode(InstallationUpdate.self, from: $0) }
            guard request.method == "PUT", update?.tags.contains(where: { $0.text.hasPrefix(prefix) }) == true else { return nil }
            return .success(ScriptedBackend.problem(403))
        }
    }

    private var refusals: [[String: String]] { device.log.all.filter { $0.kind == .tagsRefused }.map(\.detail) }

    @Test("goes on with the tags that were taken last when others, chosen without a network, are refused")
    func refusedTags() async throws {
        let engine = try await device.signedIn()
        try await engine.setTags(["news"])
        device.backend.setOffline(true)
        try await engine.setTags(["vip:gold"])
        #expect(await eventually { device.clock.sleeperCount == 1 && failures == 1 })
        device.backend.setOffline(false)
        protect("vip:")
        device.clock.advance(by: .seconds(2))
        #expect(await eventually { await engine.registration == nil && !refusals.isEmpty })
        #expect(refusals == [["reason": "forbidden", "kept": "1"]])
        #expect(await engine.currentTags.map(\.text) == ["news"])
        await engine.didRegister(token: "0123")
        #expect(await eventually { registered?.handle == "0123" })
        #expect(registered?.tags.map(\.text) == ["news"])
    }

    @Test("sends a new token without the tags that the server has protected since, and renews a credential without them")
    func protectedSince() async throws {
        let engine = try await device.signedIn()
        try await engine.setTags(["vip:gold", "news"])
        protect("vip:")
        await engine.didRegister(token: "0123")
        #expect(await eventually { await engine.registration == nil && device.log.kinds.contains(.tagsRefused) })
        #expect(registered?.handle == "0123")
        #expect(registered?.tags == [])
        #expect(await engine.currentTags.isEmpty)
        let count = puts
        _ = try await engine.refresh()
        #expect(await eventually { await engine.registration == nil })
        #expect(puts == count)
        device.backend.script(nil)
        try await engine.setTags(["vip:gold"])
        protect("vip:")
        device.backend.state.with { $0.credentials = [] }
        _ = try await engine.refresh()
        #expect(await engine.session?.isRejected == false)
        #expect(await engine.currentTags.isEmpty)
    }

    @Test("that is refused for something else than its tags keeps them")
    func refusedOtherwise() async throws {
        let engine = try await device.signedIn()
        try await engine.setTags(["news"])
        device.backend.script { $0.method == "PUT" ? .success(ScriptedBackend.problem(400)) : nil }
        await engine.didRegister(token: "0123")
        #expect(await eventually { failures == 1 })
        #expect(await engine.currentTags.map(\.text) == ["news"])
        #expect(refusals.isEmpty)
    }

    @Test("uses the narrow credential after the sign-in")
    func credential() async throws {
        let engine = try await device.signedIn()
        await engine.didRegister(token: "0123")
        #expect(await eventually { puts == 2 })
        #expect(device.backend.requests.last { $0.method == "PUT" }?.headers["authorization"] == "Bearer credential-1")
    }

    @Test("is tried again with growing pauses when the server cannot be reached")
    func retries() async throws {
        let engine = try await device.signedIn()
        device.backend.setOffline(true)
        await engine.didRegister(token: "0123")
        for (attempt, pause) in [2, 4, 8].enumerated() {
            #expect(await eventually { device.clock.sleeperCount == 1 && failures == attempt + 1 })
            device.clock.advance(by: .seconds(pause) - .milliseconds(1))
            #expect(puts == attempt + 2)
            if pause == 8 { device.backend.setOffline(false) }
            device.clock.advance(by: .milliseconds(1))
        }
        #expect(await eventually { puts == 5 })
        #expect(await eventually { device.log.kinds.contains(.registered) })
    }

    @Test("asks the system for a token at every launch, and registers the category before anything is delivered")
    func everyLaunch() async throws {
        _ = try await device.launch()
        _ = try await device.launch()
        #expect(await device.push.requests == 2)
        let category = try #require(await device.notifications.categories.first)
        #expect(category.identifier == "richPush")
        #expect(category.actions.map(\.identifier) == ["richPushMore"])
        #expect(category.reportsDismissal)
    }

    @Test("never writes the token to the log")
    func tokenNotLogged() async throws {
        let engine = try await device.signedIn()
        await engine.didRegister(token: "feedfacefeedface")
        #expect(await eventually { device.log.kinds.contains(.registered) })
        #expect(!device.log.all.contains { event in event.detail.values.contains { $0.lowercased().contains("feedface") } })
    }

    @Test("pauses double up to a limit, jitter takes away at most half, a server's wish is the least, and it gives up")
    func schedule() {
        var retry = RetrySchedule(first: .seconds(1), longest: .seconds(4), attempts: 5)
        #expect(retry.next(fraction: 0) == .seconds(1))
        #expect(retry.next(fraction: 1) == .seconds(1))
        #expect(retry.next(fraction: 0, asked: .seconds(60)) == .seconds(60))
        #expect(retry.next(fraction: 0) == .seconds(4))
        #expect(retry.next(fraction: 0) == nil)
    }

    @Test("is due when the clock was set back")
    func clockSetBack() {
        let state = RegistrationState(digest: "a", acknowledgedAt: Timestamp(milliseconds: 1_000))
        #expect(!state.isDue("a", now: Timestamp(milliseconds: 1_000), heartbeat: .seconds(1)))
        #expect(state.isDue("a", now: Timestamp(milliseconds: 999), heartbeat: .seconds(1)))
        #expect(state.isDue("a", now: Timestamp(milliseconds: 2_000), heartbeat: .seconds(1)))
        #expect(state.isDue("b", now: Timestamp(milliseconds: 1_000), heartbeat: .seconds(1)))
    }
}
