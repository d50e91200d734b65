import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("Signing in with a token")
struct TokenSignInTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    private var credentials: Set<String> { device.backend.state.with { $0.credentials } }
    private var credential: String? { device.secrets.with { $0[.credential] } }
    private var unconfirmed: String? { device.secrets.with { $0[.unconfirmedSignIn] } }
    private func exchanges(_ token: String) -> Int {
        device.backend.requests.count { $0.method == "PUT" && $0.headers["authorization"] == "Bearer \(token)" }
    }

    /// An app with accounts of its own, in which alice is signed in.
    private func signedIn() async throws -> RichPushEngine {
        let engine = try await device.launchWithTokens()
        device.tokens.set("token.of.alice")
        try await engine.signIn(token: "token.of.alice")
        return engine
    }

    /// The server exchanges a token, and its answer does not arrive.
    private func loseAnswers() {
        let backend = device.backend
        backend.script { request in
            guard request.method == "PUT" else { return nil }
            _ = backend.state.with { ScriptedBackend.route(request, &$0) }
            return .failure(.timedOut)
        }
    }

    // MARK: The exchange

    @Test("exchanges it once, and everything else is done with the credential")
    func exchanged() async throws {
        let engine = try await signedIn()
        _ = try await engine.refresh()
        #expect(await engine.session?.user == "alice")
        #expect(exchanges("token.of.alice") == 1)
        #expect(credential == "credential-1")
        #expect(device.tokens.needs.isEmpty)
    }

    @Test("keeps the token nowhere on the device")
    func notKept() async throws {
        _ = try await signedIn()
        #expect(device.secrets.with { secrets in !secrets.values.contains { $0.contains("token.of") } })
        for file in device.files {
            #expect(try !String(decoding: Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self).contains("token.of"))
        }
        #expect(!"\(Authorization.token("token.of.alice"))".contains("alice"))
    }

    @Test("survives a restart, without the app's accounts being asked")
    func restart() async throws {
        _ = try await signedIn()
        #expect(await (try await device.launchWithTokens()).session?.user == "alice")
        #expect(device.tokens.needs.isEmpty)
    }

    @Test(
        "refuses a text that could break a header",
        arguments: ["", "a b", "a\r\nx: y", "å", String(repeating: "a", count: 16_385)])
    func badToken(text: String) async throws {
        let engine = try await device.launchWithTokens()
        await #expect(throws: RichPushError.badToken) { try await engine.signIn(token: text) }
        #expect(device.backend.requests.isEmpty)
    }

    @Test("that the server refuses says why, leaves nothing, and is not tried again")
    func refused() async throws {
        let engine = try await device.launchWithTokens()
        let problem = try JSONDecoder().decode(Problem.self, from: ScriptedBackend.problem(401).body)
        await #expect(throws: RichPushError.tokenRejected(problem)) { try await engine.signIn(token: "token.of.eve") }
        #expect(RichPushError.tokenRejected(problem).remedy == .signIn)
        #expect(device.secrets.with { Set($0.keys) } == [.installationID])
        #expect(await !engine.isSignInPending)
    }

    @Test("whose user name another account has is refused for good")
    func nameTaken() async throws {
        let engine = try await device.launchWithTokens()
        device.backend.script { $0.method == "PUT" ? .success(ScriptedBackend.problem(409)) : nil }
        await #expect(throws: RichPushError.self) { try await engine.signIn(token: "token.of.alice") }
        #expect(await !engine.isSignInPending)
    }

    // MARK: Offline

    @Test("while offline goes on by itself until the server answers")
    func offline() async throws {
        let engine = try await device.launch()
        device.backend.setOffline(true)
        await #expect(throws: RichPushError.offline) { try await engine.signIn(token: "token.of.alice") }
        #expect(await engine.state == .signingIn)
        #expect(unconfirmed?.contains("token.of") == false)
        #expect(await eventually { device.clock.sleeperCount == 1 })
        device.backend.setOffline(false)
        device.clock.advance(by: .seconds(2))
        #expect(await eventually { await engine.session?.user == "alice" })
        #expect(unconfirmed == nil)
    }

    @Test("while offline goes on in the next process with a new token from the app")
    func offlineOverLaunch() async throws {
        let first = try await device.launchWithTokens()
        device.backend.setOffline(true)
        await #expect(throws: RichPushError.offline) { try await first.signIn(token: "token.of.alice") }
        await first.stop()
        device.backend.setOffline(false)
        device.tokens.set("token.of.alice")
        let next = try await device.launchWithTokens()
        #expect(await eventually { await next.session?.user == "alice" })
        #expect(device.tokens.needs.map(\.user) == [nil])
    }

    @Test("while offline ends when the app has no user any more")
    func offlineThenNobody() async throws {
        let first = try await device.launchWithTokens()
        device.backend.setOffline(true)
        await #expect(throws: RichPushError.offline) { try await first.signIn(token: "token.of.alice") }
        await first.stop()
        device.backend.setOffline(false)
        let next = try await device.launchWithTokens()
        #expect(await eventually { await !next.isSignInPending })
        #expect(await next.session == nil)
        #expect(unconfirmed == nil)
    }

    @Test("whose answer was lost is finished, not undone")
    func lostAnswer() async throws {
        let engine = try await device.launch()
        loseAnswers()
        await #expect(throws: RichPushError.timedOut) { try await engine.signIn(token: "token.of.alice") }
        device.backend.script(nil)
        #expect(await eventually { device.clock.sleeperCount == 1 })
        device.clock.advance(by: .seconds(2))
        #expect(await eventually { await engine.session?.user == "alice" })
        #expect(device.backend.count("DELETE", "") == 0)
        #expect(credentials == [credential])
    }

    @Test("whose answer was lost is undone by a sign-out")
    func lostThenSignedOut() async throws {
        let engine = try await device.launch()
        loseAnswers()
        await #expect(throws: RichPushError.timedOut) { try await engine.signIn(token: "token.of.alice") }
        device.backend.script(nil)
        try await engine.signOut()
        #expect(credentials.isEmpty)
        #expect(unconfirmed == nil)
        #expect(await !engine.isSignInPending)
    }

    // MARK: A new token is needed

    @Test("asks the app for a new one when the server refuses the credential")
    func renewed() async throws {
        let engine = try await signedIn()
        device.backend.state.with { $0.credentials = [] }
        _ = try await engine.refresh()
        #expect(credential == "credential-2")
        #expect(device.tokens.needs.map(\.user) == ["alice"])
    }

    @Test("keeps the session while the app cannot give a token, and goes on when it can")
    func unavailable() async throws {
        let engine = try await signedIn()
        device.backend.state.with { $0.credentials = [] }
        device.tokens.fail()
        await #expect(throws: RichPushError.tokenUnavailable) { try await engine.refresh() }
        #expect(await engine.session?.isRejected == false)
        device.tokens.set("token.of.alice")
        _ = try await engine.refresh()
        #expect(credential == "credential-2")
    }

    @Test("stops fetching when the server refuses the new token too, and goes on with the next that it takes")
    func revived() async throws {
        let engine = try await signedIn()
        device.backend.state.with { $0.credentials = [] }
        device.tokens.set("token.of.eve")
        await #expect(throws: RichPushError.self) { try await engine.refresh() }
        let rejected = try #require(await engine.session)
        #expect(await engine.state == .signInNeeded(rejected))
        #expect(device.log.kinds.contains(.rejected))
        device.tokens.set("token.of.alice")
        _ = try await engine.refresh()
        #expect(await engine.session?.isRejected == false)
    }

    @Test("that the provider no longer has ends the session: the app has no user any more")
    func deleted() async throws {
        let engine = try await signedIn()
        device.backend.store(7)
        _ = await engine.open(id(7))
        device.backend.state.with { $0.credentials = [] }
        device.tokens.set(nil)
        await #expect(throws: RichPushError.notSignedIn) { try await engine.refresh() }
        #expect(await engine.session == nil)
        #expect(device.files.isEmpty)
        #expect(device.secrets.with { Set($0.keys) } == [.installationID, .servedUser])
        #expect(await device.notifications.isCleared)
    }

    // MARK: Another account

    @Test("of the same user renews the credential and leaves everything where it is")
    func sameUser() async throws {
        let engine = try await signedIn()
        device.backend.store(7)
        _ = try await engine.refresh()
        let before = await engine.session
        #expect(try await engine.signIn(token: "token.of.alice") == before)
        #expect(credential == "credential-2")
        #expect(try await engine.inbox().entries.map(\.id) == [id(7)])
    }

    @Test("of another user sends what waits, and leaves nothing of the first")
    func otherUser() async throws {
        let engine = try await signedIn()
        device.backend.store(7)
        _ = await engine.open(id(7))
        let session = try await engine.signIn(token: "token.of.bob")
        #expect(session.user == "bob")
        #expect(session.isShared)
        #expect(device.backend.state.with { $0.reads } == [id(7)])
        #expect(!device.files.contains { (try? Data(contentsOf: URL(fileURLWithPath: $0))) == Samples.png(1) })
        #expect(try await engine.inbox().entries.isEmpty)
        #expect(await device.notifications.isCleared)
    }

    @Test("of another user while offline goes on by itself, and the first one stays until then")
    func otherUserOffline() async throws {
        let engine = try await signedIn()
        device.backend.setOffline(true)
        device.tokens.set("token.of.bob")
        await #expect(throws: RichPushError.offline) { try await engine.signIn(token: "token.of.bob") }
        #expect(await engine.session?.user == "alice")
        #expect(await eventually { device.clock.sleeperCount == 1 })
        device.backend.setOffline(false)
        device.clock.advance(by: .seconds(2))
        #expect(await eventually { await engine.session?.user == "bob" })
        #expect(await !engine.isSignInPending)
    }

    @Test("of another user while offline is not wanted any more after a sign-out")
    func otherUserThenSignedOut() async throws {
        let engine = try await signedIn()
        device.backend.setOffline(true)
        await #expect(throws: RichPushError.offline) { try await engine.signIn(token: "token.of.bob") }
        device.backend.setOffline(false)
        try await engine.signOut()
        #expect(await engine.state == .signedOut)
        #expect(credentials.isEmpty)
    }

    @Test("of another user, given when the credential was refused, does nothing in that user's name for the first")
    func otherUserAtRenewal() async throws {
        let engine = try await signedIn()
        device.backend.store(7)
        device.backend.state.with { $0.credentials = [] }
        device.tokens.set("token.of.bob")
        try await engine.markRead(id(7))
        #expect(await engine.session?.user == "bob")
        #expect(device.backend.state.with { $0.reads }.isEmpty)
    }
}
