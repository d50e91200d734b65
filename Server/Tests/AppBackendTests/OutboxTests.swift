import AppBackend
import PushHub
import RichPushModel
import ServiceErrors
import Testing

@Suite struct OutboxTests {
    private static let down = ServiceError(.storageUnavailable)

    @Test("a send that the hub did not get is stored, and the upkeep hands it over once")
    func handedOver() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        test.hub.failNext(.before(Self.down))
        #expect(await code { _ = try await test.send(ann) } == .outcomeUnknown)
        let id = try #require(try await test.inbox(ann).first)
        #expect(try await test.backend.status(of: id, for: ann).state == "accepted")
        #expect(try await test.upkeep.work() == 0)
        test.clock.advance(by: .seconds(31))
        #expect(try await test.upkeep.work() == 1)
        #expect(test.hub.sends.count == 1)
        #expect(try await test.backend.status(of: id, for: ann).state == "dispatching")
    }

    @Test("a send that the hub took although its answer was lost is not sent twice")
    func answerLost() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        test.hub.failNext(.after(ServiceError(.outcomeUnknown)))
        #expect(await code { _ = try await test.send(ann, key: "k") } == .outcomeUnknown)
        let id = try await test.send(ann, key: "k")
        #expect(test.hub.sends.count == 1)
        #expect(try await test.inbox(ann) == [id])
        test.clock.advance(by: .seconds(31))
        try await test.upkeep.work()
        #expect(test.hub.sends.count == 1)
    }

    @Test("work that fails is put off and tried again, whatever else is due")
    func putOff() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        for _ in 0..<3 {
            test.hub.failNext(.before(Self.down))
            _ = await code { _ = try await test.send(ann) }
        }
        test.clock.advance(by: .seconds(31))
        test.hub.failNext(.before(Self.down))
        #expect(try await test.upkeep.work() == 3)
        #expect(test.hub.sends.count == 2)
        test.clock.advance(by: .seconds(120))
        try await test.upkeep.work()
        #expect(test.hub.sends.count == 3)
    }

    @Test("a send that the hub refuses for good is the caller's mistake and is in no inbox")
    func refused() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        test.hub.failNext(.before(ServiceError(.invalidField, "the hub says no")))
        #expect(await code { _ = try await test.send(ann) } == .invalidField)
        #expect(try await test.inbox(ann).isEmpty)
        let id = try #require(RichID(number: 1))
        #expect(await code { _ = try await test.backend.details(of: id, for: ann) } == .notFound)
        #expect(try await test.backend.status(of: id, for: ann).state == "failed")
        test.clock.advance(by: .seconds(3600))
        #expect(try await test.upkeep.work() == 0)
    }

    @Test("the completion is noted with the hub's own time, then nothing is left to do")
    func completion() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let id = try await test.send(ann)
        test.clock.advance(by: .seconds(5))
        try await test.upkeep.work()
        #expect(try await test.store.notification(id)?.completedAt == nil)
        test.hub.completeAll()
        let ended = test.clock.now
        test.clock.advance(by: .seconds(60))
        try await test.upkeep.work()
        #expect(try await test.store.notification(id)?.completedAt == ended)
        test.clock.advance(by: .seconds(3600))
        #expect(try await test.upkeep.work() == 0)
    }

    @Test("the numbers of notifications run on and are never used again")
    func numbers() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let first = try await test.send(ann)
        try await test.backend.recall(first, for: ann)
        let second = try await test.send(ann)
        #expect(first.number == 1)
        #expect(second.number == 2)
    }

    @Test("the observer hears of each accepted send, recall and receipt once")
    func observed() async throws {
        let test = try await TestBackend()
        let ann = try await test.user("ann")
        let (phone, _) = try await test.install(ann, "phone", handle: 1)
        let id = try await test.send(ann, key: "k")
        _ = try await test.send(ann, key: "k")
        let receipt = Receipt(richID: id, kind: .opened, at: test.clock.now)
        for _ in 0..<2 { try await test.backend.record(ReceiptBatch(receipts: [receipt]), for: phone) }
        try await test.backend.recall(id, for: ann)
        let kinds = test.events.all.map { event in
            switch event {
            case .accepted(let id, _, _, _, _, _): "accepted \(id)"
            case .recalled(let id): "recalled \(id)"
            case .receipt(let receipt, _, _): "receipt \(receipt.kind.rawValue)"
            case .registered(let record, _): "registered \(record)"
            case .signedOut(let record, _): "signed out \(record)"
            }
        }
        #expect(kinds == ["registered phone", "accepted 1", "receipt opened", "recalled 1"])
    }
}
