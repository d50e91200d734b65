import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("Signing in and out")
struct SignInTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    @Test("sends the password once, to register, and keeps a narrow credential for everything else")
    func narrowCredential() async throws {
        let engine = try await device.signedIn()
        _ = try await engine.refresh()
        let basic = device.backend.requests.filter { $0.headers["authorization"]?.hasPrefix("Basic ") == true }
        #expect(basic.map(\.method) == ["PUT"])
        let update = try JSONDecoder().decode(InstallationUpdate.self, from: try #require(basic.first?.body))
        #expect(update.handle == "ABCDEF")
        #expect(update.topic == "org.example.app")
        #expect(device.secrets.with { $0[.credential] } == "credential-1")
    }

    @Test("with a wrong password leaves nothing")
    func wrongPassword() async throws {
        let engine = try await device.launch()
        await #expect(throws: RichPushError.wrongPassword) { try await engine.signIn(user: "alice", password: "no") }
        #expect(await engine.session == nil)
        #expect(device.secrets.with { Set($0.keys) } == [.installationID])
        #expect(device.files.isEmpty)
    }

    @Test("refuses a name that could break the header")
    func badName() async throws {
        let engine = try await device.launch()
        await #expect(throws: RichPushError.badUserName) { try await engine.signIn(user: "alice:x", password: "no") }
        #expect(device.backend.requests.isEmpty)
    }

    @Test("does not give the password to the service extension")
    func passwordIsForApp() async throws {
        _ = try await device.signedIn()
        let secrets = try device.ports(isForApp: false).secrets
        #expect(try secrets.secret(.password) == nil)
        #expect(try secrets.secret(.credential) != nil)
    }

    @Test("survives a restart")
    func restart() async throws {
        _ = try await device.signedIn()
        #expect(await (try await device.launch()).session?.user == "alice")
    }

    @Test("out leaves nothing but the installation's name and a digest")
    func leavesNothing() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        _ = await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30))
        _ = await engine.open(id(7))
        _ = try await engine.refresh()
        #expect(!device.files.isEmpty)
        try await engine.signOut()
        #expect(device.files.isEmpty)
        #expect(device.secrets.with { Set($0.keys) } == [.installationID, .servedUser])
        #expect(device.secrets.with { $0[.servedUser]?.contains("alice") } == false)
        #expect(await device.notifications.isCleared)
        #expect(await device.notifications.badge == 0)
        #expect(device.backend.requests.last?.method == "DELETE")
        #expect(await engine.open(id(7)).state == .failed(.notSignedIn))
    }

    @Test("out while offline works at once, and the server gets it at the next launch")
    func offline() async throws {
        let engine = try await device.signedIn()
        device.backend.setOffline(true)
        try await engine.signOut()
        #expect(device.files.isEmpty)
        #expect(device.secrets.with { Set($0.keys) } == [.installationID, .servedUser, .revocation])
        device.backend.setOffline(false)
        _ = try await device.launch()
        #expect(await eventually { device.secrets.with { $0[.revocation] } == nil })
        #expect(device.backend.state.with { $0.credentials.isEmpty })
    }

    @Test("out while offline is sent to the server as soon as the app comes back, without a new launch")
    func sentInForeground() async throws {
        let engine = try await device.signedIn()
        device.backend.setOffline(true)
        try await engine.signOut()
        device.backend.setOffline(false)
        await #expect(throws: RichPushError.notSignedIn) { try await engine.refresh() }
        #expect(await eventually { device.secrets.with { $0[.revocation] } == nil })
        #expect(device.backend.state.with { $0.credentials.isEmpty })
    }

    @Test("in again forgets a sign-out that the server has not got, since it would end the new one")
    func revocationForgotten() async throws {
        let engine = try await device.signedIn()
        device.backend.setOffline(true)
        try await engine.signOut()
        device.backend.setOffline(false)
        try await engine.signIn(user: "alice", password: "secret")
        _ = try await device.launch()
        #expect(device.secrets.with { $0[.revocation] } == nil)
        #expect(device.backend.state.with { $0.credentials } == ["credential-2"])
    }

    /// An app in which a sign-in reached the server and its answer did not come back.
    private func lostAnswer(_ failure: TransportError = .timedOut) async throws -> RichPushEngine {
        let engine = try await device.launch()
        let backend = device.backend
        backend.script { request in
            guard request.method == "PUT" else { return nil }
            _ = backend.state.with { ScriptedBackend.route(request, &$0) }
            return .failure(failure)
        }
        await #expect(throws: RichPushError.self) { try await engine.signIn(user: "alice", password: "secret") }
        backend.script(nil)
        #expect(await engine.session == nil)
        return engine
    }

    private var credentials: Set<String> { device.backend.state.with { $0.credentials } }
    private var unconfirmed: String? { device.secrets.with { $0[.unconfirmedSignIn] } }

    @Test(
        "in whose answer was lost is undone at the next occasion: nothing is sent to a phone on which no user is signed in",
        arguments: [TransportError.timedOut, .unreachable])
    func lost(failure: TransportError) async throws {
        let engine = try await lostAnswer(failure)
        #expect(credentials == ["credential-1"])
        await #expect(throws: RichPushError.notSignedIn) { try await engine.refresh() }
        #expect(await eventually { unconfirmed == nil })
        #expect(credentials.isEmpty)
    }

    @Test("in whose answer was lost is undone in the background too, and over a launch")
    func lostOverLaunch() async throws {
        await (try await lostAnswer()).stop()
        device.backend.setOffline(true)
        let engine = try await device.launch()
        #expect(await engine.handleBackgroundRefresh(budget: .seconds(25)) == false)
        device.backend.setOffline(false)
        #expect(await engine.handleBackgroundRefresh(budget: .seconds(25)))
        #expect(credentials.isEmpty)
        #expect(unconfirmed == nil)
    }

    @Test("in again after a lost answer is not undone, neither while the server is asked nor afterwards")
    func lostAndAgain() async throws {
        let engine = try await lostAnswer()
        let gate = Gate()
        device.backend.state.with { $0.gates["installations"] = gate }
        let again = Task { try await engine.signIn(user: "alice", password: "secret") }
        #expect(await eventually { await gate.isWaitedAt })
        await #expect(throws: RichPushError.notSignedIn) { try await engine.refresh() }
        await settle()
        #expect(device.backend.count("DELETE", "") == 0)
        await gate.open()
        _ = try await again.value
        #expect(unconfirmed == nil)
        #expect(credentials == ["credential-2"])
        _ = try await device.launch().refresh()
        #expect(credentials == ["credential-2"])
    }

    @Test("in with a wrong password after a lost answer leaves that one to be undone, for a week and no longer")
    func lostThenWrong() async throws {
        let engine = try await lostAnswer()
        await #expect(throws: RichPushError.wrongPassword) { try await engine.signIn(user: "alice", password: "no") }
        #expect(unconfirmed?.contains("secret") == true)
        #expect(unconfirmed?.contains("\"no\"") == false)
        device.clock.advance(by: .seconds(7 * 86_400))
        _ = try await device.launch()
        #expect(await eventually { unconfirmed == nil })
        #expect(credentials == ["credential-1"])
    }

    @Test("out is bounded: a stuck server does not hold it up")
    func stuckServer() async throws {
        let engine = try await device.signedIn()
        let gate = Gate()
        device.backend.state.with { $0.gates["installations"] = gate }
        let task = Task { try await engine.signOut() }
        #expect(await eventually { device.backend.count("DELETE", "") == 1 && device.clock.sleeperCount > 0 })
        #expect(device.files.isEmpty)
        device.clock.advance(by: .seconds(5))
        #expect(try await task.value.isComplete)
        await gate.open()
    }

    @Test("out while a fetch is under way: what arrives later is not kept")
    func lateFetch() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        let gate = Gate()
        device.backend.state.with { $0.gates["notifications/7"] = gate }
        let push = Task { await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) }
        #expect(await eventually { device.backend.count("GET", "/details") == 1 })
        try await engine.signOut()
        try await engine.signIn(user: "bob", password: "hidden")
        await gate.open()
        #expect(await push.value == .noData)
        #expect(await device.notifications.presented.isEmpty)
        #expect(!device.files.contains { (try? Data(contentsOf: URL(fileURLWithPath: $0))) == Samples.png(1) })
        #expect(try await engine.inbox().entries.isEmpty)
    }

    @Test("as another user signs the first one out")
    func anotherUser() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        _ = await engine.open(id(7))
        try await engine.signIn(user: "bob", password: "hidden")
        #expect(await engine.session?.user == "bob")
        #expect(!device.files.contains { (try? Data(contentsOf: URL(fileURLWithPath: $0))) == Samples.png(1) })
    }

    @Test("out that was cut off in the middle is finished at the next launch")
    func cutOff() async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        _ = await engine.open(id(7))
        try FileManager.default.removeItem(at: device.folder.appendingPathComponent("records/session.json"))
        #expect(await (try await device.launch()).session == nil)
        #expect(device.files.isEmpty)
        #expect(device.secrets.with { $0[.credential] } == nil)
    }

    @Test("is renewed with the kept password when the server no longer takes the credential")
    func renewed() async throws {
        let engine = try await device.signedIn()
        device.backend.state.with { $0.credentials = [] }
        _ = try await engine.refresh()
        #expect(device.secrets.with { $0[.credential] } == "credential-2")
    }

    @Test("ends when the server no longer takes the credential and no password is kept")
    func rejected() async throws {
        var configuration = try TestDevice.configuration()
        configuration.keepsPasswordForSending = false
        let engine = try await device.launch(configuration)
        try await engine.signIn(user: "alice", password: "secret")
        #expect(device.secrets.with { $0[.password] } == nil)
        device.backend.state.with { $0.credentials = [] }
        await #expect(throws: RichPushError.credentialRejected) { try await engine.refresh() }
        #expect(await engine.session?.isRejected == true)
        let count = device.backend.requests.count
        #expect(await engine.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) == .noData)
        #expect(device.backend.requests.count == count)
        await #expect(throws: RichPushError.credentialRejected) { try await engine.sendPush() }
    }
}
