import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@Suite struct RepeatTests {
    @Test("a repeat with the same key gets the first answer and sends nothing")
    func repeated() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let request = SendRequest(message: "once")
        let first = try await test.backend.send(request, idempotencyKey: "k", for: ann)
        let second = try await test.backend.send(request, idempotencyKey: "k", for: ann)
        #expect(first == second)
        #expect(test.hub.sends.count == 1)
        #expect(try await test.inbox(ann).count == 1)
    }

    @Test("the same key with another request is refused")
    func mismatch() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        _ = try await test.send(ann, key: "k")
        #expect(await code { _ = try await test.send(ann, to: "news", key: "k") } == .idempotencyMismatch)
        #expect(await code { _ = try await test.send(ann, key: "k") { $0.message = "other" } } == .idempotencyMismatch)
    }

    @Test("keys of two users never meet")
    func scoped() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let first = try await test.send(ann, to: "news", key: "k")
        let second = try await test.send(bob, to: "news", key: "k")
        #expect(first != second)
    }

    @Test("content that came with the request again, under another id, is the same request")
    func sameBytes() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (one, two) = (try await test.store(ann), try await test.store(ann))
        let other = try await test.store(Sample.png(byteCount: 500), ann)
        let first = try await test.send(ann, key: "k") { $0.contentID = one }
        #expect(try await test.send(ann, key: "k") { $0.contentID = two } == first)
        #expect(await code { _ = try await test.send(ann, key: "k") { $0.contentID = other } } == .idempotencyMismatch)
    }

    @Test("many repeats at the same moment are one send")
    func parallel() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let ids = try await withThrowingTaskGroup(of: RichID.self) { group in
            for _ in 0..<20 { group.addTask { try await test.send(ann, key: "k") } }
            return try await group.reduce(into: Set<RichID>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
        #expect(test.hub.sends.count == 1)
    }

    @Test("a repeat after the expiry that the request asked for still gets its answer")
    func afterExpiry() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let expiry = test.clock.now + .seconds(10)
        let first = try await test.send(ann, key: "k") { $0.expiresAt = expiry }
        test.clock.advance(by: .seconds(11))
        #expect(try await test.send(ann, key: "k") { $0.expiresAt = expiry } == first)
        #expect(await code { _ = try await test.send(ann, key: "new") { $0.expiresAt = expiry } } == .invalidField)
    }

    @Test("a key that is no header value is refused", arguments: ["", "a b", "a\nb", "ö", String(repeating: "k", count: 129)])
    func malformed(_ key: String) async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        #expect(await code { _ = try await test.send(ann, key: key) } == .invalidHeader)
    }

    @Test("old keys are forgotten by the sweep, a bounded number at a time")
    func swept() async throws {
        let test = try await TestBackend { $0.idempotencyKeyLifetime = .seconds(60) }
        let ann = try await test.user("ann")
        let first = try await test.send(ann, key: "k")
        try await test.upkeep.sweep()
        #expect(try await test.send(ann, key: "k") == first)
        test.clock.advance(by: .seconds(61))
        try await test.upkeep.sweep()
        #expect(try await test.send(ann, key: "k") != first)
    }
}
