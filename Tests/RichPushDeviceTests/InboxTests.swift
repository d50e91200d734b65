import Foundation
import RichPushModel
import Testing

@testable import RichPushDevice

@Suite("Inbox and outbox")
struct InboxTests {
    let device: TestDevice

    init() throws { device = try TestDevice() }

    @Test("after being offline holds everything, although only the newest push came through")
    func catchesUp() async throws {
        let engine = try await device.signedIn()
        for number: Int32 in 1...5 { device.backend.store(number) }
        _ = await engine.handleBackgroundPush(Samples.silent(5), budget: .seconds(30))
        #expect(try await engine.inbox().entries.map(\.id) == [id(5)])
        let inbox = try await engine.refresh()
        #expect(inbox.entries.map(\.id) == [5, 4, 3, 2, 1].map { id($0) })
        #expect(inbox.unread == 5)
        #expect(await device.notifications.badge == 5)
    }

    @Test("forgets what was recalled, with its content and its notification")
    func recalled() async throws {
        let engine = try await device.signedIn()
        device.backend.store(1)
        device.backend.store(2)
        _ = await engine.handleBackgroundPush(Samples.silent(1), budget: .seconds(30))
        _ = try await engine.refresh()
        device.backend.state.with { $0.stored[id(1)] = nil }
        #expect(try await engine.refresh().entries.map(\.id) == [id(2)])
        #expect(await device.notifications.removed == ["rich-1"])
        #expect(!device.files.contains { (try? Data(contentsOf: URL(fileURLWithPath: $0))) == Samples.png(1) })
    }

