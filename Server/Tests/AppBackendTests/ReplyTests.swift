import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@Suite("Replies")
struct ReplyTests {
    @Test("go to the sender of the notification, from a phone too, and each once")
    func delivered() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob", .user))
        try await test.register(ann, handle: 1)
        let (phone, _) = try await test.install(bob, "phone", handle: 2)
        let id = try await test.send(ann, to: "username:bob")
        for _ in 0..<2 { try await test.backend.reply(Reply(id: "r-1", text: "On my way"), to: id, for: phone) }
        let page = try await test.backend.inbox(for: ann)
        let reply = try #require(page.notifications.first)
        #expect(page.notifications.count == 2)
        #expect(page.unread == 1)
        #expect(reply.title == "bob")
        #expect(reply.message == "On my way")
        #expect(reply.sender == "bob")
        #expect(reply.kind == .text)
    }

    @Test("to what the caller may not read, of odd form, or to a sender who is gone are refused")
    func refused() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let id = try await test.send(ann, to: "username:ann")
        let toBob = try await test.send(ann, to: "username:bob")
        let backend = test.backend
        #expect(await code { try await backend.reply(Reply(id: "r", text: "Hi"), to: id, for: bob) } == .notFound)
        for wrong in [
            Reply(id: "", text: "Hi"), Reply(id: "a b", text: "Hi"), Reply(id: "r", text: " "), Reply(id: "r", text: ""),
        ] {
            #expect(await code { try await backend.reply(wrong, to: toBob, for: bob) } == .invalidField)
        }
        let long = Reply(id: "r", text: String(repeating: "x", count: 2_001))
        #expect(await code { try await backend.reply(long, to: toBob, for: bob) } == .invalidField)
        try await backend.reply(Reply(id: "r", text: "one"), to: toBob, for: bob)
        #expect(
            await code { try await backend.reply(Reply(id: "r", text: "two"), to: toBob, for: bob) } == .idempotencyMismatch)
    }
}
