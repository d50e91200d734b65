import AppBackend
import ClarionTesting
import PushHub
import RichPushModel
import Testing

/// A machine's clock that is set forward or back between what decides about access.
@Suite("Access while the clock jumps")
struct AccessClockTests {
    private static let jumps: [Duration] = [30, 7_200, 86_400].flatMap { [Duration.seconds($0), Duration.seconds(-$0)] }

    /// A place in the order of the database, as the end of a send takes one.
    private func mark(_ test: TestBackend) async throws -> OrderNumber? {
        try await test.database.write { try $0.row($0.dialect.nextOrder, [])?.integer(0) }.map(OrderNumber.init)
    }

    @Test("who was there before a send reads it, who left before or came after its end does not", arguments: jumps)
    func bindings(jump: Duration) async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        var users: [String: Principal] = [:]
        for name in ["left", "here", "joined", "late"] { users[name] = try await test.user(name) }
        for (handle, name) in ["left", "here"].enumerated() {
            try await test.register(try #require(users[name]), handle: handle + 1, tags: ["news"], id: name)
        }
        test.clock.jump(by: jump)
        try await test.backend.deleteRegistration(id: "left", for: try #require(users["left"]))
        test.clock.jump(by: .zero - jump)
        let id = try await test.send(ann, to: "news")
        try await test.register(try #require(users["joined"]), handle: 11, tags: ["news"], id: "joined")
        test.clock.jump(by: jump)
        test.hub.completeAll(order: try await mark(test))
        test.clock.jump(by: .zero - jump)
        try await test.register(try #require(users["late"]), handle: 12, tags: ["news"], id: "late")
        for isNoted in [false, true] {
            if isNoted {
                test.clock.advance(by: .seconds(2))
                try await test.upkeep.work()
                #expect(try await test.store.notification(id)?.endOrder != nil)
            }
            for (name, user) in users {
                let expected: [RichID] = ["here", "joined"].contains(name) ? [id] : []
                #expect(try await test.inbox(user) == expected, "\(name)")
                let answer = await code { _ = try await test.backend.details(of: id, for: user) }
                #expect(answer == (expected.isEmpty ? .notFound : nil), "\(name)")
            }
        }
    }

    @Test("of a hub elsewhere, who was there before a send reads it", arguments: jumps)
    func elsewhere(jump: Duration) async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        try await test.register(bob, handle: 1, tags: ["news"])
        test.clock.jump(by: jump)
        let id = try await test.send(ann, to: "news")
        test.hub.completeAll()
        test.clock.advance(by: .seconds(2))
        try await test.upkeep.work()
        #expect(try await test.inbox(bob) == [id])
        #expect(await code { _ = try await test.backend.details(of: id, for: bob) } == nil)
    }

    @Test("a user who is named reads it, and a new user of the same name does not", arguments: jumps)
    func names(jump: Duration) async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        test.clock.jump(by: jump)
        let id = try await test.send(ann, to: "username:bob")
        #expect(try await test.inbox(bob) == [id])
        test.clock.jump(by: .zero - jump)
        #expect(await code { _ = try await test.backend.details(of: id, for: bob) } == nil)
        test.clock.jump(by: jump)
        try await test.backend.removeUser(name: "bob")
        test.clock.jump(by: .zero - jump - jump)
        let newBob = try await test.user("bob")
        #expect(try await test.inbox(newBob).isEmpty)
        #expect(await code { _ = try await test.backend.details(of: id, for: newBob) } == .notFound)
    }
}
