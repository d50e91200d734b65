import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@Suite("The list of sends")
struct SendListTests {
    private func send(_ test: TestBackend, to audience: String = "beta", as sender: Principal) async throws -> RichID {
        var request = SendRequest(message: "a secret")
        request.audience = audience
        return try await test.backend.send(request, idempotencyKey: nil, for: sender).id
    }

    @Test("users see their own sends, an administrator all, newest first")
    func rights() async throws {
        let test = try await TestBackend()
        let (ann, bob, root) = (try await test.user("ann"), try await test.user("bob"), try await test.user("root", .admin))
        let first = try await send(test, as: ann)
        let second = try await send(test, as: bob)
        let third = try await send(test, as: ann)
        #expect(try await test.backend.sends(for: ann).sends.map(\.id) == [third, first])
        #expect(try await test.backend.sends(for: bob).sends.map(\.id) == [second])
        let all = try await test.backend.sends(for: root).sends
        #expect(all.map(\.id) == [third, second, first])
        #expect(all.map(\.sender) == ["ann", "bob", "ann"])
    }

    @Test("each entry has the status of its send, also of one that was recalled")
    func statuses() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        try await test.register(bob, handle: 1)
        let done = try await send(test, to: "username:bob", as: ann)
        test.hub.completeAll()
        let recalled = try await send(test, to: "username:bob", as: ann)
        try await test.backend.recall(recalled, for: ann)
        let list = try await test.backend.sends(for: ann).sends
        #expect(list.map(\.id) == [recalled, done])
        #expect(list.map(\.status?.state) == ["cancelled", "completed"])
        for entry in list {
            var status = try await test.backend.status(of: entry.id, for: ann)
            status.receipts = nil
            #expect(entry.status == status)
            #expect(entry.audience == "username:bob")
        }
    }

    @Test("a page asks the hub one question for all of its sends, and an empty one none")
    func questions() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        #expect(try await test.backend.sends(for: ann).sends.isEmpty)
        #expect(test.hub.questions == ScriptedHub.Questions())
        for _ in 1...5 { _ = try await send(test, as: ann) }
        #expect(try await test.backend.sends(for: ann).sends.compactMap(\.status).count == 5)
        #expect(test.hub.questions == ScriptedHub.Questions(single: 0, list: 1))
    }

    @Test(
        "the list answers without a hub that is elsewhere or fails; what the hub never took has a status all the same",
        arguments: [.nothing, .failure(ServiceError(.storageUnavailable))] as [ScriptedHub.ListAnswer])
    func withoutHub(answer: ScriptedHub.ListAnswer) async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let taken = try await send(test, as: ann)
        test.hub.failNext(.before(ServiceError(.invalidField, "the hub says no")))
        #expect(await code { _ = try await send(test, as: ann) } == .invalidField)
        test.hub.answerLists(answer)
        let list = try await test.backend.sends(for: ann).sends
        #expect(list.map(\.status?.state) == ["failed", nil])
        #expect(list.last?.id == taken)
        #expect(test.hub.questions.single == 0)
    }

    @Test("an entry says when its send was due, and only the status of one send has its receipts")
    func local() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let phone = try await test.install(bob, "phone", handle: 1).principal
        let due = test.clock.now
        let ids = [try await send(test, to: "username:bob", as: ann), try await send(test, to: "username:bob", as: ann)]
        test.clock.advance(by: .seconds(60))
        try await test.backend.record(
            ReceiptBatch(receipts: [Receipt(richID: ids[0], kind: .opened, at: test.clock.now)]), for: phone)
        let list = try await test.backend.sends(for: ann).sends
        #expect(list.map(\.dueAt) == [due, due])
        #expect(list.map(\.status?.state).allSatisfy { $0 != nil })
        #expect(list.map(\.status?.receipts) == [nil, nil])
        #expect(try await test.backend.status(of: ids[0], for: ann).receipts == ["opened": 1])
        #expect(try await test.backend.status(of: ids[1], for: ann).receipts == [:])
    }

    @Test("pages follow each other without a gap while sends are added, and a page has at most fifty")
    func pages() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        var sent: [RichID] = []
        for _ in 1...7 { sent.append(try await send(test, as: ann)) }
        var (found, next) = ([RichID](), String?.none)
        repeat {
            let page = try await test.backend.sends(before: next, limit: 3, for: ann)
            #expect(page.sends.count <= 3)
            found += page.sends.map(\.id)
            next = page.next
            _ = try await send(test, as: ann)
        } while next != nil
        #expect(found == sent.reversed())
        for _ in 1...45 { _ = try await send(test, as: ann) }
        #expect(try await test.backend.sends(limit: 1_000, for: ann).sends.count == 50)
    }

    @Test("a cursor that is no number is refused")
    func cursor() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        await #expect { try await test.backend.sends(before: "x", for: ann) } throws: { error in
            (error as? ServiceError)?.code == .invalidField
        }
    }

    @Test("words of the notification are not in the list, and a long audience is cut")
    func content() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let audience = (1...18).map { "tag-\($0)-long-enough" }.joined(separator: " || ")
        _ = try await send(test, to: audience, as: ann)
        let entry = try #require(try await test.backend.sends(for: ann).sends.first)
        #expect(!"\(entry)".contains("a secret"))
        #expect(entry.audience.count == SendListEntry.audienceLimit)
        #expect(entry.audience.hasSuffix("…"))
    }

    /// Six sends, a second apart, by ann and bob in turn.
    private func spread(_ test: TestBackend, _ senders: [Principal]) async throws -> (start: Timestamp, ids: [RichID]) {
        let start = test.clock.now
        var ids: [RichID] = []
        for number in 0..<6 {
            ids.append(try await send(test, as: senders[number % senders.count]))
            test.clock.advance(by: .seconds(1))
        }
        return (start, ids)
    }

    @Test("a span has the sends that were due from since on and before until, in pages without a gap", arguments: [1, 2, 50])
    func span(limit: Int) async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let root = try await test.user("root", .admin)
        let (start, ids) = try await spread(test, [ann, bob])
        func listed(_ filter: SendFilter, for caller: Principal) async throws -> [RichID] {
            var (found, next) = ([RichID](), String?.none)
            repeat {
                let page = try await test.backend.sends(filter, before: next, limit: limit, for: caller)
                #expect(page.sends.count <= limit)
                found += page.sends.map(\.id)
                next = page.next
            } while next != nil
            return found
        }
        let span = SendFilter(since: start + .seconds(1), until: start + .seconds(4))
        #expect(try await listed(span, for: root) == [ids[3], ids[2], ids[1]])
        #expect(try await listed(span, for: ann) == [ids[2]])
        #expect(try await listed(SendFilter(since: start + .seconds(4)), for: root) == [ids[5], ids[4]])
        #expect(try await listed(SendFilter(until: start + .seconds(1)), for: root) == [ids[0]])
        var own = span
        own.sender = "BOB"
        #expect(try await listed(own, for: root) == [ids[3], ids[1]])
        #expect(try await listed(SendFilter(sender: "bob"), for: root) == [ids[5], ids[3], ids[1]])
    }

    @Test("a sender whose sends the caller may not see is as unknown as one that there is not")
    func senders() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let root = try await test.user("root", .admin)
        let id = try await send(test, as: bob)
        #expect(try await test.backend.sends(SendFilter(sender: "bob"), for: bob).sends.map(\.id) == [id])
        let unseen = await refusal { _ = try await test.backend.sends(SendFilter(sender: "bob"), for: ann) }
        #expect(unseen?.code == .notFound)
        for (name, caller) in [("zoe", ann), ("zoe", root), ("no name!", root)] {
            #expect(await refusal { _ = try await test.backend.sends(SendFilter(sender: name), for: caller) } == unseen)
        }
    }

    @Test("a span that ends before it begins is refused, and so is a cursor of the other order")
    func spanErrors() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (start, ids) = try await spread(test, [ann])
        let backwards = SendFilter(since: start + .seconds(1), until: start)
        #expect(await code { _ = try await test.backend.sends(backwards, for: ann) } == .invalidField)
        let span = SendFilter(since: start)
        for cursor in ["\(ids[2])", "x", "1-", "-1", "1-2-3"] {
            #expect(await code { _ = try await test.backend.sends(span, before: cursor, for: ann) } == .invalidField)
        }
        let next = try #require(try await test.backend.sends(span, limit: 1, for: ann).next)
        #expect(await code { _ = try await test.backend.sends(before: next, for: ann) } == .invalidField)
    }
}
