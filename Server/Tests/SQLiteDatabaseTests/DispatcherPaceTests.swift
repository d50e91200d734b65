import ClarionTesting
import NIOConcurrencyHelpers
import RichPushModel
import ServiceErrors
import StorageConformance
import Testing

@testable import PushHub

@Suite("Paced sends")
struct DispatcherPaceTests {
    /// Works in steps of 50 ms until the send has ended; how many pushes had left after each.
    private func run(_ bench: HubBench, _ receipt: SendReceipt, _ change: (inout DispatchSettings) -> Void = { _ in })
        async throws
        -> [Int]
    {
        let dispatcher = bench.dispatcher(nil, change)
        var sums: [Int] = []
        for _ in 1...2000 {
            while await dispatcher.pass() > 0 {}
            sums.append(bench.transport.batches.reduce(0) { $0 + $1.targets.count })
            if try await bench.telemetry(receipt).state.isFinal { break }
            bench.clock.advance(by: .milliseconds(50))
        }
        return sums
    }

    private func check(_ sums: [Int], rate: Int, total: Int) {
        #expect(sums.last == total)
        for (index, sum) in sums.enumerated() {
            let second = sum - (index > 20 ? sums[index - 20] : 0)
            #expect(second <= rate + rate / 4 + 1, "step \(index)")
        }
        // Not slower than asked for either, but for one step lost with each portion.
        #expect(sums.count <= total * 20 * 3 / (rate * 2) + 20)
    }

    @Test("a paced send keeps its pace and reaches everybody once")
    func small() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<300)
        let receipt = try await bench.send(pace: 40)
        check(try await run(bench, receipt), rate: 40, total: 300)
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 300])
        #expect(bench.transport.outcomes.values.allSatisfy { $0 == [.accepted] })
    }

    @Test("the pace counts over all slices of a send")
    func split() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<10_050)
        let receipt = try await bench.send(pace: 4000)
        check(try await run(bench, receipt), rate: 4000, total: 10_050)
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 10_050])
    }

    @Test("retries keep the pace too, and each target is counted once")
    func retries() async throws {
        let bench = try await HubBench { _, attempt in attempt == 1 ? .retry(after: .seconds(1), reason: "429") : .accepted }
        try await bench.register(0..<40)
        let receipt = try await bench.send(pace: 20)
        let sums = try await run(bench, receipt)
        check(sums, rate: 20, total: 80)
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 40])
    }

    @Test("targets that always answer with a retry leave every other portion of a pace to the rest")
    func turns() async throws {
        let bench = try await HubBench { target, _ in
            HubBench.number(target.handle) < 30 ? .retry(after: .seconds(1), reason: "429") : .accepted
        }
        try await bench.register(0..<60)
        _ = try await bench.send(pace: 2)
        let dispatcher = bench.dispatcher()
        var pushes = 0
        while pushes < 120 {
            while await dispatcher.pass() > 0 {}
            pushes = bench.transport.batches.reduce(0) { $0 + $1.targets.count }
            bench.clock.advance(by: .milliseconds(50))
        }
        #expect(bench.transport.outcomes.count == 60, "of 120 pushes at least half belong to targets not tried yet")
    }

    @Test("a send without a pace does not wait for one that has it")
    func others() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<2000)
        for _ in 1...5 { _ = try await bench.send(pace: 1) }
        let dispatcher = bench.dispatcher()
        for _ in 1...5 { _ = await dispatcher.pass() }
        let receipt = try await bench.send(text: "in a hurry")
        for _ in 1...3 { _ = await dispatcher.pass() }
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 2000])
    }

    @Test("a paced send that is cancelled ends")
    func cancelled() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<50)
        let receipt = try await bench.send(pace: 4)
        let dispatcher = bench.dispatcher()
        _ = await dispatcher.pass()
        #expect(try await bench.hub.cancel(receipt.id))
        bench.clock.advance(by: .seconds(1))
        #expect(await dispatcher.pass() == 0)
        #expect(try await bench.telemetry(receipt).state == .cancelled && bench.transport.count(.accepted) == 1)
    }

    @Test("a running node comes back for a paced send before its next poll", .timeLimit(.minutes(5)))
    func running() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<3)
        let receipt = try await bench.send(pace: 4)
        let dispatcher = bench.dispatcher { $0.pollInterval = .seconds(3600) }
        await withTaskGroup { group in
            group.addTask { await dispatcher.run() }
            for count in 1...3 {
                #expect(await eventually { bench.transport.count(.accepted) >= count })
                // The poll and the pace sleep.
                #expect(await eventually { bench.clock.sleeperCount >= 2 })
                bench.clock.advance(by: .milliseconds(250))
            }
            while !Task.isCancelled, (try? await bench.telemetry(receipt).state.isFinal) != true { await Task.yield() }
            group.cancelAll()
        }
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 3])
    }

    @Test("a pace that is none is refused", arguments: [0, -1, 100_001, .max, .min])
    func refused(pace: Int) async throws {
        let bench = try await HubBench()
        let error = await #expect(throws: ServiceError.self) { try await bench.send(pace: pace) }
        #expect(error?.code == .invalidField)
        #expect(error?.detail?.contains("pushesPerSecond") == true)
    }
}
