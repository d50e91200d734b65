import ClarionTesting
import NIOConcurrencyHelpers
import RichPushModel
import ServiceErrors
import StorageConformance
import Testing

@testable import PushHub

@Suite("Dispatcher in trouble")
struct DispatcherTroubleTests {
    @Test("an unreachable service leaves no rows and no progress, and the send goes out later")
    func unreachable() async throws {
        let bench = try await HubBench { _, _ in .notSent(reason: "no connection") }
        try await bench.register(0..<40)
        let receipt = try await bench.send()
        let dispatcher = bench.dispatcher()
        #expect(await dispatcher.pass() == 1)
        #expect(bench.transport.batches.count == 1)
        #expect(await dispatcher.pass() == 0)
        #expect(try await bench.telemetry(receipt).outcomes == [:])
        bench.clock.advance(by: .seconds(2))
        bench.transport.follow { _, _ in .accepted }
        #expect(await dispatcher.pass() == 1)
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 40])
    }

    @Test(
        "a service that stays out of reach ends the send after the horizon",
        arguments: [
            PushOutcome.notSent(reason: "down"), .misconfigured(reason: "InvalidProviderToken"),
        ])
    func horizon(_ outcome: PushOutcome) async throws {
        let bench = try await HubBench { _, _ in outcome }
        try await bench.register(0..<40)
        let start = bench.clock.now
        let end = try await bench.settle(try await bench.send(), bench.dispatcher(), step: .seconds(20))
        #expect(end.state == .expired)
        #expect(end.outcomes == [.expired: 40])
        #expect(bench.clock.now - start >= .seconds(1800))
        #expect(bench.transport.batches.count <= 92)
    }

    @Test("of a mixed page nothing that was taken is sent again")
    func mixed() async throws {
        let bench = try await HubBench { target, attempt in
            attempt > 1 || target.handle.text.hasSuffix("0") ? .accepted : .notSent(reason: "stream refused")
        }
        try await bench.register(0..<300)
        let end = try await bench.settle(try await bench.send(), bench.dispatcher { $0.window = 100 })
        #expect(end.state == .completed)
        #expect(end.outcomes == [.accepted: 300])
        #expect(bench.transport.count(.accepted) == 300)
    }

    @Test("retries end as what they were when their time is over")
    func retriesEnd() async throws {
        let bench = try await HubBench { target, _ in
            target.handle.text.hasSuffix("1")
                ? .unknown(reason: "timeout") : .retry(after: .seconds(10), reason: "TooManyRequests")
        }
        try await bench.register(1..<3)
        let start = bench.clock.now
        let end = try await bench.settle(try await bench.send(), bench.dispatcher(), step: .seconds(10))
        #expect(end.state == .completed)
        #expect(end.outcomes == [.unknown: 1, .rejected: 1])
        #expect(bench.clock.now - start <= .seconds(1830))
        #expect(bench.transport.outcomes[HubBench.handle(1)]?.count == 3)
        #expect((bench.transport.outcomes[HubBench.handle(2)]?.count ?? 0) > 5)
    }

    @Test("a call that was never answered rings once, and the send says that its outcome is unknown and why")
    func unansweredCall() async throws {
        let bench = try await HubBench { _, _ in .unknown(reason: "stream-reset") }
        try await bench.register(1)
        let message = PushMessage(body: Array(#"{"aps":{}}"#.utf8), pushType: "voip", topic: "org.example.app.voip")
        let receipt = try await bench.hub.send(SendCommand(message: message, audience: nil))
        let end = try await bench.settle(receipt, bench.dispatcher())
        #expect(end.state == .completed)
        #expect(end.outcomes == [.unknown: 1])
        #expect(end.reasons == [OutcomeReason(outcome: .unknown, reason: "stream-reset"): 1])
        #expect(bench.transport.count(.unknown(reason: "stream-reset")) == 1)
    }

    @Test("a send that waits for an operator says so after its first try, and no more once it goes on")
    func waitsForOperator() async throws {
        let bench = try await HubBench { _, _ in .misconfigured(reason: "InvalidProviderToken") }
        try await bench.register(0..<3)
        let receipt = try await bench.send()
        #expect(receipt.targets == 3)
        let dispatcher = bench.dispatcher()
        _ = await dispatcher.pass()
        let waiting = try await bench.telemetry(receipt)
        #expect(waiting.wait == SendWait(.operator, reason: "InvalidProviderToken"))
        #expect(waiting.targets == 3)
        bench.transport.follow { _, _ in .accepted }
        let end = try await bench.settle(receipt, dispatcher, step: .seconds(31))
        #expect(end.state == .completed)
        #expect(end.wait == nil)
        #expect(end.targets == 3)
        #expect(end.outcomes == [.accepted: 3])
    }

    @Test("reasons are counted for each send, and the first devices that got nothing are named with theirs")
    func reasons() async throws {
        let bench = try await HubBench { target, _ in
            target.handle == HubBench.handle(1)
                ? .rejected(reason: "BadTopic") : target.handle == HubBench.handle(2) ? .tooLarge : .accepted
        }
        try await bench.register(0..<4)
        let receipt = try await bench.send()
        let end = try await bench.settle(receipt, bench.dispatcher())
        #expect(end.outcomes == [.accepted: 2, .rejected: 1, .tooLarge: 1])
        #expect(end.reasons == [OutcomeReason(outcome: .rejected, reason: "BadTopic"): 1])
        let failures = try await bench.hub.failures(of: receipt.id, limit: 10)
        #expect(
            Set(failures.map { "\($0.record?.text ?? "") \($0.outcome.rawValue) \($0.reason ?? "")" }) == [
                "device-1 rejected BadTopic", "device-2 too-large ",
            ])
        #expect(try await bench.hub.failures(of: receipt.id, limit: 1).count == 1)
    }

    @Test("of a slice at most a hundred devices are named, and all of them are counted")
    func boundedFailures() async throws {
        let bench = try await HubBench { _, _ in .rejected(reason: "BadTopic") }
        try await bench.register(0..<250)
        let receipt = try await bench.send()
        let end = try await bench.settle(receipt, bench.dispatcher { $0.window = 70 })
        #expect(end.reasons == [OutcomeReason(outcome: .rejected, reason: "BadTopic"): 250])
        #expect(try await bench.hub.failures(of: receipt.id, limit: 1_000).count == TargetFailure.limit)
    }

    @Test("of reasons that the push service makes up, some have a count of their own, cut short, and the rest share one")
    func boundedReasons() async throws {
        let bench = try await HubBench { target, _ in
            .rejected(reason: "\(HubBench.number(target.handle)) " + String(repeating: "x", count: 500))
        }
        try await bench.register(0..<100)
        let receipt = try await bench.send()
        let end = try await bench.settle(receipt, bench.dispatcher { $0.window = 30 })
        #expect(end.outcomes == [.rejected: 100])
        #expect(end.reasons.values.reduce(0, +) == 100)
        #expect(end.reasons.count == OutcomeReason.limit + 1)
        #expect(end.reasons[OutcomeReason(outcome: .rejected, reason: OutcomeReason.other)] == 100 - OutcomeReason.limit)
        #expect(end.reasons.keys.allSatisfy { $0.reason.utf8.count <= OutcomeReason.longest })
        let failures = try await bench.hub.failures(of: receipt.id, limit: 1_000)
        #expect(failures.allSatisfy { ($0.reason?.utf8.count ?? 0) <= OutcomeReason.longest })
    }

    @Test("a send that matches no device has no targets")
    func noMatch() async throws {
        let bench = try await HubBench()
        let receipt = try await bench.send(to: "username:misspelt")
        #expect(receipt.targets == 0)
        #expect(try await bench.telemetry(receipt).targets == 0)
        #expect(try await bench.settle(receipt, bench.dispatcher()).targets == 0)
    }

    @Test("a target that is refused for now gets its push later, and the others do not wait for it")
    func retried() async throws {
        let bench = try await HubBench { target, attempt in
            target.handle == HubBench.handle(3) && attempt < 4 ? .retry(after: .seconds(30), reason: "429") : .accepted
        }
        try await bench.register(0..<10)
        let receipt = try await bench.send()
        let dispatcher = bench.dispatcher()
        _ = await dispatcher.pass()
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 9])
        let end = try await bench.settle(receipt, dispatcher)
        #expect(end.state == .completed)
        #expect(end.outcomes == [.accepted: 10])
    }

    @Test("a send that found the service out of reach is tried once more, however long the node was down")
    func longStop() async throws {
        let bench = try await HubBench { _, _ in .notSent(reason: "down") }
        try await bench.register(0..<250)
        let receipt = try await bench.send()
        _ = await bench.dispatcher { $0.window = 100 }.pass()
        bench.clock.advance(by: .seconds(7200))
        bench.transport.follow { _, _ in .accepted }
        #expect(try await bench.settle(receipt, bench.dispatcher { $0.window = 100 }).outcomes == [.accepted: 250])
    }

    @Test("a slice with too many pending rows walks no further")
    func pendingLimit() async throws {
        let bench = try await HubBench { _, attempt in attempt < 3 ? .unknown(reason: "timeout") : .accepted }
        try await bench.register(0..<400)
        let receipt = try await bench.send()
        let dispatcher = bench.dispatcher { $0.window = 100 }
        _ = await dispatcher.pass()
        #expect(bench.transport.batches.count == 1)
        let end = try await bench.settle(receipt, dispatcher)
        #expect(end.outcomes == [.accepted: 400])
        #expect(bench.transport.batches.allSatisfy { $0.targets.count <= 100 })
    }

    @Test("a crash between send and checkpoint repeats at most the window of each slice")
    func crash() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<500)
        let receipt = try await bench.send()
        let dying = DyingQueue(bench.store.hub.queue, checkpointsBeforeDeath: 2)
        _ = await bench.dispatcher(dying) { $0.window = 100 }.pass()
        #expect(bench.transport.count(.accepted) == 300)
        let survivor = bench.dispatcher { $0.window = 100 }
        await survivor.takeOver()
        let end = try await bench.settle(receipt, survivor)
        #expect(end.outcomes == [.accepted: 500])
        #expect(bench.transport.count(.accepted) == 600)
        #expect(bench.transport.outcomes.values.allSatisfy { $0.count <= 2 })
    }

    @Test("a checkpoint whose answer is lost counts no target twice", arguments: 0..<5)
    func lostAnswer(checkpoints: Int) async throws {
        let bench = try await HubBench()
        try await bench.register(0..<500)
        let receipt = try await bench.send()
        let queue = DyingQueue(bench.store.hub.queue, checkpointsBeforeDeath: checkpoints, losesAnswerOnly: true)
        let end = try await bench.settle(receipt, bench.dispatcher(queue) { $0.window = 100 })
        #expect(end.state == .completed)
        #expect(end.outcomes == [.accepted: 500])
        #expect(bench.transport.count(.accepted) == 500)
    }

    @Test("a node that lost its lease has its checkpoint refused and tallies stay right")
    func lostLease() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<50)
        let receipt = try await bench.send()
        let isFirst = NIOLockedValueBox(true)
        bench.transport.beforeAnswer {
            guard isFirst.withLockedValue({ exchange(&$0, false) }) else { return }
            bench.clock.advance(by: .seconds(61))
            _ = await bench.dispatcher().pass()
        }
        _ = await bench.dispatcher().pass()
        let end = try await bench.telemetry(receipt)
        #expect(end.state == .completed)
        #expect(end.outcomes == [.accepted: 50])
        #expect(bench.transport.count(.accepted) == 100)
    }

    @Test("a lease that would not outlast a push is lengthened before the batch")
    func renewal() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<300)
        let receipt = try await bench.send()
        let slow = SlowQueue(bench.store.hub.queue, clock: bench.clock, delay: .seconds(40))
        let dispatcher = bench.dispatcher(slow) {
            $0.window = 100; $0.turnDuration = .seconds(3600)
        }
        _ = await dispatcher.pass()
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 300])
        #expect(slow.renewals >= 3)
    }

    @Test("a node whose lease went to another while it was slow sends nothing")
    func overtaken() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<30)
        let receipt = try await bench.send()
        let slow = SlowQueue(bench.store.hub.queue, clock: bench.clock, delay: .seconds(61)) {
            _ = await bench.dispatcher().pass()
        }
        _ = await bench.dispatcher(slow).pass()
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 30] && bench.transport.count(.accepted) == 30)
    }

    @Test("asked to stop, a node lets its batch come back, stores it and hands the slice back")
    func shutDown() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<300)
        let receipt = try await bench.send()
        let dispatcher = bench.dispatcher { $0.window = 100 }
        bench.transport.beforeAnswer { dispatcher.shutDown() }
        await dispatcher.run()
        #expect(bench.transport.batches.count == 1)
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 100])
        #expect(try await bench.settle(receipt, bench.dispatcher()).outcomes == [.accepted: 300])
        #expect(bench.transport.count(.accepted) == 300)
    }

    @Test("a cancelled node stores what came back and hands the slice back")
    func cancellation() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<300)
        let receipt = try await bench.send()
        let dispatcher = bench.dispatcher { $0.window = 100 }
        await withTaskGroup { group in
            group.addTask { await dispatcher.run() }
            #expect(await eventually { !bench.transport.batches.isEmpty })
            group.cancelAll()
        }
        #expect(try await bench.settle(receipt, bench.dispatcher()).outcomes == [.accepted: 300])
        #expect(bench.transport.count(.accepted) == 300)
    }
}

private func exchange(_ value: inout Bool, _ new: Bool) -> Bool {
    defer { value = new }
    return value
}
