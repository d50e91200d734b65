import ClarionTesting
import RichPushModel
import StorageConformance
import Synchronization
import Testing

@testable import PushHub

@Suite("Paced sends to a slow push service")
struct DispatcherSlowPaceTests {
    /// A service that takes its time on the clock of a test, and knows how many pushes it has not answered.
    private final class SlowService: Sendable {
        private struct State {
            var batches = 0
            var targets = 0
            var most = 0
            var sent = 0
            var sentAt: [(at: Duration, count: Int)] = []
        }

        private let state = Mutex(State())

        var underway: (batches: Int, targets: Int) { state.withLock { ($0.batches, $0.targets) } }
        /// The most pushes that were under way at a time.
        var most: Int { state.withLock { $0.most } }
        var sent: Int { state.withLock { $0.sent } }
        var sentAt: [(at: Duration, count: Int)] { state.withLock { $0.sentAt } }

        func take(_ batch: PushBatch, _ clock: ManualClock, for length: Duration) async {
            let count = batch.targets.count
            state.withLock { state in
                state.batches += 1
                state.targets += count
                state.most = max(state.most, state.targets)
                state.sent += count
                state.sentAt.append((clock.uptime, count))
            }
            try? await clock.sleep(for: length)
            state.withLock { state in
                state.batches -= 1
                state.targets -= count
            }
        }
    }

