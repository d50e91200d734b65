import AppBackend
import ClarionTesting
import RichPushModel
import ServiceErrors
import Testing

@Suite struct InboxTests {
    @Test("a page is newest first, and following the cursor shows each entry once")
    func paging() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        var mine: [RichID] = []
        for number in 0..<45 {
            let id = try await test.send(ann, to: number % 3 == 0 ? "username:eve" : "username:bob")
            if number % 3 != 0 { mine.append(id) }
        }
        var seen: [RichID] = []
        var cursor: String?
        repeat {
            let page = try await test.backend.inbox(before: cursor, limit: 7, for: bob)
            #expect(page.notifications.count <= 7)
            seen += page.notifications.map(\.id)
            cursor = page.next
        } while cursor != nil
        #expect(seen == mine.reversed())
    }

    @Test("since shows everything that the phone has missed, however much that is")
    func since() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        var ids: [RichID] = []
        for _ in 0..<12 { ids.append(try await test.send(ann)) }
        let page = try await test.backend.inbox(since: ids[3].description, limit: 5, for: ann)
        #expect(page.notifications.map(\.id) == Array(ids[7...].reversed()))
        let rest = try await test.backend.inbox(before: page.next, since: ids[3].description, limit: 5, for: ann)
        #expect(rest.notifications.map(\.id) == Array(ids[4..<7].reversed()))
        #expect(rest.next == nil)
    }

    @Test("an inbox finds what the rule allows, for random devices, tags and audiences")
    func agreesWithRule() async throws {
        let test = try await TestBackend()
        var generator = SeededGenerator()
        let sender = try await test.user("sender")
        var users: [Principal] = []
        for name in ["a", "b", "c"] { users.append(try await test.user(name)) }
        let tags = ["red", "green", "blue"]
        var sent: [RichID] = []
        for step in 0..<60 {
            test.clock.advance(by: .seconds(1))
            if step % 2 == 0, let user = users.randomElement(using: &generator) {
                let some = tags.filter { _ in Bool.random(using: &generator) }
                try await test.register(user, handle: Int(user.userID.number), tags: some, id: "of-\(user.name)")
            } else {
                let (first, second) = (tags.randomElement(using: &generator) ?? "", tags.randomElement(using: &generator) ?? "")
                let forms = ["\(first) || !\(second)", "\(first) && !\(second)", "!\(first)", first, "username:b && \(second)"]
                sent.append(try await test.send(sender, to: forms.randomElement(using: &generator)))
                if Bool.random(using: &generator) { test.hub.completeAll() }
                test.clock.advance(by: .seconds(2))
                try await test.upkeep.work()
            }
        }
        for user in users {
            let listed = try await test.backend.inbox(limit: 100, for: user).notifications.map(\.id)
            var readable: [RichID] = []
            for id in sent.reversed() {
                if await code({ _ = try await test.backend.details(of: id, for: user) }) == nil { readable.append(id) }
            }
            #expect(listed == readable, "seed \(generator.seed), user \(user.name)")
        }
        #expect(try await test.inbox(sender).count == sent.count)
    }

    @Test("the unread count follows read marks on all devices, and a sender's own sends do not count")
    func unread() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let (phone, _) = try await test.install(bob, "phone", handle: 1)
        let first = try await test.send(ann, to: "username:bob")
        _ = try await test.send(ann, to: "username:bob")
        #expect(try await test.backend.inbox(for: bob).unread == 2)
        #expect(try await test.backend.inbox(for: ann).unread == 0)
        #expect(try await test.backend.inbox(for: ann).notifications.allSatisfy { $0.read })
        try await test.backend.setRead(true, of: first, for: phone)
        try await test.backend.setRead(true, of: first, for: bob)
        #expect(try await test.backend.inbox(for: bob).unread == 1)
        #expect(try await test.backend.details(of: first, for: bob).read)
        try await test.backend.setRead(false, of: first, for: bob)
        #expect(try await test.backend.inbox(for: phone).unread == 2)
    }

    @Test("an entry has all that a phone needs before it fetches")
    func entry() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let content = try await test.store(Sample.png(byteCount: 600 * 1024), name: "big.png", ann)
        let thumb = try await test.store(name: "small.png", ann)
        let id = try await test.send(ann) {
            $0.contentID = content
            $0.thumbID = thumb
            $0.title = "Title"
            $0.altText = "Alt"
            $0.message = "Words"
        }
        let entry = try await test.backend.details(of: id, for: ann)
        #expect(entry.kind == .image)
        #expect(entry.title == "Title")
        #expect(entry.message == "Words")
        #expect(entry.altText == "Alt")
        #expect(entry.sender == "ann")
        #expect(entry.sentAt == test.clock.now)
        #expect(entry.content?.byteCount == Int64(600 * 1024))
        #expect(entry.content?.fileName == "big.png")
        #expect(entry.thumb?.byteCount == Int64(Sample.png.count))
        #expect(try await test.backend.inbox(for: ann).notifications == [entry])
    }

    @Test("a malformed cursor is the caller's mistake", arguments: ["", "0", "-1", "abc", "1;DROP", "99999999999"])
    func cursor(_ text: String) async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        #expect(await code { _ = try await test.backend.inbox(before: text, for: ann) } == .invalidField)
        #expect(await code { _ = try await test.backend.inbox(since: text, for: ann) } == .invalidField)
    }

    @Test("a limit outside the range is brought into it")
    func limits() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        for _ in 0..<3 { _ = try await test.send(ann) }
        #expect(try await test.backend.inbox(limit: -5, for: ann).notifications.count == 1)
        #expect(try await test.backend.inbox(limit: .max, for: ann).notifications.count == 3)
    }
}
