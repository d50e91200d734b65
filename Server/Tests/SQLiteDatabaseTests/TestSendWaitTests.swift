import ClarionTesting
import RichPushModel
import ServiceErrors
import Testing

@testable import PushHub

@Suite("Test sends of which another is still under way")
struct TestSendWaitTests {
    private let command = SendCommand(
        message: PushMessage(body: Array(#"{"aps":{"alert":"x"}}"#.utf8)), audience: nil, idempotencyKey: "k")

    private func waiting(_ bench: HubBench) async { #expect(await eventually { bench.clock.sleeperCount > 0 }) }

    @Test("a test send that is noted twice under one id counts once, and its end has an order number")
    func notedTwice() async throws {
        let bench = try await HubBench()
        let message = AcceptedMessage(body: Array(#"{"aps":{"alert":"a"}}"#.utf8), pushType: "alert", priority: 10)
        let send = AcceptedSend(
            hub: bench.hubID, id: NotificationID(), message: message, audience: nil, enqueuedAt: bench.clock.now,
            dueAt: bench.clock.now, slices: SlicePlan(audience: 1))
        let ended = EndedTestSend(send: send, endedAt: bench.clock.now, outcomes: [.apns: [.accepted: 1]])
        for _ in 0..<2 { try await bench.store.hub.intake.note(ended) }
        let telemetry = try #require(try await bench.hub.telemetry(of: send.id))
        #expect(telemetry.state == .completed)
        #expect(telemetry.outcomes == [.accepted: 1])
        #expect(telemetry.endOrder != nil)
    }

    @Test("the second waits for the answer of the first, and sends nothing")
    func waits() async throws {
        let bench = try await HubBench()
        let record = try await bench.register(1)
        let key = TestSendKey("k", id: NotificationID())
        let intake = bench.store.hub.intake
        _ = try await intake.take(key, abandonedBefore: bench.clock.now, in: bench.hubID, at: bench.clock.now)
        async let second = bench.hub.test(command, through: bench.transport)
        await waiting(bench)
        let answer = TestSendReport(
            id: key.id,
            results: [.init(platform: .apns, handle: HubBench.handle(1), record: record.id, outcome: .badToken, reason: "r")])
        try await intake.keep(try TestSendRecord(answer).bytes, for: key, in: bench.hubID)
        bench.clock.advance(by: .seconds(1))
        #expect(try await second == answer)
        #expect(bench.transport.batches.isEmpty)
    }

    @Test("it does not wait without a limit, and a call that died without an answer is sent anew")
    func givesUp() async throws {
        let bench = try await HubBench()
        try await bench.register(1)
        let key = TestSendKey("k", id: NotificationID())
        _ = try await bench.store.hub.intake.take(key, abandonedBefore: bench.clock.now, in: bench.hubID, at: bench.clock.now)
        let second = Task { try await bench.hub.test(command, through: bench.transport) }
        await waiting(bench)
        bench.clock.advance(by: NotificationHub.testWait)
        let error = await #expect(throws: ServiceError.self) { try await second.value }
        #expect(error?.code == .overloaded)
        #expect(error?.retryAfter == 5)
        #expect(bench.transport.batches.isEmpty)
        bench.clock.advance(by: NotificationHub.testAbandoned)
        let report = try await bench.hub.test(command, through: bench.transport)
        #expect(report.successes == 1)
        #expect(bench.transport.batches.count == 1)
        #expect(try await bench.hub.test(command, through: bench.transport) == report)
        #expect(bench.transport.batches.count == 1)
    }

    @Test("what an earlier process was sending is sent anew at once by one that is alone on the database")
    func alone() async throws {
        let bench = try await HubBench()
        let record = try await bench.register(1)
        let key = TestSendKey("k", id: NotificationID())
        _ = try await bench.store.hub.intake.take(key, abandonedBefore: bench.clock.now, in: bench.hubID, at: bench.clock.now)
        bench.clock.advance(by: .seconds(2))
        var settings = NotificationHub.Settings()
        settings.aloneSince = bench.clock.now
        let report = try await bench.hub(settings).test(command, through: bench.transport)
        #expect(report.successes == 1)
        #expect(bench.transport.batches.count == 1)
        // What had left already has the same id, by which the phone knows the repeat.
        #expect(report.id == key.id)
        #expect(bench.transport.batches[0].targets.map(\.pushID) == [PushID(notification: key.id, record: record.id)])
        #expect(try await bench.hub(settings).test(command, through: bench.transport) == report)
        #expect(bench.transport.batches.count == 1)
    }

    @Test("a device that went meanwhile is reported without its handle, and no stored report has one")
    func handles() async throws {
        let bench = try await HubBench()
        let record = try await bench.register(1)
        let first = try await bench.hub.test(command, through: bench.transport)
        #expect(try await bench.hub.removeDevice(record.id))
        let second = try await bench.hub.test(command, through: bench.transport)
        #expect(second.id == first.id && second.results.map(\.outcome) == [.accepted] && second.results[0].handle.text.isEmpty)
        #expect(!String(decoding: try TestSendRecord(first).bytes, as: UTF8.self).contains(HubBench.handle(1).text))
    }
}