    @Test("loses nothing that arrived between two refreshes, whose answers would come in the other order")
    func overlapping() async throws {
        let engine = try await device.signedIn()
        device.backend.store(1)
        let backend = device.backend
        let (slow, count) = (Gate(), Locked(0))
        backend.state.with { $0.gates["notifications$"] = slow }
        let old = ScriptedBackend.json(InboxPage(notifications: [Samples.entry(1, bytes: Samples.png(1))], unread: 1), 200)
        // The first question is answered as things were when it was asked.
        backend.script { request in
            guard request.method == "GET", request.url.path == APIRoute.notifications else { return nil }
            return count.with { count in
                count += 1
                return count == 1 ? .success(old) : nil
            }
        }
        let first = Task { try? await engine.refresh().entries.map(\.id) }
        #expect(await eventually { backend.count("GET", "/notifications") == 1 })
        backend.store(2)
        #expect(await engine.handleBackgroundPush(Samples.silent(2), budget: .seconds(30)) == .newData)
        backend.state.with { $0.gates = [:] }
        let started = Locked(0)
        let others = (0..<3).map { _ in
            Task {
                started.with { $0 += 1 }
                return try? await engine.refresh().entries.map(\.id)
            }
        }
        #expect(await eventually { await engine.nextRefresh != nil && started.with { $0 } == 3 })
        await settle()
        #expect(backend.count("GET", "/notifications") == 1)
        await slow.open()
        _ = await first.value
        for other in others { #expect(await other.value == [id(2), id(1)]) }
        #expect(backend.count("GET", "/notifications") == 2)
        #expect(try await engine.inbox().entries.map(\.id) == [id(2), id(1)])
        #expect(await device.notifications.removed.isEmpty)
        #expect(await engine.isDownloaded(id(2)))
    }

    @Test("can be refreshed again after a sign-out ended a refresh under way")
    func endedLook() async throws {
        let engine = try await device.signedIn()
        let stuck = Gate()
        device.backend.state.with { $0.gates["notifications$"] = stuck }
        let looks = [Task { try? await engine.refresh() }, Task { try? await engine.refresh() }]
        #expect(await eventually { device.backend.count("GET", "/notifications") == 1 })
        try await engine.signOut()
        device.backend.state.with { $0.gates = [:] }
        try await engine.signIn(user: "bob", password: "hidden")
        device.backend.store(3)
        #expect(try await engine.refresh().entries.map(\.id) == [id(3)])
        await stuck.open()
        for look in looks { _ = await look.value }
        #expect(try await engine.refresh().entries.map(\.id) == [id(3)])
    }

    @Test("keeps receipts while offline, over a restart, and sends each once")
    func receiptsSurvive() async throws {
        let first = try await device.signedIn()
        device.backend.setOffline(true)
        for _ in 0..<3 { _ = await first.handleBackgroundPush(Samples.silent(7), budget: .seconds(30)) }
        await first.stop()
        device.backend.setOffline(false)
        let engine = try await device.launch()
        _ = try await engine.refresh()
        #expect(device.receipts(.delivered) == [id(7)])
        #expect(device.receipts(.failed) == [id(7)])
        _ = try await engine.refresh()
        #expect(device.receipts(.delivered).count == 1)
    }

    @Test("drops receipts that the server will never take, one by one, and keeps the others")
    func badReceipt() async throws {
        let engine = try await device.signedIn()
        device.backend.setOffline(true)
        for number: Int32 in 1...3 { _ = await engine.handleBackgroundPush(Samples.visible(number), budget: .seconds(30)) }
        device.backend.setOffline(false)
        device.backend.script { request in
            guard request.url.path.hasSuffix("/receipts"), let body = request.body,
                let batch = try? JSONDecoder().decode(ReceiptBatch.self, from: body),
                batch.receipts.contains(where: { $0.richID == id(2) })
            else { return nil }
            return .success(ScriptedBackend.problem(400))
        }
        _ = try await engine.refresh()
        #expect(Set(device.receipts(.delivered)) == [id(1), id(3)])
        let count = device.backend.count("POST", "/receipts")
        _ = try await engine.refresh()
        #expect(device.backend.count("POST", "/receipts") == count)
    }

    /// Answers that say nothing of what was asked for: of what stands before the server, and of a server that wants it again.
    static let passing = [404, 410, 408, 425].map { TransportResponse(status: $0, body: Data("<html>default backend".utf8)) }

    @Test("keeps what waits for the server when something else answers in its place, and loses none of it", arguments: passing)
    func rollout(_ answer: TransportResponse) async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        _ = try await engine.refresh()
        device.backend.script { _ in .success(answer) }
        await engine.didRespond(NotificationResponse(identifier: "rich-7", richID: id(7), action: .reply("Yes")))
        #expect(await device.notifications.presented.isEmpty)
        guard case .missing = await engine.open(id(7)).state else {
            Issue.record("it can be opened again")
            return
        }
        #expect(try await engine.inbox().entries.map(\.id) == [id(7)])
        let replies = Locked<[Data?]>([])
        device.backend.script { request in
            guard request.url.path.hasSuffix("/replies") else { return nil }
            replies.with { $0.append(request.body) }
            return .success(TransportResponse(status: 204))
        }
        _ = try await engine.refresh()
        #expect(replies.with { $0.count } == 1)
        #expect(device.backend.state.with { $0.reads } == [id(7)])
        #expect(device.receipts(.action) == [id(7)])
        #expect(await engine.open(id(7)).state == .ready)
    }

    @Test("treats something as permanently gone only when the server itself says so", arguments: ["unknown-route", "not-found"])
    func gone(code: String) async throws {
        let engine = try await device.signedIn()
        device.backend.store(7)
        _ = try await engine.refresh()
        let problem = Problem(type: "about:blank", title: "No", status: 404, detail: nil, code: code)
        device.backend.script { $0.url.path.hasSuffix("/7") ? .success(ScriptedBackend.json(problem, 404)) : nil }
        let state = await engine.open(id(7)).state
        #expect(state == .failed(code == "not-found" ? .recalled : .refused(problem)))
        #expect(try await engine.inbox().entries.isEmpty == (code == "not-found"))
    }

