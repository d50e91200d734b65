import AppBackend
import ClarionTesting
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions
import Testing

@Suite struct AccessTests {
    @Test("alice's content is not there for bob, in any form, exactly like an unknown number")
    func foreign() async throws {
        let test = try await TestBackend()
        let (alice, bob) = (try await test.user("alice"), try await test.user("bob"))
        try await test.register(bob, handle: 2)
        let content = try await test.store(alice)
        let id = try await test.send(alice) { $0.contentID = content }
        let unknown = try #require(RichID(number: 99))
        var answers: Set<ServiceError> = []
        func note(_ work: () async throws -> Void) async {
            do {
                try await work()
                Issue.record("a foreign notification was readable")
            } catch let error as ServiceError { answers.insert(error) } catch { Issue.record(error) }
        }
        for target in [id, unknown] {
            await note { _ = try await test.backend.details(of: target, for: bob) }
            await note { _ = try await test.backend.openContent(of: target, variant: .original, for: bob) }
            await note { _ = try await test.backend.openContent(of: target, variant: .thumb, for: bob) }
            await note { _ = try await test.backend.issueTicket(for: target, variant: .original, for: bob) }
            await note { try await test.backend.setRead(true, of: target, for: bob) }
            await note { try await test.backend.recall(target, for: bob) }
            await note { _ = try await test.backend.status(of: target, for: bob) }
        }
        #expect(answers.count == 1)
        #expect(try await test.inbox(bob).isEmpty)
        #expect(try await test.content(of: id, for: alice) == Sample.png)
    }

