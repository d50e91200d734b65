import AppBackend
import PushHub
import RichPushModel
import Testing

/// How a send stands, for its sender.
@Suite("The status of a send")
struct StatusTests {
    private func send(_ test: TestBackend, to audience: String, as sender: Principal) async throws -> RichID {
        var request = SendRequest(message: "hello")
        request.audience = audience
        return try await test.backend.send(request, idempotencyKey: nil, for: sender).id
    }

    @Test(
        "an audience of user names that meets no device has no targets and a warning; one that meets some, or of other tags, has none",
        arguments: [
            ("username:nobody", 0, true), ("username:nobody || username:noone", 0, true), ("username:bob", 1, false),
            ("username:nobody || username:bob", 1, false), ("beta", 0, false), ("!username:bob && !username:ann", 0, false),
        ])
    func misspelt(audience: String, targets: Int, warns: Bool) async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        try await test.register(bob, handle: 1)
        let status = try await test.backend.status(of: try await send(test, to: audience, as: ann), for: ann)
        #expect(status.targets == targets)
        #expect((status.warnings ?? []).isEmpty != warns)
        #expect((status.warnings ?? []).count <= 1)
    }

    @Test("reasons are counted for the sender; which devices they are only an administrator sees")
    func reasons() async throws {
        let test = try await TestBackend()
        let (ann, bob, root) = (try await test.user("ann"), try await test.user("bob"), try await test.user("root", .admin))
        let device = try await test.register(bob, handle: 1)
        test.hub.refusePushes(because: "BadTopic")
        let id = try await send(test, to: "username:bob", as: ann)
        test.hub.completeAll()
        let seen = try await test.backend.status(of: id, for: ann)
        #expect(seen.outcomes == ["rejected": 1])
        #expect(seen.reasons == ["rejected": ["BadTopic": 1]])
        #expect(seen.failures == nil)
        let all = try await test.backend.status(of: id, for: root)
        #expect(all.failures == [SendStatus.Failure(device: device, outcome: "rejected", reason: "BadTopic")])
    }

    @Test("a send that waits says for whom and why, and no more once it has ended")
    func waiting() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        try await test.register(ann, handle: 1)
        test.hub.waits(for: SendWait(.operator, reason: "InvalidProviderToken"))
        let id = try await send(test, to: "username:ann", as: ann)
        #expect(
            try await test.backend.status(of: id, for: ann).waiting
                == SendStatus.Waiting(cause: "operator", reason: "InvalidProviderToken"))
        test.hub.completeAll()
        #expect(try await test.backend.status(of: id, for: ann).waiting == nil)
    }
}
