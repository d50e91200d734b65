import ClarionTesting
import RichPushModel
import ServiceErrors
import StorageConformance
import Testing

@testable import PushHub

@Suite("Dispatcher on real storage")
struct DispatcherTests {
    @Test("a push reaches each matching record once and no other")
    func once() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<1200, tags: ["news"])
        try await bench.register(1200..<1300, tags: ["other"])
        let receipt = try await bench.send(to: "news")
        let end = try await bench.settle(receipt, bench.dispatcher())
        #expect(end.state == .completed)
        #expect(end.outcomes == [.accepted: 1200])
        #expect(Set(bench.transport.outcomes.keys) == Set((0..<1200).map(HubBench.handle)))
        #expect(bench.transport.outcomes.values.allSatisfy { $0 == [.accepted] })
        #expect(bench.transport.batches.allSatisfy { $0.targets.count <= 1000 })
    }

    @Test("a broadcast above the limit is split and every record gets it once")
    func split() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<10_050)
        let receipt = try await bench.send()
        let end = try await bench.settle(receipt, bench.dispatcher())
        #expect(end.outcomes == [.accepted: 10_050])
        #expect(bench.transport.outcomes.count == 10_050)
    }

    @Test("an empty audience completes at once")
    func emptyAudience() async throws {
        let bench = try await HubBench()
        let end = try await bench.settle(try await bench.send(to: "nobody"), bench.dispatcher())
        #expect(end.state == .completed)
        #expect(end.outcomes == [:])
        #expect(bench.transport.batches.isEmpty)
    }

    @Test("several records with one handle are one push; the others count as skipped")
    func twins() async throws {
        let bench = try await HubBench()
        for number in 0..<5 { try await bench.register(number, tags: ["t"], handle: 77) }
        let end = try await bench.settle(try await bench.send(to: "t"), bench.dispatcher())
        #expect(end.outcomes == [.accepted: 1, .skipped: 4])
        #expect(bench.transport.count(.accepted) == 1)
    }

    @Test("of however many records with one handle those that the send means are one push, wherever they stand")
    func manyTwins() async throws {
        let bench = try await HubBench()
        let numbers = (0..<203).sorted { SliceKey(of: RecordID("device-\($0)")!) < SliceKey(of: RecordID("device-\($1)")!) }
        for (place, number) in numbers.enumerated() {
            try await bench.register(number, tags: place < 200 ? ["x"] : ["t"], handle: 77)
        }
        let end = try await bench.settle(try await bench.send(to: "t"), bench.dispatcher())
        #expect(end.outcomes == [.accepted: 1, .skipped: 2])
        #expect(bench.transport.count(.accepted) == 1)
        let all = try await bench.settle(try await bench.send(), bench.dispatcher())
        #expect(all.outcomes == [.accepted: 1, .skipped: 202])
        let most = try await bench.settle(try await bench.send(to: "!t"), bench.dispatcher { $0.window = 7 })
        #expect(most.outcomes == [.accepted: 1, .skipped: 199])
    }

    @Test("a record created after the send was due is not in it")
    func later() async throws {
        let bench = try await HubBench()
        try await bench.register(1)
        let receipt = try await bench.send()
        bench.clock.advance(by: .seconds(1))
        try await bench.register(2)
        let end = try await bench.settle(receipt, bench.dispatcher())
        #expect(end.outcomes == [.accepted: 1])
        #expect(bench.transport.outcomes.keys.first == HubBench.handle(1))
    }

    @Test("a scheduled send waits for its time")
    func scheduled() async throws {
        let bench = try await HubBench()
        try await bench.register(1)
        let receipt = try await bench.send(dueAt: bench.clock.now + .seconds(60))
        let dispatcher = bench.dispatcher()
        #expect(await dispatcher.pass() == 0)
        #expect(try await bench.telemetry(receipt).state == .scheduled)
        bench.clock.advance(by: .seconds(60))
        #expect(await dispatcher.pass() == 1)
        #expect(try await bench.telemetry(receipt).state == .completed)
    }

    @Test("after a cancel nothing more leaves than the batch that was on its way")
    func cancelled() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<250)
        let receipt = try await bench.send()
        bench.transport.beforeAnswer { _ = try? await bench.hub.cancel(receipt.id) }
        let dispatcher = bench.dispatcher { $0.window = 100 }
        let end = try await bench.settle(receipt, dispatcher)
        #expect(end.state == .cancelled)
        #expect(end.outcomes == [.accepted: 100])
        #expect(bench.transport.batches.count == 1)
        #expect(await dispatcher.pass() == 0)
        #expect(try await bench.hub.cancel(receipt.id) == false)
    }

    @Test("what was not sent in time is tallied as expired without a push")
    func expired() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<30)
        let receipt = try await bench.send(expiresAt: bench.clock.now + .seconds(10))
        bench.clock.advance(by: .seconds(11))
        let end = try await bench.settle(receipt, bench.dispatcher())
        #expect(end.state == .expired)
        #expect(end.outcomes == [.expired: 30])
        #expect(bench.transport.batches.isEmpty)
    }

    @Test("a 410 that is newer than the registration forgets the record, an older one does not")
    func gone() async throws {
        let bench = try await HubBench()
        try await bench.register(1)
        bench.clock.advance(by: .seconds(100))
        let between = bench.clock.now
        bench.clock.advance(by: .seconds(100))
        try await bench.register(2)
        bench.transport.follow { _, _ in .gone(since: between) }
        let end = try await bench.settle(try await bench.send(), bench.dispatcher())
        #expect(end.outcomes == [.gone: 1, .rejected: 1])
        #expect(try await bench.hub.device(RecordID("device-1")!) == nil)
        #expect(try await bench.hub.device(RecordID("device-2")!) != nil)
    }

    @Test("a bad token makes the record inactive until it registers again and never deletes it")
    func badToken() async throws {
        let bench = try await HubBench { _, _ in .badToken }
        try await bench.register(1)
        let dispatcher = bench.dispatcher()
        #expect(try await bench.settle(try await bench.send(), dispatcher).outcomes == [.badToken: 1])
        #expect(try await bench.hub.device(RecordID("device-1")!)?.inactiveAt != nil)
        #expect(try await bench.settle(try await bench.send(), dispatcher).outcomes == [:])
        bench.transport.follow { _, _ in .accepted }
        try await bench.register(1)
        #expect(try await bench.settle(try await bench.send(), dispatcher).outcomes == [.accepted: 1])
    }

    @Test("a one-device send does not wait for broadcasts", arguments: [1, 4])
    func fairness(broadcasts: Int) async throws {
        let bench = try await HubBench()
        try await bench.register(0..<1500)
        try await bench.register(1500..<1501, tags: ["one"])
        for _ in 1...broadcasts { _ = try await bench.send() }
        let receipt = try await bench.send(to: "one", text: "single")
        let dispatcher = bench.dispatcher {
            $0.pagesPerTurn = 1; $0.window = 100
        }
        _ = await dispatcher.pass()
        #expect(try await bench.telemetry(receipt).state == .completed)
        #expect(bench.transport.batches.filter(\.isExpress).map(\.targets.count) == [1])
    }

    @Test("a repeat of a send with its key is answered as before and sent once")
    func idempotency() async throws {
        let bench = try await HubBench()
        try await bench.register(1)
        let expiry = bench.clock.now + .seconds(5)
        let first = try await bench.send(expiresAt: expiry, key: "k")
        bench.clock.advance(by: .seconds(10))
        let second = try await bench.send(expiresAt: expiry, key: "k")
        #expect(second == SendReceipt(id: first.id, dueAt: first.dueAt, isRepeat: true))
        await #expect(throws: ServiceError.self) { try await bench.send(expiresAt: expiry, key: "k", text: "other") }
        #expect(await bench.dispatcher().pass() == 1)
    }
}
