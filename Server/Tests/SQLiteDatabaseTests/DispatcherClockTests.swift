import ClarionTesting
import NIOConcurrencyHelpers
import RichPushModel
import Testing

@testable import PushHub

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
        "between a scheduled send and its moment misses none who registered, sends it at the moment, and once", arguments: jumps)
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
        #expect(end.state == .completed && end.outcomes == [.accepted: 30])
        #expect(bench.transport.count(.accepted) == 30 && !isEarly.withLockedValue { $0 })
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
        #expect(end.state == .completed && end.outcomes == [.accepted: 500])
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
        #expect(end.state == .completed && end.outcomes == [.accepted: 50])
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
        #expect(end.state == .completed && end.outcomes == [.accepted: 5])
        #expect(!isEarly.withLockedValue { $0 })
        #expect(bench.transport.count(.accepted) == 5)
    }

    @Test("tries again unless the clock says that the time for it is over, and then counts it", arguments: jumps)
    func retries(jump: Duration) async throws {
        let bench = try await HubBench { _, attempt in
            attempt > 1 ? .accepted : .retry(after: .seconds(10), reason: "TooManyRequests")
        }
        try await bench.register(0..<3)
        let receipt = try await bench.send()
        _ = await bench.dispatcher().pass()
        bench.clock.jump(by: jump)
        let end = try await settled(bench, receipt)
        // Jumps forward that are longer than half an hour, for which it is tried.
        let isOver = jump > .seconds(1_800)
        #expect(end.outcomes == (isOver ? [.rejected: 3] : [.accepted: 3]))
        #expect(bench.transport.count(.accepted) == (isOver ? 0 : 3))
    }
}
