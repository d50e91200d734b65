import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@Suite struct RecallTests {
    @Test("a recall makes the content unseen for everybody, leaves the inbox and cancels the push")
    func recall() async throws {
        let test = try await TestBackend()
        let (ann, bob) = (try await test.user("ann"), try await test.user("bob"))
        let content = try await test.store(ann)
        let id = try await test.send(ann, to: "username:bob") { $0.contentID = content }
        let ticket = try await test.backend.issueTicket(for: id, variant: .original, for: bob)
        #expect(try await test.inbox(bob) == [id])
        try await test.backend.recall(id, for: ann)
        for user in [ann, bob] {
            #expect(try await test.inbox(user).isEmpty)
            #expect(await code { _ = try await test.content(of: id, for: user) } == .notFound)
            #expect(await code { _ = try await test.backend.details(of: id, for: user) } == .notFound)
        }
        #expect(
            await code { _ = try await test.backend.redeem(ticket: ticket.ticket, for: id, variant: .original) } == .notFound)
        #expect(test.hub.sends.first?.state == .cancelled)
        #expect(try await test.backend.status(of: id, for: ann).state == "cancelled")
        #expect(await code { try await test.backend.recall(id, for: ann) } == .notFound)
    }

    @Test("only the sender and an admin recall; for others the notification does not exist")
    func who() async throws {
        let test = try await TestBackend()
        let (ann, bob, eve) = (
            try await test.user("ann"), try await test.user("bob"), try await test.user("eve", .admin)
        )
        let first = try await test.send(ann, to: "username:bob")
        let second = try await test.send(ann, to: "username:bob")
        #expect(await code { try await test.backend.recall(first, for: bob) } == .notFound)
        #expect(await code { _ = try await test.backend.status(of: first, for: bob) } == .notFound)
        #expect(try await test.inbox(bob).count == 2)
        try await test.backend.recall(first, for: eve)
        try await test.backend.recall(second, for: ann)
        #expect(try await test.inbox(bob).isEmpty)
    }

    @Test("a recall while the hub cannot be reached holds, and the upkeep cancels later")
    func hubDown() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let id = try await test.send(ann)
        test.hub.failCancels(times: 1)
        try await test.backend.recall(id, for: ann)
        #expect(try await test.inbox(ann).isEmpty)
        #expect(test.hub.sends.first?.state == .dispatching)
        try await test.upkeep.work()
        #expect(test.hub.sends.first?.state == .cancelled)
        test.clock.advance(by: .seconds(60))
        #expect(try await test.upkeep.work() == 0)
    }

    @Test("a recall that comes while the send is being handed over cancels it")
    func duringSend() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let id = try #require(RichID(number: 1))
        test.hub.duringNextSend { try? await test.backend.recall(id, for: ann) }
        _ = try await test.send(ann)
        #expect(test.hub.sends.first?.state == .cancelled)
        #expect(try await test.inbox(ann).isEmpty)
    }

    @Test("a send that was recalled before the hub got it never leaves")
    func beforeHandOver() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        test.hub.failNext(.before(ServiceError(.storageUnavailable)))
        _ = await code { _ = try await test.send(ann) }
        try await test.backend.recall(try #require(RichID(number: 1)), for: ann)
        test.clock.advance(by: .seconds(60))
        try await test.upkeep.work()
        #expect(test.hub.sends.isEmpty)
    }

    @Test("a recall stops a send that the hub took without a confirmation")
    func unconfirmed() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        test.hub.failNext(.after(ServiceError(.outcomeUnknown)))
        #expect(await code { _ = try await test.send(ann) } == .outcomeUnknown)
        #expect(test.hub.sends.first?.state == .dispatching)
        let id = try #require(try await test.inbox(ann).first)
        test.hub.failCancels(times: 1)
        try await test.backend.recall(id, for: ann)
        #expect(test.hub.sends.first?.state == .dispatching)
        try await test.upkeep.work()
        #expect(test.hub.sends.first?.state == .cancelled)
        test.clock.advance(by: .seconds(3600))
        #expect(try await test.upkeep.work() == 0)
    }

    @Test("a send that is on its way to the hub when its recall gets there is not taken any more")
    func overtaken() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let id = try #require(RichID(number: 1))
        test.hub.beforeNextSend { try? await test.backend.recall(id, for: ann) }
        #expect(await code { _ = try await test.send(ann) } == .conflict)
        #expect(test.hub.sends.isEmpty)
        #expect(try await test.backend.status(of: id, for: ann).state == "cancelled")
        test.clock.advance(by: .seconds(60))
        #expect(try await test.upkeep.work() == 0)
    }

    @Test("recalled bytes leave the disk unless another notification uses them")
    func bytes() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let shared = try await test.store(ann)
        let lone = try await test.store(Sample.png(byteCount: 900), ann)
        let first = try await test.send(ann) { $0.contentID = shared }
        let second = try await test.send(ann) { $0.contentID = shared }
        let third = try await test.send(ann) { $0.contentID = lone }
        let loneDigest = try #require(try await test.store.notification(third)?.content?.digest)
        try await test.backend.recall(first, for: ann)
        try await test.backend.recall(third, for: ann)
        // The clock is ahead of the files' own time, so they are old enough to go.
        try await test.upkeep.sweep()
        #expect(try await test.contentStore.open(loneDigest) == nil)
        #expect(try await test.content(of: second, for: ann) == Sample.png)
    }
}
