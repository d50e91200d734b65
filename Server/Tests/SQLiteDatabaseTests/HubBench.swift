import ClarionTesting
import EngineTesting
import Logging
import RichPushModel
import StorageConformance
import TagExpressions

@testable import PushHub

/// A hub with real storage, a scripted transport and a manual clock.
final class HubBench: Sendable {
    let store: TemporaryStore
    let clock = ManualClock()
    let transport: ScriptedTransport
    let hubID: HubID

    init(
        on engine: TestEngine = .chosen, _ script: @escaping ScriptedTransport.Script = { _, _ in .accepted }
    ) async throws {
        store = try await TemporaryStore(engine)
        transport = ScriptedTransport(script)
        hubID = try await store.hub.hubs.ensureHub(named: "test", at: clock.now)
    }

    var hub: NotificationHub { hub(NotificationHub.Settings()) }

    func hub(_ settings: NotificationHub.Settings) -> NotificationHub {
        let ports = store.hub
        return NotificationHub(
            id: hubID, stores: .init(devices: ports.devices, intake: ports.intake, telemetry: ports.telemetry), clock: clock,
            settings: settings, logger: Self.logger)
    }

    static var logger: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

    func dispatcher(
        _ queue: (any SliceQueue)? = nil, signal: DispatchSignal = DispatchSignal(),
        _ change: (inout DispatchSettings) -> Void = { _ in }
    ) -> Dispatcher {
        var settings = DispatchSettings()
        change(&settings)
        return Dispatcher(
            queue: queue ?? store.hub.queue, transport: transport, clock: clock, settings: settings, signal: signal,
            logger: Self.logger)
    }

    static func handle(_ number: Int) -> DeviceToken {
        let hexadecimal = String(number, radix: 16, uppercase: true)
        return DeviceToken(canonical: String(repeating: "0", count: 64 - hexadecimal.count) + hexadecimal)
    }

    /// The number that a handle was made from.
    static func number(_ handle: DeviceToken) -> Int { Int(handle.text.suffix(12), radix: 16) ?? 0 }

    @discardableResult
    func register(_ number: Int, tags: [String] = [], handle: Int? = nil) async throws -> DeviceRecord {
        try await hub.upsert(
            DeviceUpsert(
                id: RecordID("device-\(number)")!, kind: .installation, handle: Self.handle(handle ?? number),
                tags: tags.compactMap(Tag.init)))
    }

    func register(_ numbers: Range<Int>, tags: [String] = []) async throws {
        // In portions: storage refuses more writes than its queue may hold.
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 1000) {
            try await withThrowingTaskGroup { group in
                for number in start..<min(start + 1000, numbers.upperBound) {
                    group.addTask { try await self.register(number, tags: tags) }
                }
                try await group.waitForAll()
            }
        }
    }

    func send(
        to audience: String? = nil, expiresAt: Timestamp? = nil, dueAt: Timestamp? = nil, pace: Int? = nil,
        key: String? = nil, text: String = "hello"
    ) async throws -> SendReceipt {
        let message = PushMessage(body: Array(#"{"aps":{"alert":"\#(text)"}}"#.utf8), expiresAt: expiresAt)
        return try await hub.send(
            SendCommand(
                message: message, audience: try audience.map { try TagExpression(parsing: $0) }, dueAt: dueAt,
                pushesPerSecond: pace, idempotencyKey: key))
    }

    /// A send to one device at most in another hub, now.
    func accept(in hub: HubID) async throws -> NotificationID {
        let message = AcceptedMessage(body: Array(#"{"aps":{"alert":"a"}}"#.utf8), pushType: "alert", priority: 10)
        let send = AcceptedSend(
            hub: hub, id: NotificationID(), message: message, audience: nil, enqueuedAt: clock.now, dueAt: clock.now,
            slices: SlicePlan(audience: 1))
        _ = try await store.hub.intake.accept(send)
        return send.id
    }

    func telemetry(_ receipt: SendReceipt) async throws -> NotificationTelemetry {
        try await hub.telemetry(of: receipt.id)!
    }

    /// Lets the dispatcher work until the send has ended, moving time on when there is nothing to do.
    func settle(_ receipt: SendReceipt, _ dispatcher: Dispatcher, step: Duration = .seconds(5)) async throws
        -> NotificationTelemetry
    {
        for _ in 1...2000 {
            let leased = await dispatcher.pass()
            let telemetry = try await telemetry(receipt)
            if telemetry.state.isFinal { return telemetry }
            if leased == 0 { clock.advance(by: step) }
        }
        return try await telemetry(receipt)
    }
}
