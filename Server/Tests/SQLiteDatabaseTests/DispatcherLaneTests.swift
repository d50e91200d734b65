import ClarionTesting
import NIOConcurrencyHelpers
import RichPushModel
import StorageConformance
import Testing

@testable import PushHub

/// A one-device send never waits behind others, whatever those wait for.
@Suite("A one-device send beside large ones", .timeLimit(.minutes(5)))
struct DispatcherLaneTests {
    /// Holds batches back until it is opened.
    private final class Gate: Sendable {
        private struct State {
            var isOpen = false
            var held: [CheckedContinuation<Void, Never>] = []
        }

        private let state = NIOLockedValueBox(State())

        var count: Int { state.withLockedValue { $0.held.count } }

        func pass() async {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLockedValue { state in
                    if !state.isOpen { state.held.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
        }

        func open() {
            let held = state.withLockedValue { state in
                state.isOpen = true
                return state.held
            }
            for continuation in held { continuation.resume() }
        }
    }

    @Test("it leaves while the push service answers nothing to broadcasts and to smaller sends")
    func hangingService() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<1200, tags: ["all"])
        try await bench.register(1200..<1300, tags: ["some"])
        try await bench.register(1300..<1301, tags: ["one"])
        let gate = Gate()
        bench.transport.beforeAnswering { if $0.targets.count > 1 { await gate.pass() } }
        var others: [SendReceipt] = []
        for _ in 1...5 { others.append(try await bench.send(to: "all")) }
        for _ in 1...5 { others.append(try await bench.send(to: "some")) }
        let signal = DispatchSignal()
        let dispatcher = bench.dispatcher(signal: signal)
        try await withThrowingTaskGroup { group in
            group.addTask { await dispatcher.run() }
            #expect(await eventually { gate.count >= 4 })
            // Every slot for small and large slices is taken by a batch that does not come back.
            for _ in 1...20 {
                let receipt = try await bench.send(to: "one")
                signal.wake()
                while try await !bench.telemetry(receipt).state.isFinal {
                    try Task.checkCancellation()
                    await Task.yield()
                }
                #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 1])
            }
            #expect(gate.count == 4)
            gate.open()
            for receipt in others {
                while try await !bench.telemetry(receipt).state.isFinal {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
            group.cancelAll()
        }
        #expect(bench.transport.count(.accepted) == 20 + 5 * 1200 + 5 * 100)
    }

    @Test("neither small nor large sends can keep the other kind waiting")
    func bothKinds() async throws {
        for (many, few) in [("all", "some"), ("some", "all")] {
            let bench = try await HubBench()
            try await bench.register(0..<1100, tags: ["all"])
            try await bench.register(1100..<1200, tags: ["some"])
            for _ in 1...8 { _ = try await bench.send(to: many) }
            let receipt = try await bench.send(to: few)
            _ = await bench.dispatcher().pass()
            #expect(try await bench.telemetry(receipt).state == .completed, "\(few)")
        }
    }
}
