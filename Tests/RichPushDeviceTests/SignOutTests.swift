import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("What waits for the server when its user signs out")
struct SignOutTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    private func answer(_ text: String, to number: Int32 = 7) -> NotificationResponse {
        NotificationResponse(identifier: "rich-\(number)", richID: id(number), action: .reply(text))
    }

    /// An app in which alice answered as often as there are texts, without a network.
    private func answered(_ texts: String...) async throws -> RichPushEngine {
        let app = try await device.signedIn()
        device.backend.store(7)
        _ = try await app.refresh()
        device.backend.setOffline(true)
        for text in texts { await app.didRespond(answer(text)) }
        device.backend.setOffline(false)
        return app
    }

    private var sent: [TransportRequest] {
        device.backend.requests.filter { $0.method == "POST" && $0.url.path.hasSuffix("/7/replies") }
    }

    private func texts(since count: Int) throws -> [String] {
        try sent.dropFirst(count).map { try JSONDecoder().decode(Reply.self, from: $0.body ?? Data()).text }
    }

    private var losses: [DeviceEvent] { device.log.all.filter { $0.kind == .undelivered } }

    @Test("goes first, with the credential that the sign-out then ends")
    func delivered() async throws {
        let app = try await answered("Yes", "No")
        let before = sent.count
        let result = try await app.signOut()
        #expect(result.isComplete)
        #expect(result == SignOutResult())
        #expect(losses.isEmpty)
        #expect(try Set(texts(since: before)) == ["Yes", "No"])
        #expect(device.receipts(.action) == [id(7)])
        #expect(device.backend.state.with { $0.reads } == [id(7)])
        #expect(device.backend.requests.last?.method == "DELETE")
        #expect(device.backend.requests.suffix(5).allSatisfy { $0.headers["authorization"] == "Bearer credential-1" })
        #expect(device.backend.state.with { $0.credentials.isEmpty })
        #expect(device.files.isEmpty)
    }

    @Test("and cannot be sent is counted for the user who signs out, and nothing of it stays")
    func offline() async throws {
        let app = try await answered("Yes", "No")
        device.backend.setOffline(true)
        let result = try await app.signOut()
        // The receipt of the button, and the mark that it was read.
        #expect(result == SignOutResult(lostReplies: 2, lostNotes: 2))
        #expect(!result.isComplete)
        #expect(losses.map(\.detail) == [["replies": "2", "notes": "2"]])
        #expect(device.files.isEmpty)
        #expect(device.secrets.with { Set($0.keys) } == [.installationID, .servedUser, .revocation])
        device.backend.setOffline(false)
        let before = sent.count
        let again = try await device.launch()
        try await again.signIn(user: "alice", password: "secret")
        _ = try await again.refresh()
        #expect(sent.count == before)
    }

    @Test("is off the device before anything is sent, and a stuck server holds up neither the sign-out nor its own notice of it")
    func stuck() async throws {
        let app = try await answered("Yes")
        let (gate, before) = (Gate(), sent.count)
        device.backend.state.with { $0.gates["replies"] = gate }
        let task = Task { try await app.signOut() }
        #expect(await eventually { sent.count == before + 1 && device.clock.sleeperCount > 0 })
        #expect(device.files.isEmpty)
        #expect(device.log.all.contains { $0.kind == .signedOut })
        #expect(await app.session == nil)
        #expect(device.backend.count("DELETE", "") == 0)
        device.clock.advance(by: .seconds(3))
        #expect(try await task.value == SignOutResult(lostReplies: 1, lostNotes: 2))
        #expect(device.backend.state.with { $0.credentials.isEmpty })
        await gate.open()
    }

    @Test("and is refused for good is lost; what a server fails over does not hold up the rest", arguments: [400, 404, 500])
    func refused(status: Int) async throws {
        let app = try await answered("Yes", "No")
        device.backend.script { request in
            let isFirst = request.body.map { String(decoding: $0, as: UTF8.self).contains("Yes") } == true
            return isFirst ? .success(ScriptedBackend.problem(status)) : nil
        }
        let before = sent.count
        #expect(try await app.signOut() == SignOutResult(lostReplies: 1))
        #expect(try Set(texts(since: before)) == ["Yes", "No"])
        #expect(device.receipts(.action) == [id(7)])
    }

    @Test("takes no password with it when the server no longer takes the credential: it is lost, and said to be")
    func credentialRefused() async throws {
        let app = try await answered("Yes")
        device.backend.state.with { $0.credentials = [] }
        let puts = device.backend.requests.count { $0.method == "PUT" }
        #expect(try await app.signOut() == SignOutResult(lostReplies: 1, lostNotes: 2))
        #expect(device.backend.requests.count { $0.method == "PUT" } == puts)
    }

    @Test("in a session that the server has ended is not even tried")
    func rejected() async throws {
        let app = try await answered("Yes")
        device.backend.state.with { state in
            state.credentials = []
            state.passwords = [:]
        }
        await #expect(throws: RichPushError.credentialRejected) { try await app.refresh() }
        let before = sent.count
        #expect(try await app.signOut() == SignOutResult(lostReplies: 1, lostNotes: 2))
        #expect(sent.count == before)
    }

    @Test("and is too old to be sent is lost too")
    func tooOld() async throws {
        let app = try await answered("Yes")
        device.clock.advance(by: .seconds(8 * 86_400))
        let before = sent.count
        #expect(try await app.signOut() == SignOutResult(lostReplies: 1))
        #expect(sent.count == before)
    }

    @Test("is reported by an event when another user signs in over the one who replied")
    func anotherUser() async throws {
        let app = try await answered("Yes")
        device.backend.script { $0.url.path.hasSuffix("/replies") ? .failure(.unreachable) : nil }
        try await app.signIn(user: "bob", password: "hidden")
        #expect(losses.map(\.detail) == [["replies": "1", "notes": "2"]])
        #expect(await app.session?.user == "bob")
    }

    @Test("with an answer that was written before the first unlock is counted with the rest")
    func beforeFirstUnlock() async throws {
        await (try await device.signedIn()).stop()
        device.storeIsLocked.with { $0 = true }
        let app = try await device.launch()
        await app.didRespond(answer("Yes"))
        // A session that cannot be read cannot be signed out, and the call does not claim that it was.
        await #expect(throws: RichPushError.storage(.locked)) { try await app.signOut() }
        device.storeIsLocked.with { $0 = false }
        #expect(try await app.signOut() == SignOutResult(lostReplies: 1))
        #expect(device.files.isEmpty)
    }

    @Test("of hundreds of receipts goes in batches")
    func batches() async throws {
        let app = try await device.signedIn()
        let session = try #require(await app.session)
        let outbox = Outbox(store: try device.ports().store, limits: DeviceLimits())
        for number: Int32 in 1...250 {
            let receipt = Receipt(richID: id(number), kind: .delivered, at: device.clock.now)
            try outbox.add(receipt, of: session)
        }
        #expect(try await app.signOut().isComplete)
        #expect(device.receipts(.delivered).count == 250)
        #expect(device.backend.count("POST", APIRoute.receipts) == 3)
    }
}
