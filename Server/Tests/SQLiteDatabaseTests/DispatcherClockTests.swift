import AppBackend
import ClarionTesting
import NIOConcurrencyHelpers
import RichPushModel
import SQLStorage
import Testing

@testable import PushHub
@testable import StorageConformance

/// A machine's clock that is set forward or back by hours while the node works.
@Suite("A dispatcher whose clock jumps")
struct DispatcherClockTests {
    private static let jumps: [Duration] = [30, 7_200, 86_400].flatMap { [Duration.seconds($0), Duration.seconds(-$0)] }

    private func settled(_ bench: HubBench, _ receipt: SendReceipt) async throws -> NotificationTelemetry {
        try await bench.settle(receipt, bench.dispatcher { $0.window = 100 }, step: .seconds(60))
    }

    @Test("between the registration of devices and a send misses none of them", arguments: jumps)
    func registered(jump: Duration) async throws {
        let bench = try await HubBench()
        try await bench.register(0..<50, tags: ["news"])
        bench.clock.jump(by: jump)
        for audience in [nil, "news", "news && !sports"] {
            let before = bench.transport.count(.accepted)
            let end = try await settled(bench, try await bench.send(to: audience))
            #expect(end.state == .completed && end.outcomes == [.accepted: 50], "\(audience ?? "all")")
            #expect(bench.transport.count(.accepted) == before + 50)
        }
    }

    @Test(
        "between a scheduled send and its moment misses no device that registered, sends it at the moment, and once",
        arguments: jumps)
    func registeredForLater(jump: Duration) async throws {
        let bench = try await HubBench()
        let due = bench.clock.now + .seconds(600)
        let receipt = try await bench.send(dueAt: due)
        try await bench.register(0..<20)
        bench.clock.jump(by: jump)
        try await bench.register(20..<30)
        let isEarly = NIOLockedValueBox(false)
        bench.transport.beforeAnswer { if bench.clock.now < due { isEarly.withLockedValue { $0 = true } } }
        let end = try await settled(bench, receipt)
        #expect(end.state == .completed)
        #expect(end.outcomes == [.accepted: 30])
        #expect(bench.transport.count(.accepted) == 30)
        #expect(!isEarly.withLockedValue { $0 })
    }

    @Test("in the middle of a send counts every device once and repeats within the bound", arguments: jumps)
    func middle(jump: Duration) async throws {
        let bench = try await HubBench()
        try await bench.register(0..<500)
        let receipt = try await bench.send()
        let batches = NIOLockedValueBox(0)
        bench.transport.beforeAnswer {
            let number = batches.withLockedValue { count in
                count += 1
                return count
            }
            guard number == 2 else { return }
            bench.clock.jump(by: jump)
            // Another node looks at the leases at this moment.
            _ = await bench.dispatcher { $0.window = 100 }.pass()
        }
        let end = try await settled(bench, receipt)
        #expect(end.state == .completed)
        #expect(end.outcomes == [.accepted: 500])
        // One slice, so at most once the window for the one lease that can seem to be over.
        #expect((500...600).contains(bench.transport.count(.accepted)))
    }

    @Test("between the acceptance of a send and its leaving loses nothing and sends nothing twice", arguments: jumps)
    func waiting(jump: Duration) async throws {
        let bench = try await HubBench()
        try await bench.register(0..<50)
        let receipt = try await bench.send()
        bench.clock.jump(by: jump)
        let end = try await settled(bench, receipt)
        #expect(end.state == .completed)
        #expect(end.outcomes == [.accepted: 50])
        #expect(bench.transport.count(.accepted) == 50)
    }

    @Test("sends what is scheduled when the clock shows the moment, not before and once", arguments: jumps)
    func scheduled(jump: Duration) async throws {
        let bench = try await HubBench()
        try await bench.register(0..<5)
        let due = bench.clock.now + .seconds(600)
        let receipt = try await bench.send(dueAt: due)
        bench.clock.jump(by: jump)
        let isEarly = NIOLockedValueBox(false)
        bench.transport.beforeAnswer { if bench.clock.now < due { isEarly.withLockedValue { $0 = true } } }
        let end = try await settled(bench, receipt)
        #expect(end.state == .completed)
        #expect(end.outcomes == [.accepted: 5])
        #expect(!isEarly.withLockedValue { $0 })
        #expect(bench.transport.count(.accepted) == 5)
    }

    @Test("tries a refused push again after its wait, and gives up no target early", arguments: jumps)
    func retries(jump: Duration) async throws {
        let bench = try await HubBench { _, attempt in
            attempt > 1 ? .accepted : .retry(after: .seconds(10), reason: "TooManyRequests")
        }
        try await bench.register(0..<3)
        let receipt = try await bench.send()
        _ = await bench.dispatcher().pass()
        try await set(bench, by: jump)
        let end = try await telemetry(bench, receipt, after: SQLWaitRepair.longestWait)
        #expect(end.outcomes == [.accepted: 3])
        #expect(bench.transport.count(.accepted) == 3)
    }

    @Test("keeps trying while the push service is out of reach, for as long as without a step", arguments: jumps)
    func outOfReach(jump: Duration) async throws {
        let isAway = NIOLockedValueBox(true)
        let bench = try await HubBench { _, _ in
            isAway.withLockedValue { $0 } ? .notSent(reason: "unreachable") : .accepted
        }
        try await bench.register(0..<3)
        let receipt = try await bench.send()
        _ = try await telemetry(bench, receipt, after: .seconds(600))
        try await set(bench, by: jump)
        #expect(try await telemetry(bench, receipt, after: .seconds(600)).state == .dispatching)
        isAway.withLockedValue { $0 = false }
        #expect(try await telemetry(bench, receipt, after: .seconds(60)).outcomes == [.accepted: 3])
    }