    /// Lets one slice be worked on, moving time on while everybody waits for it: each batch for its answer, and the worker for its pace,
    /// unless everything has left or its window is full.
    private func pass(_ dispatcher: Dispatcher, _ bench: HubBench, _ service: SlowService, total: Int, window: Int) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await dispatcher.pass() }
            group.addTask {
                while !Task.isCancelled {
                    let (batches, targets) = service.underway
                    let isPaused = service.sent >= total || targets >= window
                    if batches > 0, bench.clock.sleeperCount >= batches + (isPaused ? 0 : 1) {
                        bench.clock.advance(by: .milliseconds(50))
                    }
                    await Task.yield()
                }
            }
            await group.next()
            group.cancelAll()
        }
    }

    @Test("answers that take longer than a portion do not make a send slower than its pace, nor faster")
    func keepsPace() async throws {
        let (bench, service) = (try await HubBench(), SlowService())
        try await bench.register(0..<300)
        bench.transport.beforeAnswering { [clock = bench.clock] in await service.take($0, clock, for: .seconds(1)) }
        let receipt = try await bench.send(pace: 40)
        let dispatcher = bench.dispatcher()
        await pass(dispatcher, bench, service, total: 300, window: 1000)
        let end = try #require(service.sentAt.last?.at)
        #expect(service.sent == 300 && end <= .seconds(8), "the last portion left after \(end)")
        for first in service.sentAt {
            let second = service.sentAt.filter { $0.at >= first.at && $0.at < first.at + .seconds(1) }
            #expect(second.reduce(0) { $0 + $1.count } <= 40 + 2 * 10 + 1)
        }
        #expect(try await bench.settle(receipt, dispatcher, step: .milliseconds(250)).outcomes == [.accepted: 300])
        #expect(bench.transport.outcomes.count == 300 && bench.transport.outcomes.values.allSatisfy { $0 == [.accepted] })
    }

    @Test("no more is under way than may be repeated after a crash")
    func window() async throws {
        let (bench, service) = (try await HubBench(), SlowService())
        try await bench.register(0..<120)
        bench.transport.beforeAnswering { [clock = bench.clock] in await service.take($0, clock, for: .seconds(3)) }
        let receipt = try await bench.send(pace: 40)
        let dispatcher = bench.dispatcher { $0.window = 35 }
        await pass(dispatcher, bench, service, total: 120, window: 35)
        #expect(service.most == 35)
        #expect(try await bench.settle(receipt, dispatcher, step: .milliseconds(250)).outcomes == [.accepted: 120])
    }

    @Test("a slice whose turn is over is given back when another waits for its hand, and kept when none does")
    func turns() async throws {
        let (bench, service) = (try await HubBench(), SlowService())
        try await bench.register(0..<200)
        bench.transport.beforeAnswering { [clock = bench.clock] in await service.take($0, clock, for: .seconds(1)) }
        let receipt = try await bench.send(pace: 40)
        let dispatcher = bench.dispatcher { $0.slots = 1 }
        // So many leave in its turn: after them only the answers are waited for.
        await pass(dispatcher, bench, service, total: 80, window: 1000)
        #expect(service.sent == 80, "those of two seconds")
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: service.sent])
    }

    @Test("a cancelled send stops at what is under way, which is counted")
    func cancelled() async throws {
        let (bench, gate) = (try await HubBench(), Gate(isOpen: false))
        try await bench.register(0..<100)
        bench.transport.beforeAnswer { await gate.pass() }
        let receipt = try await bench.send(pace: 40)
        let dispatcher = bench.dispatcher()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = await dispatcher.pass() }
            for count in 1...3 {
                await gate.holds(count)
                while bench.clock.sleeperCount == 0 { await Task.yield() }
                if count == 3 { #expect(try await bench.hub.cancel(receipt.id)) }
                bench.clock.advance(by: .milliseconds(250))
            }
            // It has looked at the send again, and waits for nothing but the answers.
            gate.open()
            try await group.waitForAll()
        }
        bench.clock.advance(by: .seconds(1))
        _ = await dispatcher.pass()
        let telemetry = try await bench.telemetry(receipt)
        #expect(telemetry.state == .cancelled && telemetry.outcomes[.accepted] == 30 && bench.transport.batches.count == 3)
    }

    @Test(
        "whatever a portion is answered, in whatever order: each target is counted once, and none is pushed again that was accepted"
    )
    func random() async throws {
        for _ in 0..<8 {
            var generator = SeededGenerator()
            let seed = generator.seed
            print("seed \(seed)")
            let (bench, service) = (try await HubBench(), SlowService())
            try await bench.register(0..<120)
            let chance = Mutex(SeededGenerator(seed: UInt64.random(in: 0...UInt64.max, using: &generator)))
            // Some batches do not leave at all, as when a connection is gone; of others single pushes do not, or are put off.
            let bad = Mutex<Set<DeviceHandle>>([])
            bench.transport.beforeAnswering { [clock = bench.clock] batch in
                let (steps, fate) = chance.withLock { (Int.random(in: 0...20, using: &$0), Int.random(in: 0...9, using: &$0)) }
                let handles = batch.targets.map(\.handle)
                let unsent = fate < 2 ? handles[...] : fate < 5 ? handles.suffix(Int(handles.count) / 2) : []
                await service.take(batch, clock, for: .milliseconds(100 * steps))
                bad.withLock { bad in
                    bad.subtract(handles)
                    bad.formUnion(unsent)
                }
            }
            bench.transport.follow { target, _ in
                if bad.withLock({ $0.contains(target.handle) }) { return .notSent(reason: "gone") }
                let roll = chance.withLock { Int.random(in: 0...19, using: &$0) }
                return roll == 0 ? .retry(after: .seconds(1), reason: "429") : roll == 1 ? .notSent(reason: "one") : .accepted
            }
            let receipt = try await bench.send(pace: 40)
            let dispatcher = bench.dispatcher {
                // Time runs while storage works here: it is not what this is about.
                $0.leaseDuration = .seconds(86_400)
                $0.retryHorizon = .seconds(86_400)
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for _ in 0..<5000 {
                        if await dispatcher.pass() == 0 { bench.clock.advance(by: .milliseconds(250)) }
                        if (try? await bench.telemetry(receipt).state.isFinal) == true { return }
                    }
                }
                group.addTask {
                    while !Task.isCancelled {
                        if bench.clock.sleeperCount > 0 { bench.clock.advance(by: .milliseconds(20)) }
                        await Task.yield()
                    }
                }
                await group.next()
                group.cancelAll()
            }
            let telemetry = try await bench.telemetry(receipt)
            #expect(telemetry.state == .completed && telemetry.outcomes == [.accepted: 120], "seed \(seed)")
            let accepted = bench.transport.outcomes.values.map { $0.count { $0 == .accepted } }
            #expect(accepted.count == 120 && accepted.allSatisfy { $0 == 1 }, "seed \(seed)")
        }
    }
}