    @Test("a user who is named reads it, with or without a device")
    func named() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("Bob"))
        let id = try await test.send(ann, to: "username:bob || username:eve")
        #expect(try await test.inbox(bob) == [id])
        let excluded = try await test.send(ann, to: "!username:bob")
        #expect(await code { _ = try await test.backend.details(of: excluded, for: bob) } == .notFound)
    }

    @Test("a user who held the tag between due and completion reads it; before or after does not count")
    func inTime() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        var users: [String: Principal] = [:]
        for (handle, name) in ["before", "during", "joined", "after", "never"].enumerated() {
            users[name] = try await test.user(name)
            if ["before", "during"].contains(name) {
                try await test.register(try #require(users[name]), handle: handle + 1, tags: ["news"], id: name)
            }
        }
        test.clock.advance(by: .seconds(1))
        try await test.backend.deleteRegistration(id: "before", for: try #require(users["before"]))
        test.clock.advance(by: .seconds(1))
        let id = try await test.send(ann, to: "news")
        test.clock.advance(by: .seconds(1))
        try await test.register(try #require(users["joined"]), handle: 11, tags: ["NEWS"], id: "joined")
        try await test.backend.deleteRegistration(id: "during", for: try #require(users["during"]))
        test.clock.advance(by: .seconds(1))
        test.hub.completeAll()
        test.clock.advance(by: .seconds(1))
        try await test.upkeep.work()
        try await test.register(try #require(users["after"]), handle: 12, tags: ["news"], id: "after")
        for (name, user) in users {
            let expected: [RichID] = ["during", "joined"].contains(name) ? [id] : []
            #expect(try await test.inbox(user) == expected, "\(name)")
        }
        #expect(try await test.inbox(ann) == [id])
    }

    @Test("a tag that was given right after the send completed opens nothing, though the completion is not noted yet")
    func tagTooLate() async throws {
        let test = try await TestBackend()
        let (ann, mallory) = (try await test.user("ann"), try await test.user("mallory", .user))
        let id = try await test.send(ann, to: "vip")
        test.hub.failNext(.after(ServiceError(.outcomeUnknown)))
        #expect(await code { _ = try await test.send(ann, to: "vip") } == .outcomeUnknown)
        let unconfirmed = try #require(RichID(number: 2))
        test.clock.advance(by: .seconds(1))
        let eve = try await test.user("eve", .user)
        try await test.register(eve, handle: 1, tags: ["vip"])
        #expect(try await test.inbox(eve) == [unconfirmed, id])
        test.clock.advance(by: .seconds(1))
        test.hub.completeAll()
        let ended = test.clock.now
        test.clock.advance(by: .milliseconds(1))
        try await test.register(mallory, handle: 2, tags: ["vip"])
        for sent in [id, unconfirmed] {
            #expect(await code { _ = try await test.backend.details(of: sent, for: mallory) } == .notFound)
            #expect(await code { _ = try await test.backend.details(of: sent, for: eve) } == nil)
        }
        #expect(try await test.inbox(mallory).isEmpty)
        #expect(try await test.store.notification(id)?.completedAt == ended)
        test.clock.advance(by: .seconds(31))
        try await test.upkeep.work()
        #expect(try await test.store.notification(unconfirmed)?.trackingID != nil)
    }

    @Test("a send that the hub has forgotten opens nothing for a tag that came later, also after the upkeep noted its end")
    func forgottenSend() async throws {
        let test = try await TestBackend()
        let (ann, eve, mallory) = (try await test.user("ann"), try await test.user("eve"), try await test.user("mallory"))
        try await test.register(eve, handle: 1, tags: ["vip"])
        test.clock.advance(by: .seconds(1))
        let id = try await test.send(ann, to: "vip")
        test.clock.advance(by: .seconds(1))
        try await test.register(mallory, handle: 2, tags: ["vip"])
        test.clock.advance(by: .seconds(1))
        test.hub.forgetSends()
        try await test.upkeep.work()
        #expect(try await test.store.notification(id)?.completedAt != nil)
        #expect(await code { _ = try await test.backend.details(of: id, for: mallory) } == .notFound)
        #expect(await code { _ = try await test.backend.details(of: id, for: eve) } == nil)
    }

    @Test("a tag that was taken off before the send opens nothing")
    func tagGone() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        try await test.register(bob, handle: 1, tags: ["news"], id: "phone")
        test.clock.advance(by: .seconds(1))
        try await test.register(bob, handle: 1, tags: [], id: "phone")
        test.clock.advance(by: .seconds(1))
        let id = try await test.send(ann, to: "news")
        #expect(await code { _ = try await test.backend.details(of: id, for: bob) } == .notFound)
    }

    @Test("an installation is addressed by its own tag")
    func installation() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let (phone, _) = try await test.install(bob, "phone", handle: 1)
        let id = try await test.send(ann, to: "$InstallationId:{phone}")
        #expect(try await test.inbox(phone) == [id])
        #expect(try await test.inbox(bob) == [id])
    }

    @Test("records written with a hub key open nothing for the user they name")
    func hubKey() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let record = try #require(RecordID("by-key"))
        _ = try await test.hub.upsert(
            DeviceUpsert(
                id: record, kind: .installation, handle: DeviceToken(Sample.handle(5), platform: .apns),
                tags: [try #require(Tag("news"))], userID: "bob"))
        let id = try await test.send(ann, to: "news")
        #expect(await code { _ = try await test.backend.details(of: id, for: bob) } == .notFound)
    }

    @Test("a new user with a reused name cannot read what the former one got")
    func reusedName() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let id = try await test.send(ann, to: "username:bob")
        #expect(try await test.inbox(bob) == [id])
        test.clock.advance(by: .seconds(1))
        try await test.backend.removeUser(name: "bob")
        let newBob = try await test.user("bob")
        #expect(newBob.userID != bob.userID)
        #expect(try await test.inbox(newBob).isEmpty)
        #expect(await code { _ = try await test.backend.details(of: id, for: newBob) } == .notFound)
    }

    @Test("after its expiry a notification is gone for everybody")
    func expired() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let content = try await test.store(ann)
        let expiry = test.clock.now + .seconds(60)
        let id = try await test.send(ann) {
            $0.contentID = content
            $0.expiresAt = expiry
        }
        test.clock.advance(by: .seconds(59))
        #expect(try await test.content(of: id, for: ann) == Sample.png)
        test.clock.advance(by: .seconds(1))
        #expect(await code { _ = try await test.content(of: id, for: ann) } == .notFound)
        #expect(try await test.inbox(ann).isEmpty)
    }

    @Test("a device that matches an audience has one of the keys by which inboxes find it")
    func keys() throws {
        var generator = SeededGenerator()
        let names = ["a", "b", "c", "d", "e"].compactMap { Tag($0) }
        for _ in 0..<3000 {
            let expression = Self.expression(names, depth: 4, &generator)
            let keys = AudienceKey.keys(of: expression)
            for bits in 0..<32 {
                let held = names.indices.filter { bits & (1 << $0) != 0 }.map { names[$0] }
                guard expression.matches(Set(held)) else { continue }
                let isFound = keys.contains(.everyone) || held.contains { keys.contains(.tag($0)) }
                #expect(isFound, "seed \(generator.seed): \(expression) with \(held)")
            }
        }
    }

    private static func expression(
        _ names: [Tag], depth: Int, _ generator: inout SeededGenerator
    ) -> TagExpression {
        let choice = depth == 0 ? 0 : Int.random(in: 0...3, using: &generator)
        switch choice {
        case 1: return .not(expression(names, depth: depth - 1, &generator))
        case 2:
            return .and(
                expression(names, depth: depth - 1, &generator), expression(names, depth: depth - 1, &generator))
        case 3:
            return .or(
                expression(names, depth: depth - 1, &generator), expression(names, depth: depth - 1, &generator))
        default: return .tag(names[Int.random(in: names.indices, using: &generator)])
        }
    }
}