    @Test("gives up what cannot be sent after the retry horizon, and not much later for a step", arguments: jumps)
    func horizon(jump: Duration) async throws {
        let bench = try await HubBench { _, _ in .notSent(reason: "unreachable") }
        try await bench.register(0..<3)
        let receipt = try await bench.send()
        _ = try await telemetry(bench, receipt, after: .seconds(600))
        try await set(bench, by: jump)
        // Before a step back half an hour may begin anew.
        #expect(try await telemetry(bench, receipt, after: .seconds(1_900)).outcomes == [.expired: 3])
    }

    @Test("sends what was just accepted at once", arguments: jumps)
    func accepted(jump: Duration) async throws {
        let bench = try await HubBench()
        try await bench.register(0..<3)
        let receipt = try await bench.send()
        try await set(bench, by: jump)
        _ = await bench.dispatcher().pass()
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 3])
    }

    @Test("takes the slices of a node that died before a step when their lease ends", arguments: jumps)
    func deadNode(jump: Duration) async throws {
        let bench = try await HubBench()
        try await bench.register(0..<3)
        let receipt = try await bench.send()
        let request = LeaseRequest(
            owner: "dead", now: bench.clock.now, until: bench.clock.now + Self.lease, limit: 4, smallLimit: 4, largeLimit: 4,
            singleLimit: 4)
        #expect(try await bench.store.hub.queue.lease(request).count == 1)
        try await set(bench, by: jump)
        // A lease that seems to hold for a few minutes may be one of a node with longer ones.
        let end = try await telemetry(bench, receipt, after: SQLWaitRepair.longestWait + Self.lease)
        #expect(end.outcomes == [.accepted: 3])
    }

    @Test("leaves what is scheduled alone when the clock was set back", arguments: jumps.filter { $0 < .zero })
    func schedulesStay(jump: Duration) async throws {
        let bench = try await HubBench()
        try await bench.register(0..<3)
        let receipt = try await bench.send(dueAt: bench.clock.now + .seconds(60))
        try await set(bench, by: jump)
        _ = await bench.dispatcher().pass()
        #expect(bench.transport.count(.accepted) == 0)
        bench.clock.advance(by: .seconds(60) - jump)
        _ = await bench.dispatcher().pass()
        #expect(try await bench.telemetry(receipt).outcomes == [.accepted: 3])
    }

    @Test("a job that waits or whose node died goes on within minutes of a step back", arguments: jumps.filter { $0 < .zero })
    func jobs(jump: Duration) async throws {
        let bench = try await HubBench()
        let jobs = SQLJobStore(bench.store.database)
        let new = NewJob(
            kind: .importUpdate, output: ContainerName("output")!, folder: "", inputs: [], total: 1)
        let number = try await jobs.create(new, limit: 10, in: bench.hubID, at: bench.clock.now).number
        let lease = try #require(
            try await jobs.claim(owner: "dead", until: bench.clock.now + Self.lease, at: bench.clock.now))
        try await set(bench, by: jump)
        bench.clock.advance(by: SQLWaitRepair.longestWait + Self.lease)
        let now = bench.clock.now
        let next = try #require(try await jobs.claim(owner: "next", until: now + Self.lease, at: now))
        #expect(next.job.number == number)
        #expect(next.epoch > lease.epoch)
    }

    @Test("the outbox goes on after a step back, and a send that is due later is still dispatched later")
    func outbox() async throws {
        let bench = try await HubBench()
        let store = SQLBackendStore(bench.store.database)
        let ada = try await BackendSample.user("ada", in: store)
        let sends = [
            try await BackendSample.send(try BackendSample.draft(from: ada, to: "a"), in: store),
            try await BackendSample.send(try BackendSample.draft(from: ada, to: "a"), in: store),
        ]
        let work = OutboxWork(id: sends[0].id, task: .send, dueAt: BackendSample.start)
        try await store.postpone(work, until: BackendSample.time(86_400))
        _ = try await store.markSent(sends[1].id, trackingID: NotificationID(), check: BackendSample.time(86_400))
        let repair = SQLWaitRepair(bench.store.database, lease: Self.lease)
        func due(at moment: Timestamp) async throws -> [OutboxWork.Task] {
            _ = try await repair.run(at: moment)
            return try await store.dueWork(at: moment, limit: 9).map(\.task)
        }
        #expect(try await due(at: BackendSample.time(-3_600)) == [.send])
        #expect(try await due(at: BackendSample.time(0)) == [.send, .track])
    }

    private static let lease: Duration = .seconds(60)

    /// Sets the clock and shortens the waits, as the upkeep of a node does within a second.
    private func set(_ bench: HubBench, by jump: Duration) async throws {
        bench.clock.jump(by: jump)
        _ = try await SQLWaitRepair(bench.store.database, lease: Self.lease).run(at: bench.clock.now)
    }

    /// What became of a send after so much time of a dispatcher that looks every five seconds.
    private func telemetry(
        _ bench: HubBench, _ receipt: SendReceipt, after time: Duration
    ) async throws -> NotificationTelemetry {
        let end = bench.clock.uptime + time
        let dispatcher = bench.dispatcher { $0.leaseDuration = Self.lease }
        while bench.clock.uptime < end {
            while await dispatcher.pass() > 0 {}
            bench.clock.advance(by: .seconds(5))
        }
        _ = await dispatcher.pass()
        return try await bench.telemetry(receipt)
    }
}
