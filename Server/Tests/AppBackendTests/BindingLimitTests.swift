import AppBackend
import ClarionTesting
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServiceErrors
import Testing

@Suite struct BindingLimitTests {
    private func tags(_ round: Int) -> [String] { (0..<59).map { "t\(round)-\($0)" } }

    @Test("a user who goes through tags is stopped, loses nothing, and goes on when the old tags open nothing")
    func tags() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob", .user))
        var refused: Int?
        var sent: RichID?
        for round in 0..<40 {
            test.clock.advance(by: .seconds(1))
            let refusal = await code { try await test.register(bob, handle: 1, tags: tags(round), id: "phone") }
            if refusal == .quotaExceeded { refused = refused ?? round } else { #expect(refusal == nil) }
            if round == 0 {
                sent = try await test.send(ann, to: "t0-7")
                test.hub.completeAll()
            }
        }
        #expect(refused == 16)
        #expect(try await test.rows(of: "user_tags") <= BindingLimits.tags)
        #expect(test.hub.devices.values.first?.tags.contains { $0.text == "t15-58" } == true)
        try await test.register(bob, handle: 2, tags: tags(3), id: "phone")
        test.clock.advance(by: BindingLimits.margin + .seconds(1))
        try await test.register(bob, handle: 1, tags: tags(99), id: "phone")
        // The new ones, those of the phone until now, the user's own, and the one that a notification names.
        #expect(try await test.rows(of: "user_tags WHERE audience_key LIKE 't:t%'") == 2 * 59 + 1)
        #expect(try await test.inbox(bob) == [try #require(sent)])
    }

    @Test("a user whose devices changed too often is stopped, but may say the same again and sign out")
    func bindings() async throws {
        let test = try await TestBackend()
        let bob = try await test.user("bob", .user)
        try await test.register(bob, handle: 1, tags: ["a"], id: "phone")
        let fill = SQLStatement(
            composed: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(BindingLimits.bindings))
                INSERT INTO bindings (app_id, binding_id, user_id, record_id, kind, platform, tags, from_at, until_at, until_order)
                SELECT 1, 1000000 + i, \(bob.userID.number), 'old', 'registration', 'apns', '', i, i, i FROM n
                """)
        try await test.database.write { _ = try $0.run(fill, []) }
        #expect(await code { try await test.register(bob, handle: 2, tags: ["b"], id: "phone") } == .quotaExceeded)
        #expect(test.hub.devices.values.first?.handle?.text == Sample.handle(1))
        try await test.register(bob, handle: 1, tags: ["a"], id: "phone")
        try await test.backend.deleteRegistration(id: "phone", for: bob)
    }

    @Test("pages of an inbox under many tags show everything once, newest first")
    func manyKeys() async throws {
        let test = try await TestBackend()
        var generator = SeededGenerator()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob", .user))
        let names = (0..<12).map { "n\($0)" }
        try await test.register(bob, handle: 1, tags: names)
        var sent: [RichID] = []
        for _ in 0..<60 {
            let some = names.filter { _ in Int.random(in: 0..<4, using: &generator) == 0 }
            let id = try await test.send(ann, to: some.isEmpty ? "other" : some.joined(separator: " || "))
            if Int.random(in: 0..<5, using: &generator) == 0 {
                try await test.backend.recall(id, for: ann)
            } else if !some.isEmpty {
                sent.append(id)
            }
        }
        var seen: [RichID] = []
        var cursor: String?
        repeat {
            let page = try await test.backend.inbox(before: cursor, limit: 3, for: bob)
            seen += page.notifications.map(\.id)
            cursor = page.next
        } while cursor != nil
        #expect(seen == sent.reversed(), "seed \(generator.seed)")
        #expect(try await test.backend.inbox(for: bob).unread == sent.count)
    }
}