    @Test("sends at most a hundred receipts at once")
    func batches() async throws {
        let engine = try await device.signedIn()
        let session = try #require(await engine.session)
        let outbox = Outbox(store: try device.ports().store, limits: DeviceLimits())
        for number: Int32 in 1...250 {
            try outbox.add(Receipt(richID: id(number), kind: .delivered, at: device.clock.now), of: session)
        }
        _ = try await engine.refresh()
        let sizes = device.backend.requests.filter { $0.url.path.hasSuffix("/receipts") }.compactMap { request in
            request.body.flatMap { try? JSONDecoder().decode(ReceiptBatch.self, from: $0).receipts.count }
        }
        #expect(sizes == [100, 100, 50])
    }

    @Test("drops what is older than a week or more than the outbox holds, the oldest first")
    func bounds() throws {
        var limits = DeviceLimits()
        limits.outboxCount = 3
        let store = try device.ports().store
        let session = Session(id: SessionID("s")!, user: "a", installation: InstallationID("i")!, signedInAt: device.clock.now)
        try store.begin(session)
        let outbox = Outbox(store: store, limits: limits)
        for number: Int32 in 1...5 {
            let at = device.clock.now + .seconds(Int64(number))
            try outbox.add(Receipt(richID: id(number), kind: .delivered, at: at), of: session)
        }
        #expect(try outbox.items(of: session, now: device.clock.now).count == 3)
        #expect(try store.records(.outbox, of: session.id, limit: 100).count == 3)
        #expect(try outbox.items(of: session, now: device.clock.now + .seconds(8 * 86_400)).isEmpty)
        #expect(try store.records(.outbox, of: session.id, limit: 100).isEmpty)
    }

    @Test("keeps replies, however many receipts were noted since")
    func repliesStay() throws {
        var limits = DeviceLimits()
        limits.outboxCount = 3
        let store = try device.ports().store
        let session = Session(id: SessionID("s")!, user: "a", installation: InstallationID("i")!, signedInAt: device.clock.now)
        try store.begin(session)
        let outbox = Outbox(store: store, limits: limits)
        try outbox.addReply(Reply(id: "r", text: "See you"), to: id(1), at: device.clock.now, of: session)
        for number: Int32 in 1...5 {
            let at = device.clock.now + .seconds(Int64(number))
            try outbox.add(Receipt(richID: id(number), kind: .delivered, at: at), of: session)
        }
        let items = try outbox.items(of: session, now: device.clock.now)
        #expect(items.count == 3)
        #expect(items.first?.reply?.reply.text == "See you")
        #expect(try store.records(.outbox, of: session.id, limit: 100).count == 3)
    }

    @Test("reads page after page and asks with an escaped cursor")
    func pages() async throws {
        let engine = try await device.signedIn()
        device.backend.script { request in
            guard request.method == "GET", request.url.path == APIRoute.notifications else { return nil }
            let isFirst = request.url.query?.contains("before") == false
            let entry = Samples.entry(isFirst ? 2 : 1, bytes: nil)
            return .success(
                ScriptedBackend.json(InboxPage(notifications: [entry], unread: 2, next: isFirst ? "a&b=c" : nil), 200))
        }
        #expect(try await engine.refresh().entries.map(\.id) == [id(2), id(1)])
        #expect(device.backend.requests.last?.url.absoluteString.hasSuffix("?limit=100&before=a%26b%3Dc") == true)
    }

    @Test("sends like the rich push tutorial without a body, and with one as JSON; both with the password")
    func sends() async throws {
        let engine = try await device.signedIn()
        #expect(try await engine.sendPush() == id(7))
        var request = SendRequest(message: "Hello")
        request.style = .silent
        try await engine.sendPush(request)
        let posts = device.backend.requests.filter { $0.method == "POST" && $0.url.path == APIRoute.notifications }
        #expect(posts.map { $0.body == nil } == [true, false])
        #expect(posts.allSatisfy { $0.headers["authorization"]?.hasPrefix("Basic ") == true })
        #expect(Set(posts.compactMap { $0.headers["idempotency-key"] }).count == 2)
        #expect(try JSONDecoder().decode(SendRequest.self, from: try #require(posts.last?.body)) == request)
    }
}
