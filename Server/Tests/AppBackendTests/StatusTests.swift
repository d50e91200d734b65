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
                == SendStatus.Waiting(cause: "operator", reason: "InvalidProviderToken", words: "InvalidProviderToken"))
        test.hub.completeAll()
        #expect(try await test.backend.status(of: id, for: ann).waiting == nil)
    }

    /// A send to three devices of bob's that fails at each of them.
    private func failed(_ test: TestBackend, as sender: Principal) async throws -> (id: RichID, devices: [String]) {
        let bob = try await test.user("bob")
        var devices: [String] = []
        for number in 1...3 { devices.append(try await test.register(bob, handle: number)) }
        test.hub.refusePushes(because: "BadTopic")
        let id = try await send(test, to: "username:bob", as: sender)
        test.hub.completeAll()
        return (id, devices.sorted())
    }

    @Test(
        "the details page through the devices that failed, each once, and the last page leads nowhere", arguments: [1, 2, 3, 100])
    func pages(limit: Int) async throws {
        let test = try await TestBackend()
        let (ann, root) = (try await test.user("ann"), try await test.user("root", .admin))
        let (id, devices) = try await failed(test, as: ann)
        var (found, next) = ([SendStatus.Failure](), String?.none)
        repeat {
            let page = try await test.backend.details(ofSend: id, after: next, limit: limit, for: root)
            let failures = try #require(page.failures)
            #expect((1...limit).contains(failures.count))
            found += failures
            next = page.next
        } while next != nil
        // The hub has them in the order of their places.
        let sorted = found.sorted { $0.device ?? "" < $1.device ?? "" }
        #expect(sorted == devices.map { SendStatus.Failure(device: $0, outcome: "rejected", reason: "BadTopic") })
    }

    @Test("the details say what the list says of a send, with the same status, and its whole audience")
    func details() async throws {
        let test = try await TestBackend()
        let (ann, root) = (try await test.user("ann"), try await test.user("root", .admin))
        let audience = (1...18).map { "tag-\($0)-long-enough" }.joined(separator: " || ")
        let id = try await send(test, to: audience, as: ann)
        let listed = try #require(try await test.backend.sends(for: ann).sends.first)
        for caller in [ann, root] {
            let details = try await test.backend.details(ofSend: id, for: caller)
            #expect(details.id == listed.id && details.dueAt == listed.dueAt && details.sender == listed.sender)
            var status = details.status
            #expect(status.receipts != nil && listed.status?.receipts == nil)
            status.receipts = nil
            #expect(status == listed.status)
            #expect(details.audience.hasPrefix(listed.audience.dropLast()) && details.audience.hasSuffix("tag-18-long-enough"))
        }
    }

    @Test("devices are filtered by an outcome of the list; other words, and outcomes of devices that got their push, are refused")
    func outcomes() async throws {
        let test = try await TestBackend()
        let (ann, root) = (try await test.user("ann"), try await test.user("root", .admin))
        let id = try await failed(test, as: ann).id
        #expect(try await test.backend.details(ofSend: id, outcome: "rejected", for: root).failures?.count == 3)
        #expect(try await test.backend.details(ofSend: id, outcome: "gone", for: root).failures == [])
        for word in ["accepted", "skipped", "Rejected", "", "no"] {
            #expect(await code { _ = try await test.backend.details(ofSend: id, outcome: word, for: root) } == .invalidField)
        }
        for cursor in ["x", "-1", "+1", "", "18446744073709551616"] {
            #expect(await code { _ = try await test.backend.details(ofSend: id, after: cursor, for: root) } == .invalidField)
        }
    }

    @Test("a sender sees no devices, may not ask for them, and does not see the sends of others")
    func ownDetails() async throws {
        let test = try await TestBackend()
        let (ann, eve) = (try await test.user("ann"), try await test.user("eve"))
        let id = try await failed(test, as: ann).id
        let details = try await test.backend.details(ofSend: id, limit: 5, for: ann)
        #expect(details.status.outcomes == ["rejected": 3])
        #expect(details.failures == nil && details.next == nil)
        #expect(await code { _ = try await test.backend.details(ofSend: id, outcome: "rejected", for: ann) } == .forbidden)
        #expect(await code { _ = try await test.backend.details(ofSend: id, after: "1", for: ann) } == .forbidden)
        #expect(await code { _ = try await test.backend.details(ofSend: id, for: eve) } == .notFound)
    }

    @Test("a key sees the devices of a send with the scope status, and not with send alone")
    func keys() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let id = try await failed(test, as: ann).id
        let (reads, sends) = (
            try await test.signIn(with: test.key("reads", "status")), try await test.signIn(with: test.key("sends", "send"))
        )
        #expect(try await test.backend.details(ofSend: id, for: reads).failures?.count == 3)
        #expect(await code { _ = try await test.backend.details(ofSend: id, for: sends) } == .notFound)
        let own = try await test.send(sends, to: "username:bob")
        test.hub.completeAll()
        #expect(try await test.backend.details(ofSend: own, for: sends).failures == nil)
    }
}
