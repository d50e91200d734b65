import ClarionTesting
import RichPushModel
import ServiceErrors
import Testing

@testable import PushHub

@Suite("Sends with a frequency cap")
struct DispatcherCapTests {
    private static func cap(_ text: String = "news=1/1h") throws -> FrequencyCap { try #require(FrequencyCap(text)) }

    private static func user(_ number: Int) throws -> String { Tag.user(try #require(UserName("user-\(number)"))).text }

    private func send(_ bench: HubBench, _ cap: FrequencyCap?, pace: Int? = nil) async throws -> SendReceipt {
        var command = SendCommand(
            message: PushMessage(body: Array(#"{"aps":{"alert":"a"}}"#.utf8)), audience: nil, pushesPerSecond: pace)
        command.cap = cap
        return try await bench.hub.send(command)
    }

    @Test("users who had their share get nothing, which is counted and is no failure")
    func holdsBack() async throws {
        let bench = try await HubBench()
        for number in 0..<250 { try await bench.register(number, tags: [try Self.user(number)]) }
        #expect(try await bench.settle(try await send(bench, Self.cap()), bench.dispatcher()).outcomes == [.accepted: 250])
        for number in 250..<300 { try await bench.register(number, tags: [try Self.user(number)]) }
        let second = try await send(bench, Self.cap())
        let end = try await bench.settle(second, bench.dispatcher())
        #expect(end.outcomes == [.accepted: 50, .capped: 250])
        #expect(end.state == .completed)
        #expect(try await bench.hub.failures(of: second.id, outcome: nil, after: .beforeAll, limit: 10).isEmpty)
        #expect(bench.transport.count(.accepted) == 300)
        #expect(try await bench.settle(try await send(bench, nil), bench.dispatcher()).outcomes == [.accepted: 300])
        bench.clock.advance(by: .seconds(3_601))
        #expect(try await bench.settle(try await send(bench, Self.cap()), bench.dispatcher()).outcomes == [.accepted: 300])
    }

    @Test("all devices of a user get a send that was counted for one of them, in whatever page")
    func allDevices() async throws {
        let bench = try await HubBench()
        for number in 0..<60 { try await bench.register(number, tags: [try Self.user(number % 3)]) }
        for accepted in [60, 0] {
            let end = try await bench.settle(try await send(bench, Self.cap()), bench.dispatcher { $0.window = 7 })
            #expect(end.outcomes[.accepted, default: 0] == accepted)
        }
    }

    @Test("a push that is tried again is not held back by its own count")
    func retries() async throws {
        let bench = try await HubBench { _, attempt in attempt == 1 ? .retry(after: .seconds(1), reason: "r") : .accepted }
        for number in 0..<10 { try await bench.register(number, tags: [try Self.user(number)]) }
        let end = try await bench.settle(try await send(bench, Self.cap()), bench.dispatcher())
        #expect(end.outcomes == [.accepted: 10])
    }

    @Test("a pace does not wait for pushes that are held back")
    func pace() async throws {
        let bench = try await HubBench()
        for number in 0..<300 { try await bench.register(number, tags: [try Self.user(number)]) }
        _ = try await bench.settle(try await send(bench, Self.cap()), bench.dispatcher())
        let begin = bench.clock.uptime
        let end = try await bench.settle(try await send(bench, Self.cap(), pace: 1), bench.dispatcher())
        #expect(end.outcomes == [.capped: 300])
        #expect(bench.clock.uptime - begin < .seconds(10))
    }

    @Test("what has expired is not counted")
    func expired() async throws {
        let bench = try await HubBench()
        try await bench.register(0..<5, tags: ["t"])
        var command = SendCommand(message: PushMessage(body: Array(#"{"aps":{"alert":"a"}}"#.utf8)), audience: nil)
        command.cap = try Self.cap()
        command.message.expiresAt = bench.clock.now + .seconds(10)
        let receipt = try await bench.hub.send(command)
        bench.clock.advance(by: .seconds(11))
        #expect(try await bench.settle(receipt, bench.dispatcher()).outcomes == [.expired: 5])
        #expect(try await bench.settle(try await send(bench, Self.cap()), bench.dispatcher()).outcomes == [.accepted: 5])
    }

    @Test("a node that dies after it counted a page does not keep the next from sending it")
    func dies() async throws {
        for left in 0...3 {
            let bench = try await HubBench()
            for number in 0..<40 { try await bench.register(number, tags: [try Self.user(number % 10)]) }
            let receipt = try await send(bench, Self.cap())
            let dying = DyingQueue(bench.store.hub.queue, checkpointsBeforeDeath: left)
            _ = await bench.dispatcher(dying) { $0.window = 10 }.pass()
            let survivor = bench.dispatcher { $0.window = 10 }
            await survivor.takeOver()
            let end = try await bench.settle(receipt, survivor)
            #expect(end.outcomes == [.accepted: 40], "dead after \(left)")
        }
    }

    @Test("a send to device tokens has no cap")
    func handles() async throws {
        let bench = try await HubBench()
        var command = SendCommand(
            message: PushMessage(body: Array(#"{"aps":{"alert":"a"}}"#.utf8)), recipients: .handles([HubBench.handle(1)]))
        command.cap = try Self.cap()
        await #expect { _ = try await bench.hub.send(command) } throws: { ($0 as? ServiceError)?.code == .invalidField }
    }

    @Test("an idempotency key stands for one cap")
    func key() async throws {
        let bench = try await HubBench()
        var command = SendCommand(
            message: PushMessage(body: Array(#"{"aps":{"alert":"a"}}"#.utf8)), audience: nil, idempotencyKey: "k")
        command.cap = try Self.cap()
        _ = try await bench.hub.send(command)
        #expect(try await bench.hub.send(command).isRepeat)
        command.cap = try Self.cap("news=2/1h")
        await #expect { _ = try await bench.hub.send(command) } throws: { ($0 as? ServiceError)?.code == .idempotencyMismatch }
    }
}
