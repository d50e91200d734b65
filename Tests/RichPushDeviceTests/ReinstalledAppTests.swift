import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("An app that was removed without a sign-out, and is there again")
struct ReinstalledAppTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    /// Files go with an app, what is in the key chain stays.
    private func reinstall() async throws {
        await (try await device.signedIn()).stop()
        for name in try FileManager.default.contentsOfDirectory(atPath: device.folder.path) {
            try FileManager.default.removeItem(at: device.folder.appendingPathComponent(name))
        }
    }

    private var registrations: [TransportRequest] {
        device.backend.requests.filter { $0.method == "PUT" && $0.url.path.hasPrefix("/api/v1/installations/") }
    }

    /// The server has bound the first id to alice and refuses it to other users.
    private func keepFirstName() throws {
        let held = try #require(registrations.first).url.path
        device.backend.script { request in
            if request.method == "DELETE" { return .failure(.unreachable) }
            return request.method == "PUT" && request.url.path == held ? .success(ScriptedBackend.problem(410)) : nil
        }
    }

    @Test("no user is signed in, nothing is left of the user, and the server gets a sign-out")
    func revoked() async throws {
        try await reinstall()
        let engine = try await device.launch()
        #expect(await engine.session == nil)
        #expect(await eventually { device.secrets.with { $0[.revocation] } == nil })
        let last = try #require(device.backend.requests.last { $0.method == "DELETE" })
        #expect(last.headers["authorization"] == "Bearer credential-1")
        #expect(last.url.path == registrations.first?.url.path)
        #expect(device.backend.state.with { $0.credentials.isEmpty })
        #expect(device.secrets.with { Set($0.keys) } == [.installationID, .servedUser])
    }

    @Test("the same user signs in under the same id, also when the server has not got the sign-out")
    func sameUser() async throws {
        try await reinstall()
        device.backend.setOffline(true)
        let engine = try await device.launch()
        #expect(device.secrets.with { $0[.revocation] } != nil)
        device.backend.setOffline(false)
        try await engine.signIn(user: "alice", password: "secret")
        #expect(Set(registrations.map(\.url.path)).count == 1)
        #expect(device.secrets.with { $0[.revocation] } == nil)
    }

    @Test("another user signs in under a new id, where the server still has the old one for the previous user")
    func anotherUser() async throws {
        try await reinstall()
        try keepFirstName()
        let engine = try await device.launch()
        let session = try await engine.signIn(user: "bob", password: "hidden")
        #expect(session.user == "bob")
        #expect(session.isShared)
        let paths = registrations.map(\.url.path)
        #expect(paths.count == 3 && paths[0] == paths[1] && paths[2] == APIRoute.installation(session.installation))
        #expect(paths[2] != paths[0])
        #expect(device.secrets.with { $0[.installationID] } == session.installation.text)
        #expect(device.secrets.with { $0[.unconfirmedSignIn] } == nil)
        // Alice's revocation is still due, and is sent during bob's session and after his sign-out.
        try await engine.signOut()
        #expect(await engine.revocations().map(\.credential) == ["credential-1", "credential-2"])
        try await engine.signIn(user: "bob", password: "hidden")
        #expect(registrations.last?.url.path == paths[2])
        #expect(await engine.revocations().map(\.credential) == ["credential-1"])
        device.backend.script { $0.method == "DELETE" ? .success(TransportResponse(status: 204)) : nil }
        _ = try await device.launch()
        #expect(await eventually { device.secrets.with { $0[.revocation] } == nil })
        let revocation = try #require(device.backend.requests.last { $0.method == "DELETE" })
        #expect(revocation.url.path == paths[0] && revocation.headers["authorization"] == "Bearer credential-1")
        #expect(await (try await device.launch()).session?.user == "bob")
    }

    @Test(
        "an earlier unconfirmed sign-in is still to be undone beside the session under the new id, which knows that it is shared"
    )
    func unconfirmed() async throws {
        let first = try await device.launch()
        device.backend.script { $0.method == "PUT" ? .failure(.timedOut) : .failure(.unreachable) }
        await #expect(throws: RichPushError.timedOut) { try await first.signIn(user: "alice", password: "secret") }
        await first.stop()
        try keepFirstName()
        let engine = try await device.launch()
        let session = try await engine.signIn(user: "bob", password: "hidden")
        #expect(session.isShared)
        #expect(await engine.unconfirmed().map(\.user) == ["alice"])
        let held = try #require(registrations.first).url.path
        device.backend.script { $0.method == "DELETE" ? .success(TransportResponse(status: 204)) : nil }
        _ = try await device.launch()
        #expect(await eventually { device.secrets.with { $0[.unconfirmedSignIn] } == nil })
        #expect(device.backend.requests.last { $0.method == "DELETE" }?.url.path == held)
    }

    @Test("a server that has every name for others is asked twice and no more")
    func refused() async throws {
        try await reinstall()
        device.backend.script { $0.method == "PUT" ? .success(ScriptedBackend.problem(404)) : nil }
        let engine = try await device.launch()
        let before = registrations.count
        await #expect(throws: RichPushError.notFound) { try await engine.signIn(user: "bob", password: "hidden") }
        #expect(registrations.count == before + 2)
        #expect(await engine.session == nil)
    }

    @Test("a sign-in that is answered when its process has ended keeps nothing, and the next process undoes it")
    func stopped() async throws {
        let gate = Gate()
        device.backend.state.with { $0.gates["/installations/"] = gate }
        let engine = try await device.launch()
        let signingIn = Task { try await engine.signIn(user: "alice", password: "secret") }
        #expect(await eventually { await gate.isWaitedAt })
        await engine.stop()
        device.backend.state.with { $0.gates = [:] }
        await gate.open()
        await #expect(throws: RichPushError.busy) { try await signingIn.value }
        #expect(device.files.isEmpty)
        // The next process may have one of its own by now, so a key that was made is not removed by this one.
        #expect(device.secrets.with { Set($0.keys) } == [.installationID, .unconfirmedSignIn, .sealingKey])
        _ = try await device.launch()
        #expect(await eventually { device.secrets.with { Set($0.keys) } == [.installationID] })
        #expect(device.backend.state.with { $0.credentials.isEmpty })
    }
}
