import ClarionTesting
import RichPushModel
import ServiceErrors
import StorageConformance
import Testing

@testable import PushHub

@Suite("Dispatcher and a store behind a bad line")
struct DispatcherLineTests {
    @Test("what was leased in an answer that never came is sent with the next, not when the lease has run out")
    func lostLease() async throws {
        let bench = try await HubBench()
        try await bench.register(1)
        let receipt = try await bench.send()
        let queue = UncertainQueue(bench.store.hub.queue, clock: bench.clock, lostLeases: 1)
        let dispatcher = bench.dispatcher(queue)
        #expect(await dispatcher.pass() == 0)
        #expect(await dispatcher.pass() == 1)
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 1])
        #expect(bench.transport.batches.count == 1)
    }

    @Test("leases that are worked on are not freed with those whose answer was lost")
    func kept() async throws {
        let bench = try await HubBench()
        try await bench.register(1)
        _ = try await bench.send()
        let queue = bench.store.hub.queue
        let now = bench.clock.now
        let request = LeaseRequest(
            owner: "node", now: now, until: now + .seconds(60), limit: 4, smallLimit: 4, largeLimit: 4, singleLimit: 4)
        let lease = try #require(try await queue.lease(request).first)
        #expect(try await queue.release(of: "node", except: [lease.id]) == 0)
        #expect(try await queue.lease(request).isEmpty)
        #expect(try await queue.release(of: "other", except: []) == 0)
        #expect(try await queue.release(of: "node", except: []) == 1)
        #expect(try await queue.lease(request).map(\.id) == [lease.id])
    }

    @Test("a slice that is being sent when another lease's answer is lost stays leased, and is sent once")
    func staysLeased() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<300)
        let receipt = try await bench.send()
        let signal = DispatchSignal()
        let queue = UncertainQueue(bench.store.hub.queue, clock: bench.clock, lostLeases: 1, afterLeases: 1)
        let dispatcher = bench.dispatcher(queue, signal: signal)
        bench.transport.beforeAnswer {
            // The answer to this question is lost; the one after it frees leases without a worker.
            for _ in 0..<2 { _ = await dispatcher.pass() }
        }
        #expect(await dispatcher.pass() == 1)
        #expect(queue.releases.map(\.count) == [1])
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 300])
        #expect(bench.transport.count(.accepted) == 300)
    }

    @Test("a store that is only away has given no lease, so nothing is freed")
    func away() async throws {
        let bench = try await HubBench()
        let queue = UncertainQueue(
            bench.store.hub.queue, clock: bench.clock, lostLeases: 1, error: ServiceError(.storageUnavailable))
        let dispatcher = bench.dispatcher(queue)
        for _ in 0..<3 { #expect(await dispatcher.pass() == 0) }
        #expect(queue.releases.isEmpty)
    }

    @Test(
        "a slice that a store, away for a moment, did not take back is sent after five seconds, and not when its lease has run out"
    )
    func notPutBack() async throws {
        let bench = try await HubBench()
        try await bench.register(1)
        let receipt = try await bench.send()
        let queue = UncertainQueue(
            bench.store.hub.queue, clock: bench.clock, noCheckpointFor: .seconds(1), noPageFor: .seconds(1))
        let dispatcher = bench.dispatcher(queue)
        #expect(await dispatcher.pass() == 1)
        bench.clock.advance(by: .milliseconds(4_900))
        #expect(await dispatcher.pass() == 0 && queue.releases.isEmpty, "it rests like one that was put back")
        bench.clock.advance(by: .milliseconds(200))
        #expect(await dispatcher.pass() == 1)
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 1])
        #expect(queue.releases.count == 1)
        #expect(bench.transport.batches.count == 1)
        bench.clock.advance(by: .seconds(10))
        #expect(await dispatcher.pass() == 0 && queue.releases.count == 1, "the doubt is over")
    }

    @Test("a slice whose lease was renewed too slowly to send under it is not left to lie until that lease has run out")
    func slowRenewal() async throws {
        let bench = try await HubBench()
        try await bench.register(1)
        let receipt = try await bench.send()
        // Of the sixty seconds of a lease the last thirty are too short to send in.
        let queue = UncertainQueue(
            bench.store.hub.queue, clock: bench.clock, delays: [.page: .seconds(31), .renewal: .seconds(31)])
        let dispatcher = bench.dispatcher(queue)
        #expect(await dispatcher.pass() == 1)
        #expect(bench.transport.batches.isEmpty)
        bench.clock.advance(by: .seconds(5))
        #expect(await dispatcher.pass() == 1)
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 1])
    }

    @Test("a worker that ends after it has lost its slice leaves the slice to the next worker of the node, and does not free it")
    func leasedAgain() async throws {
        let bench = try await HubBench()
        try await bench.register(1)
        let receipt = try await bench.send()
        let queue = UncertainQueue(bench.store.hub.queue, clock: bench.clock, noCheckpointFor: .seconds(62))
        let dispatcher = bench.dispatcher(queue)
        let gates = [Gate(isOpen: false), Gate(isOpen: false)]
        bench.transport.beforeAnswer { [transport = bench.transport] in
            if let gate = gates.dropFirst(transport.batches.count - 1).first { await gate.pass() }
        }
        async let first = dispatcher.pass()
        await gates[0].holds(1)
        bench.clock.advance(by: .seconds(61))
        async let second = dispatcher.pass()
        await gates[1].holds(1)
        gates[0].open()
        #expect(await first == 1)
        bench.clock.advance(by: .seconds(6))
        #expect(await dispatcher.pass() == 0, "the second worker has it")
        #expect(queue.releases.map(\.count) == [1])
        gates[1].open()
        #expect(await second == 1)
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 1] && bench.transport.batches.count == 2)
    }

    @Test("a transport's preparation is over before the lease is checked")
    func gettingReady() async throws {
        let bench = try await HubBench()
        try await bench.register(1)
        let receipt = try await bench.send()
        let slow = SlowQueue(bench.store.hub.queue, clock: bench.clock, delay: .zero)
        bench.transport.whilePreparing { bench.clock.advance(by: .seconds(31)) }
        #expect(await bench.dispatcher(slow).pass() == 1)
        #expect(slow.renewals == 1)
        #expect(bench.transport.batches.count == 1)
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 1])
    }

    /// A pass during which the clock advances whenever a task waits for it.
    private func pass(_ dispatcher: Dispatcher, _ clock: ManualClock) async {
        await withTaskGroup { group in
            group.addTask { _ = await dispatcher.pass() }
            group.addTask {
                while !Task.isCancelled {
                    if clock.sleeperCount > 0 { clock.advance(by: .milliseconds(100)) }
                    await Task.yield()
                }
            }
            await group.next()
            group.cancelAll()
        }
    }

    @Test("feedback has the time at which the store received it, not that of the decision before an outage")
    func lateFeedback() async throws {
        let bench = try await HubBench { _, _ in .badToken }
        try await bench.register(0..<3)
        let start = bench.clock.now
        _ = try await bench.send()
        let queue = UncertainQueue(bench.store.hub.queue, clock: bench.clock, noCheckpointFor: .seconds(20))
        let dispatcher = bench.dispatcher(queue)
        await pass(dispatcher, bench.clock)
        let rows = try await bench.hub.feedback()
        #expect(rows.count == 3)
        #expect(rows.allSatisfy { $0.notedAt >= start + .seconds(20) })
    }

    @Test("a store that takes nothing for twenty seconds, less than a lease, costs no push a repeat")
    func outage() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<300)
        let receipt = try await bench.send()
        let queue = UncertainQueue(bench.store.hub.queue, clock: bench.clock, noCheckpointFor: .seconds(20))
        let dispatcher = bench.dispatcher(queue) { $0.window = 100 }
        await pass(dispatcher, bench.clock)
        #expect(bench.clock.uptime >= .seconds(20))
        let end = try await bench.settle(receipt, dispatcher)
        #expect(end.state == .completed)
        #expect(end.outcomes == [.accepted: 300])
        #expect(bench.transport.count(.accepted) == 300)
    }

    @Test("a turn ends after two seconds, however few pages that was, and goes on from there")
    func slowPages() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<500)
        let receipt = try await bench.send()
        let slow = SlowQueue(bench.store.hub.queue, clock: bench.clock, delay: .seconds(1))
        let dispatcher = bench.dispatcher(slow) { $0.window = 100 }
        #expect(await dispatcher.pass() == 1)
        #expect(bench.transport.batches.count == 2)
        let end = try await bench.settle(receipt, dispatcher)
        #expect(end.state == .completed)
        #expect(end.outcomes == [.accepted: 500])
        #expect(bench.transport.batches.count == 5)
    }
}
