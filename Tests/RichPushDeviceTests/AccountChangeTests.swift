import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

/// What ends a sign-in with a token, and what does not.
@Suite("A wanted sign-in with a token")
struct AccountChangeTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    private var credentials: Set<String> { device.backend.state.with { $0.credentials } }
    private var credential: String? { device.secrets.with { $0[.credential] } }
    private var unconfirmed: String? { device.secrets.with { $0[.unconfirmedSignIn] } }
    private var failures: [String?] { device.log.all.filter { $0.kind == .signInFailed }.map { $0.detail["reason"] } }

    private func updates(_ bearer: String) throws -> [InstallationUpdate] {
        try device.backend.requests.filter { $0.method == "PUT" && $0.headers["authorization"] == "Bearer \(bearer)" }
            .map { try JSONDecoder().decode(InstallationUpdate.self, from: $0.body ?? Data()) }
    }

    private func signedIn() async throws -> RichPushEngine {
        let engine = try await device.launchWithTokens()
        device.tokens.set("token.of.alice")
        try await engine.signIn(token: "token.of.alice")
        return engine
    }

    /// The app's user is bob by now, and the phone has no network.
    private func bobOffline(_ engine: RichPushEngine) async {
        device.backend.setOffline(true)
        device.tokens.set("token.of.bob")
        await #expect(throws: RichPushError.offline) { try await engine.signIn(token: "token.of.bob") }
    }

    /// Online again, after the first pause.
    private func goOn() async {
        #expect(await eventually { device.clock.sleeperCount == 1 })
        device.backend.setOffline(false)
        device.clock.advance(by: .seconds(2))
    }

    /// The exchanges of this token reach the server, or not, and wait for their answer.
    private func stuck(_ engine: RichPushEngine, _ token: String) async -> (Task<Session, any Error>, Gate) {
        let gate = Gate()
        device.backend.state.with { $0.gates["installations"] = gate }
        let task = Task { try await engine.signIn(token: token) as Session }
        #expect(await eventually { await gate.isWaitedAt })
        device.backend.state.with { $0.gates = [:] }
        return (task, gate)
    }

    // MARK: The process ends

    @Test("of another user goes on in the next process")
    func changeOverLaunch() async throws {
        let first = try await signedIn()
        await bobOffline(first)
        await first.stop()
        device.backend.setOffline(false)
        let next = try await device.launchWithTokens()
        #expect(await eventually { await next.session?.user == "bob" })
        #expect(device.tokens.needs.first?.user == "alice")
        #expect(unconfirmed == nil)
    }

    @Test("of another user, whose answer was lost with the process, goes on in the next")
    func lostChangeOverLaunch() async throws {
        let (first, backend) = (try await signedIn(), device.backend)
        backend.script { request in
            guard request.method == "PUT" else { return nil }
            _ = backend.state.with { ScriptedBackend.route(request, &$0) }
            return .failure(.timedOut)
        }
        device.tokens.set("token.of.bob")
        await #expect(throws: RichPushError.timedOut) { try await first.signIn(token: "token.of.bob") }
        await first.stop()
        backend.script(nil)
        let next = try await device.launchWithTokens()
        #expect(await eventually { await next.session?.user == "bob" })
        #expect(await eventually { credentials == [credential] })
    }

    @Test("of another user ends the session when the app has no user any more, also at the server")
    func changeThenNobody() async throws {
        let engine = try await signedIn()
        await bobOffline(engine)
        device.tokens.set(nil)
        await goOn()
        #expect(await eventually { failures == ["not-signed-in"] })
        #expect(await engine.state == .signedOut)
        #expect(await eventually { credentials.isEmpty })
        #expect(unconfirmed == nil)
    }

    @Test("without a provider ends with the process, for which there is no token any more")
    func withoutProvider() async throws {
        let first = try await device.launch()
        device.backend.setOffline(true)
        await #expect(throws: RichPushError.offline) { try await first.signIn(token: "token.of.alice") }
        await first.stop()
        let next = try await device.launch()
        #expect(await next.state == .signedOut)
        #expect(unconfirmed == nil)
    }

    // MARK: A sign-out, or another sign-in

    @Test("ends with a sign-out while it is exchanged, and the server undoes it", arguments: [true, false])
    func signedOutMeanwhile(isChange: Bool) async throws {
        let engine = isChange ? try await signedIn() : try await device.launchWithTokens()
        device.tokens.set("token.of.bob")
        let (task, gate) = await stuck(engine, "token.of.bob")
        try await engine.signOut()
        await #expect(throws: RichPushError.notSignedIn) { try await task.value }
        #expect(await engine.state == .signedOut)
        #expect(credentials.isEmpty)
        await #expect(throws: RichPushError.notSignedIn) { try await engine.refresh() }
        await settle()
        #expect(await engine.state == .signedOut)
        #expect(unconfirmed == nil)
        await gate.open()
    }

    @Test("ends with a sign-in by name and password")
    func passwordMeanwhile() async throws {
        let engine = try await device.launchWithTokens()
        await bobOffline(engine)
        #expect(await eventually { device.clock.sleeperCount == 1 })
        device.backend.setOffline(false)
        try await engine.signIn(user: "alice", password: "secret")
        _ = try await engine.refresh()
        await settle()
        #expect(await engine.session?.user == "alice")
        #expect(await !engine.isSignInPending)
    }

    @Test("gives way to a later one, also while it is exchanged")
    func later() async throws {
        let engine = try await device.launchWithTokens()
        let (first, gate) = await stuck(engine, "token.of.alice")
        #expect(try await engine.signIn(token: "token.of.bob").user == "bob")
        await #expect(throws: RichPushError.notSignedIn) { try await first.value }
        #expect(credentials == [credential])
        await gate.open()
    }

    @Test("that was dropped is undone at the server at the next occasion, if it is unreachable then")
    func undoneLater() async throws {
        let (engine, backend) = (try await device.launch(), device.backend)
        backend.script { request in
            guard request.method == "PUT" else { return nil }
            _ = backend.state.with { ScriptedBackend.route(request, &$0) }
            return .failure(.timedOut)
        }
        await #expect(throws: RichPushError.timedOut) { try await engine.signIn(token: "token.of.alice") }
        backend.script { $0.method == "DELETE" ? .failure(.unreachable) : nil }
        try await engine.signOut()
        #expect(credentials == ["credential-2"])
        backend.script(nil)
        _ = try await device.launch()
        #expect(await eventually { credentials.isEmpty })
    }

    // MARK: It waits

    @Test("waits for a sign-out that is under way")
    func busy() async throws {
        let (engine, gate) = (try await signedIn(), Gate())
        device.backend.state.with { $0.gates["installations"] = gate }
        let leaving = Task { try await engine.signOut() }
        #expect(await eventually { await gate.isWaitedAt })
        device.tokens.set("token.of.bob")
        await #expect(throws: RichPushError.busy) { try await engine.signIn(token: "token.of.bob") }
        device.backend.state.with { $0.gates = [:] }
        await gate.open()
        _ = try await leaving.value
        device.clock.advance(by: .seconds(2))
        #expect(await eventually { await engine.session?.user == "bob" })
    }

    @Test("waits for the first unlock of the device")
    func locked() async throws {
        device.isLocked.with { $0 = true }
        let engine = try await device.launchWithTokens()
        device.tokens.set("token.of.alice")
        await #expect(throws: RichPushError.storage(.locked)) { try await engine.signIn(token: "token.of.alice") }
        device.isLocked.with { $0 = false }
        await engine.didUnlock()
        #expect(await eventually { await engine.session?.user == "alice" })
    }

    @Test("that fails for good while it waits says so, and is not wanted any more")
    func failed() async throws {
        let engine = try await device.launch()
        device.backend.setOffline(true)
        await #expect(throws: RichPushError.offline) { try await engine.signIn(token: "token.of.eve") }
        #expect(await engine.state == .signingIn)
        await goOn()
        #expect(await eventually { failures == ["token-rejected"] })
        #expect(await engine.state == .signedOut)
    }

    // MARK: Another user

    @Test("of another user is done before the system has given a device token: the first user's end frees the installation")
    func withoutDeviceToken() async throws {
        let first = try await signedIn()
        let installation = await first.session?.installation
        await first.stop()
        let next = try await device.launch()
        let session = try await next.signIn(token: "token.of.bob")
        #expect(session.user == "bob")
        #expect(session.installation == installation)
        #expect(session.isShared)
        #expect(credentials == [credential])
    }

    @Test("of another user, whom the provider names, begins under a new name when the server does not free the old one")
    func providerWithoutDeviceToken() async throws {
        let first = try await signedIn()
        let installation = await first.session?.installation
        await first.stop()
        let next = try await device.launch(signInToken: { [tokens = device.tokens] need in try tokens.answer(need) })
        device.backend.state.with { $0.credentials = [] }
        device.tokens.set("token.of.bob")
        await #expect(throws: RichPushError.notSignedIn) { try await next.refresh() }
        #expect(await eventually { await next.session?.user == "bob" })
        #expect(await next.session?.installation != installation)
    }

    @Test(
        "of another user is done when the provider ends the first one's session at that moment",
        arguments: [nil, "token.of.bob"])
    func endedMeanwhile(provided: String?) async throws {
        let engine = try await signedIn()
        device.backend.store(7)
        device.backend.setOffline(true)
        try await engine.markRead(id(7))
        device.backend.setOffline(false)
        device.backend.state.with { $0.credentials = [] }
        device.tokens.set(provided)
        #expect(try await engine.signIn(token: "token.of.bob").user == "bob")
        #expect(await !engine.isSignInPending)
        #expect(unconfirmed == nil)
    }

    @Test("sends nothing of the user before in another's name, and the same user's tags and key afterwards")
    func nothingOfTheFirst() async throws {
        let engine = try await signedIn()
        try await engine.setTags(["gold"])
        let key = device.backend.sealingKey
        #expect(key != nil)
        try await engine.signIn(token: "token.of.alice")
        #expect(await eventually { (try? updates("credential-2").last?.tags.map(\.description)) == ["gold"] })
        #expect(try updates("credential-2").last?.sealingKey == key)
        try await engine.signIn(token: "token.of.bob")
        let exchanged = try #require(try updates("token.of.bob").first)
        #expect(exchanged.tags.isEmpty)
        #expect(exchanged.sealingKey == nil)
        #expect(await eventually { (try? updates("credential-3").last?.sealingKey) != nil })
        #expect(try updates("credential-3").last?.sealingKey != key)
    }
}
