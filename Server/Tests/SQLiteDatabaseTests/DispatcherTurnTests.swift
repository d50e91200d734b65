import ClarionTesting
import RichPushModel
import StorageConformance
import Testing

@testable import PushHub

/// Nothing that is wrong with some targets holds up the others of their slice, or another send.
@Suite("Turns of retries, walks and sends")
struct DispatcherTurnTests {
    private static let down = PushOutcome.notSent(reason: "no connection")

    /// The first 15 handles are refused for now at their first try and never get an answer after it.
    private static let stubborn: ScriptedTransport.Script = { target, attempt in
        guard HubBench.number(target.handle) < 15 else { return .accepted }
        return attempt == 1 ? .retry(after: .seconds(1), reason: "429") : down
    }

    @Test("retries without an answer do not hold up the walk")
    func walkGoesOn() async throws {
        let bench = try await HubBench(Self.stubborn)
        try await bench.register(0..<800)
        let receipt = try await bench.send()
        let start = bench.clock.now
        // Slow batches: whenever the next page is asked for, retries are due.
        bench.transport.beforeAnswer { bench.clock.advance(by: .seconds(20)) }
        let dispatcher = bench.dispatcher { $0.window = 20 }
        for _ in 1...400 where bench.transport.count(.accepted) < 785 {
            if await dispatcher.pass() == 0 { bench.clock.advance(by: .seconds(1)) }
        }
        #expect(bench.transport.count(.accepted) == 785)
        #expect(bench.clock.now - start < .seconds(1800))
        bench.transport.beforeAnswer {}
        let end = try await bench.settle(receipt, dispatcher)
        #expect(end.outcomes == [.accepted: 785, .expired: 15])
        #expect(bench.transport.count(.accepted) == 785)
    }

    @Test("retries without an answer come at growing intervals and end with the horizon")
    func backOff() async throws {
        // Of a service that answers: one that cannot be reached is tried every few seconds, so that sending goes on at its return.
        let bench = try await HubBench { _, attempt in
            attempt == 1 ? .retry(after: .seconds(1), reason: "429") : .unavailable(reason: "ServiceUnavailable")
        }
        try await bench.register(0..<15)
        let start = bench.clock.now
        let end = try await bench.settle(try await bench.send(), bench.dispatcher(), step: .seconds(5))
        #expect(end.outcomes == [.expired: 15])
        #expect(bench.clock.now - start <= .seconds(1805))
        let tries = bench.transport.outcomes.values.map(\.count)
        // 2, 2, 4, … 60 seconds, of each at least the half, and up to 5 seconds late.
        #expect(tries.allSatisfy { (25...71).contains($0) }, "\(tries)")
    }

    @Test("targets that never get through cost the others of their slice nothing, not even when their time is over")
    func restIsSent() async throws {
        // So many from the first page on that the walk has to wait for them.
        let bench = try await HubBench { target, _ in HubBench.number(target.handle) % 4 == 0 ? Self.down : .accepted }
        try await bench.register(0..<400)
        let end = try await bench.settle(try await bench.send(), bench.dispatcher { $0.window = 100 }, step: .seconds(20))
        #expect(end.outcomes == [.accepted: 300, .expired: 100])
        #expect(bench.transport.count(.accepted) == 300)
    }

    @Test("a crash anywhere among unanswered retries loses no target and counts none twice", arguments: 0..<12)
    func crash(checkpoints: Int) async throws {
        let bench = try await HubBench(Self.stubborn)
        try await bench.register(0..<200)
        let receipt = try await bench.send()
        bench.transport.beforeAnswer { bench.clock.advance(by: .seconds(5)) }
        let dying = DyingQueue(bench.store.hub.queue, checkpointsBeforeDeath: checkpoints)
        _ = await bench.dispatcher(dying) { $0.window = 20 }.pass()
        let survivor = bench.dispatcher { $0.window = 20 }
        await survivor.takeOver()
        let end = try await bench.settle(receipt, survivor)
        #expect(end.outcomes[.accepted] == 185)
        #expect(end.outcomes.values.reduce(0, +) == 200)
        #expect((185...205).contains(bench.transport.count(.accepted)))
    }
}
