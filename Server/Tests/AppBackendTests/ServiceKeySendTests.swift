import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@Suite("The sends of service keys")
struct ServiceKeySendTests {
    @Test("a key with scope send reads and recalls its own sends, and no others")
    func ownSends() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let caller = try await test.signIn(with: try await test.key("shop", "send"))
        let (own, others) = (try await test.send(caller, to: "news"), try await test.send(ann, to: "news"))
        let list = try await test.backend.sends(for: caller).sends
        #expect(list.map(\.id) == [own])
        #expect(list.map(\.sender) == ["@shop"])
        #expect(try await test.backend.status(of: own, for: caller).state == "dispatching")
        #expect(await code { _ = try await test.backend.status(of: others, for: caller) } == .notFound)
        #expect(await code { try await test.backend.recall(others, for: caller) } == .notFound)
        try await test.backend.recall(own, for: caller)
        #expect(try await test.backend.status(of: own, for: caller).state == "cancelled")
    }

    @Test("keys of different names do not see each other's sends; a key that replaced another does")
    func sendsOfOthers() async throws {
        let test = try await TestBackend()
        let key = try await test.key("shop", "send")
        let id = try await test.send(try await test.signIn(with: key), to: "news")
        let other = try await test.signIn(with: try await test.key("news", "send"))
        #expect(await code { _ = try await test.backend.status(of: id, for: other) } == .notFound)
        let rolled = try await test.signIn(with: try await test.backend.rollKey(key.id, overlap: .zero))
        #expect(try await test.backend.sends(for: rolled).sends.map(\.id) == [id])
    }

    @Test("a key with scope status reads the sends of all, and neither sends nor recalls")
    func statusOfAll() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let caller = try await test.signIn(with: try await test.key("watch", "status"))
        let (first, second) = (try await test.send(ann, to: "news"), try await test.send(bob, to: "news"))
        #expect(try await test.backend.sends(for: caller).sends.map(\.id) == [second, first])
        #expect(try await test.backend.status(of: first, for: caller).state == "dispatching")
        #expect(await code { try await test.backend.recall(first, for: caller) } == .forbidden)
        #expect(await code { _ = try await test.send(caller, to: "news") } == .forbidden)
    }

    @Test("a key sends its own content, not that of another")
    func contents() async throws {
        let test = try await TestBackend()
        let (shop, news) = (
            try await test.signIn(with: try await test.key("shop", "send")),
            try await test.signIn(with: try await test.key("news", "send"))
        )
        let content = try await test.store(shop)
        #expect(await code { _ = try await test.send(news, to: "beta") { $0.contentID = content } } == .notFound)
        _ = try await test.send(shop, to: "beta") { $0.contentID = content }
        #expect(test.hub.sends.count == 1)
    }

    @Test("a retry of a key's send under one idempotency key is one send, also after the key was rolled")
    func repeats() async throws {
        let test = try await TestBackend()
        let key = try await test.key("shop", "send")
        let first = try await test.send(try await test.signIn(with: key), to: "news", key: "k")
        let rolled = try await test.backend.rollKey(key.id, overlap: .seconds(60))
        #expect(try await test.send(try await test.signIn(with: rolled), to: "news", key: "k") == first)
        #expect(test.hub.sends.count == 1)
    }
}
