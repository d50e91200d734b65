import AppBackend
import Foundation
import PushHub
import RichPushModel
import SQLStorage
import ServiceErrors
import Testing

@Suite struct RetentionTests {
    private static let day = Duration.seconds(86_400)

    /// Sends a picture of its own size to bob, has it completed, and returns what it is.
    private func sent(
        _ test: TestBackend, _ sender: Principal, size: Int, expires: Duration? = nil
    ) async throws -> (id: RichID, digest: ContentDigest) {
        let content = try await test.store(Sample.png(byteCount: size), sender)
        let expiry = expires.map { test.clock.now + $0 }
        let id = try await test.send(sender, to: "username:bob") {
            $0.contentID = content
            $0.expiresAt = expiry
        }
        let digest = try #require(try await test.store.notification(id)?.content?.digest)
        test.clock.advance(by: .seconds(2))
        test.hub.completeAll()
        try await test.upkeep.work()
        return (id, digest)
    }

    @Test("a send goes with content, inbox entry, marks and receipts when retention and grace have passed, and not before")
    func whole() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let phone = try await test.install(bob, "phone", handle: 1).principal
        let (id, digest) = try await sent(test, ann, size: 500)
        try await test.backend.record(
            ReceiptBatch(receipts: [Receipt(richID: id, kind: .opened, at: test.clock.now)]), for: phone)
        test.clock.advance(by: Self.day * 31 - .seconds(1))
        try await test.upkeep.sweep()
        #expect(try await test.content(of: id, for: bob) == Sample.png(byteCount: 500))
        test.clock.advance(by: .seconds(2))
        try await test.upkeep.sweep()
        #expect(try await test.inbox(bob).isEmpty)
        #expect(await code { _ = try await test.backend.status(of: id, for: ann) } == .notFound)
        #expect(try await test.contentStore.open(digest) == nil)
        for table in ["rich_notifications", "audience_index", "receipts", "read_marks", "contents", "content_orphans"] {
            #expect(try await test.rows(of: table) == 0, "\(table)")
        }
    }

    @Test("a sweep notes its moment; while sweeps rest after a step of the clock none is noted, so that a restart rests as well")
    func moment() async throws {
        let test = try await TestBackend()
        try await test.upkeep.sweep()
        let last = test.clock.now
        #expect(try await test.store.lastSweep() == last)
        test.clock.jump(by: Self.day * 365)
        let work = Task { await test.upkeep.run() }
        while test.clock.sleeperCount < 2 { await Task.yield() }
        #expect(try await test.store.lastSweep() == last)
        #expect(BackendUpkeep.mayHaveBeenSet(since: last, at: test.clock.now))
        work.cancel()
        await work.value
    }

    @Test("an expiry that comes sooner counts, and a shorter retention counts for what was sent before")
    func sooner() async throws {
        let test = try await TestBackend { $0.retention.content = .seconds(7 * 86_400) }
        let ann = try await test.user("ann")
        let short = try await sent(test, ann, size: 500, expires: .seconds(3600))
        let long = try await sent(test, ann, size: 600)
        test.clock.advance(by: Self.day)
        try await test.upkeep.sweep()
        #expect(try await test.contentStore.open(short.digest) != nil)
        test.clock.advance(by: .seconds(3600))
        try await test.upkeep.sweep()
        #expect(try await test.contentStore.open(short.digest) == nil)
        #expect(try await test.store.notification(short.id) == nil)
        #expect(try await test.content(of: long.id, for: ann).count == 600)
        test.clock.advance(by: Self.day * 7)
        try await test.upkeep.sweep()
        #expect(try await test.store.notification(long.id) == nil)
    }

    @Test("what the hub has not finished stays, however old; what waits to be cancelled there too")
    func unfinished() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let open = try await test.send(ann)
        let recalled = try await test.send(ann)
        test.hub.failCancels(times: 1)
        try await test.backend.recall(recalled, for: ann)
        test.clock.advance(by: Self.day * 400)
        try await test.upkeep.sweep()
        #expect(try await test.store.notification(open) != nil)
        #expect(try await test.store.notification(recalled) != nil)
        test.hub.completeAll()
        try await test.upkeep.work()
        try await test.upkeep.sweep()
        #expect(try await test.store.notification(recalled) == nil)
    }

    @Test("bytes stay while any content has them, and content stays while any notification has it")
    func shared() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let content = try await test.store(Sample.png(byteCount: 500), ann)
        let twin = try await test.store(Sample.png(byteCount: 500), ann)
        _ = try await test.send(ann) { $0.contentID = content }
        _ = try await test.send(ann) { $0.contentID = twin }
        test.clock.advance(by: .seconds(2))
        test.hub.completeAll()
        try await test.upkeep.work()
        test.clock.advance(by: Self.day * 20)
        let later = try await test.send(ann) { $0.contentID = content }
        test.clock.advance(by: Self.day * 12)
        try await test.upkeep.sweep()
        #expect(try await test.inbox(ann) == [later])
        #expect(try await test.content(of: later, for: ann) == Sample.png(byteCount: 500))
        #expect(try await test.rows(of: "contents") == 1)
        #expect(try await test.rows(of: "content_orphans") == 0)
    }

    @Test("a closed binding stays as long as a notification that it may open; then it goes, with the tags only it remembers")
    func bindings() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let record = try await test.register(bob, handle: 1, tags: ["news", "sport"])
        let id = try await test.send(ann, to: "news")
        test.clock.advance(by: .seconds(2))
        test.hub.completeAll()
        try await test.upkeep.work()
        try await test.register(bob, handle: 1, tags: ["sport"], id: record)
        test.clock.advance(by: Self.day * 20)
        try await test.upkeep.sweep()
        #expect(try await test.inbox(bob) == [id])
        test.clock.advance(by: Self.day * 12)
        try await test.upkeep.sweep()
        #expect(try await test.inbox(bob).isEmpty)
        #expect(try await test.rows(of: "bindings") == 1)
        #expect(try await test.rows(of: "user_tags WHERE audience_key = 't:news'") == 0)
        #expect(try await test.rows(of: "user_tags WHERE audience_key = 't:sport'") == 1)
    }

    @Test("one step removes no more rows than it may, and a notification with many receipts goes last")
    func bounded() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (id, _) = try await sent(test, ann, size: 500)
        try await test.database.write { connection in
            for number in 0..<250 {
                try connection.run(
                    SQLStatement(
                        """
                        INSERT INTO receipts (app_id, receipt_key, rich_id, user_id, installation_id, kind, happened_at, received_at)
                        VALUES (1, $1, $2, 7, $1, 'shown', 1, 1)
                        """), [.text("r\(number)"), .integer(Int64(id.number))])
            }
        }
        let now = test.clock.now + .seconds(1)
        var steps: [Int] = []
        while steps.last != 0 {
            steps.append(
                try await test.store.removeNotifications(endedBefore: now, expiredBefore: now, at: now, limit: 100))
            let isThere = try await test.store.notification(id) != nil
            #expect(isThere == (steps.count < 3))
        }
        #expect(steps.prefix(2) == [100, 100] && steps.count == 4 && steps[2] <= 100)
    }

    @Test("a sweep that did not come to an end says so")
    func more() async throws {
        let test = try await TestBackend()
        try await test.database.write { connection in
            for number in 0..<2_100 {
                try connection.run(
                    SQLStatement("INSERT INTO repeat_keys VALUES (1, 7, $1, $2, 1, 1)"), [.text("k\(number)"), .bytes([0])])
            }
        }
        #expect(try await test.upkeep.sweep())
        #expect(try await test.rows(of: "repeat_keys") == 100)
        #expect(try await test.upkeep.sweep() == false)
    }

    @Test("bytes that a crash left without a row are found and removed; bytes of a row never are")
    func orphans() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let kept = try await test.store(Sample.png(byteCount: 700), ann)
        let upload = try await test.contentStore.beginUpload(limit: 100)
        try await upload.write([1, 2, 3])
        let orphan = try await upload.finish().digest
        try await test.upkeep.sweep()
        #expect(try await test.contentStore.open(orphan) == nil)
        let id = try await test.send(ann) { $0.contentID = kept }
        #expect(try await test.content(of: id, for: ann).count == 700)
    }

    @Test("a file that is missing does not stop the sweep, and a row whose digest came back is no orphan")
    func adopted() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let content = try await test.store(Sample.png(byteCount: 700), ann)
        let id = try await test.send(ann) { $0.contentID = content }
        let digest = try #require(try await test.store.notification(id)?.content?.digest)
        let absent = String(repeating: "0", count: 64)
        try await test.database.write { connection in
            for text in [digest.text, absent] {
                try connection.run(SQLStatement("INSERT INTO content_orphans (digest) VALUES ($1)"), [.text(text)])
            }
        }
        try await test.upkeep.sweep()
        #expect(try await test.content(of: id, for: ann).count == 700)
        #expect(try await test.rows(of: "content_orphans") == 0)
    }

    @Test("a repeat of a send that was removed is refused, not sent again")
    func repeatAfterwards() async throws {
        let test = try await TestBackend { $0.retention.content = .seconds(86_400) }
        let ann = try await test.user("ann")
        _ = try await test.send(ann, key: "k")
        test.clock.advance(by: .seconds(2))
        test.hub.completeAll()
        try await test.upkeep.work()
        test.clock.advance(by: Self.day * 3)
        try await test.upkeep.sweep()
        #expect(await code { _ = try await test.send(ann, key: "k") } == .conflict)
        #expect(test.hub.sends.count == 1)
    }
}
