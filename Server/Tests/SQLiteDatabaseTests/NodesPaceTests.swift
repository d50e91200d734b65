import ClarionTesting
import EngineTesting
import RichPushModel
import StorageConformance
import Testing

@testable import PushHub

@Suite("Paced sends and several nodes")
struct NodesPaceTests {
    private static let names = ["a", "b", "c"]
    private static let rate = 400
    private static let slices = 4

    /// A send to everybody in four slices, as a larger audience would have.
    private func send(_ bench: HubBench) async throws -> SendReceipt {
        var plan = SlicePlan(audience: 20_000)
        let keys = [0, 4, 8, 12, 16].map { $0 == 16 ? .last : plan.ranges[$0].after }
        plan.ranges = zip(keys, keys.dropFirst()).map { SlicePlan.Range(after: $0, last: $1) }
        let message = AcceptedMessage(body: Array(#"{"aps":{"alert":"a"}}"#.utf8), pushType: "alert", priority: 10)
        let send = AcceptedSend(
            hub: bench.hubID, id: NotificationID(), message: message, audience: nil, enqueuedAt: bench.clock.now,
            dueAt: bench.clock.now, slices: plan, pushesPerSecond: Self.rate)
        _ = try await bench.store.hub.intake.accept(send)
        return SendReceipt(id: send.id, dueAt: send.dueAt, isRepeat: false)
    }

    private func node(_ bench: HubBench, _ name: String, _ queue: (any SliceQueue)? = nil) -> Dispatcher {
        bench.dispatcher(queue) { settings in
            settings.owner = name
            settings.takeover = .own
        }
    }

    /// All nodes work at once in steps of 50 ms until the send has ended; how many pushes had left after each.
    private func run(_ bench: HubBench, _ receipt: SendReceipt, _ nodes: (_ step: Int) async -> [Dispatcher]) async throws
        -> [Int]
    {
        var sums: [Int] = []
        for step in 0..<400 {
            let nodes = await nodes(step)
            await withTaskGroup { group in
                for node in nodes { group.addTask { while await node.pass() > 0 {} } }
            }
            sums.append(bench.transport.batches.reduce(0) { $0 + $1.targets.count })
            if try await bench.telemetry(receipt).state.isFinal { break }
            bench.clock.advance(by: .milliseconds(50))
        }
        return sums
    }

    private func check(_ sums: [Int]) {
        for (index, sum) in sums.enumerated() {
            let second = sum - (index > 20 ? sums[index - 20] : 0)
            #expect(second <= Self.rate + Self.rate / 4 + Self.slices, "step \(index)")
        }
    }

    @Test("nodes that share a paced send keep its pace together", arguments: [TestEngine.sqlite, .postgresql])
    func together(_ engine: TestEngine) async throws {
        let bench = try await HubBench(on: engine)
        try await bench.register(0..<1000)
        let receipt = try await send(bench)
        let nodes = Self.names.map { node(bench, $0) }
        let sums = try await run(bench, receipt) { _ in nodes }
        check(sums)
        #expect(sums.last == 1000)
        // Not slower than asked for, but for the steps and for slices that come to their end at different times.
        #expect(sums.count < 1000 * 20 * 3 / (Self.rate * 2) + 20)
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 1000])
    }

    @Test(
        "nodes that die in the middle and come back at once do not make it faster", arguments: [TestEngine.sqlite, .postgresql])
    func dying(_ engine: TestEngine) async throws {
        let bench = try await HubBench(on: engine)
        try await bench.register(0..<1000)
        let receipt = try await send(bench)
        var (lives, last) = (Self.names.map { node(bench, $0) }, 0)
        let sums = try await run(bench, receipt) { step in
            guard step < 40 else {
                if last < 40 { for node in lives { await node.takeOver() } }
                last = step
                return lives
            }
            // One of them dies before it has stored what it sent.
            let name = Self.names[step % 3]
            let dying = node(bench, name, DyingQueue(bench.store.hub.queue, checkpointsBeforeDeath: 0))
            await dying.takeOver()
            lives[step % 3] = node(bench, name)
            return [dying] + lives.filter { $0 !== lives[step % 3] }
        }
        check(sums)
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 1000])
    }
}
