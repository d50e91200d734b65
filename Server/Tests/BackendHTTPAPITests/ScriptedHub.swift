import NIOConcurrencyHelpers
import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

/// A hub that keeps devices, notes what it is asked to send, and sends nothing.
final class ScriptedHub: HubSending {
    private struct State {
        var devices: [RecordID: DeviceRecord] = [:]
        var sends: [SendCommand] = []
        var receipts: [String: SendReceipt] = [:]
        var cancelled: [NotificationID] = []
        var failed = 0
    }

    private let state = NIOLockedValueBox(State())
    private let clock: any ServiceClock

    /// Whether it says that it knows more of devices than their tags, as a hub of this server does.
    let decidesForDevices: Bool

    init(clock: any ServiceClock, decidesForDevices: Bool = false) {
        (self.clock, self.decidesForDevices) = (clock, decidesForDevices)
    }

    var sends: [SendCommand] { state.withLockedValue { $0.sends } }
    var devices: [DeviceRecord] { state.withLockedValue { $0.devices.values.sorted { $0.id < $1.id } } }
    var cancelled: [NotificationID] { state.withLockedValue { $0.cancelled } }

    /// From now on every send has failed at so many devices, besides the two that got it.
    func failPushes(_ count: Int) { state.withLockedValue { $0.failed = count } }

    func send(_ command: SendCommand) async throws -> SendReceipt {
        let now = clock.now
        return state.withLockedValue { state in
            if let key = command.idempotencyKey, let earlier = state.receipts[key] { return earlier }
            let receipt = SendReceipt(id: NotificationID(), dueAt: now, isRepeat: false)
            state.sends.append(command)
            if let key = command.idempotencyKey { state.receipts[key] = receipt }
            return receipt
        }
    }

    func telemetry(of id: NotificationID) async throws -> NotificationTelemetry? {
        let failed = state.withLockedValue { $0.failed }
        return NotificationTelemetry(
            id: id, state: .completed, enqueuedAt: clock.now, dueAt: clock.now,
            outcomes: failed == 0 ? [.accepted: 2] : [.accepted: 2, .rejected: failed])
    }

    func failures(
        of id: NotificationID, outcome: TargetOutcome?, after place: SliceKey, limit: Int
    ) async throws -> [TargetFailure] {
        let failures = (0..<state.withLockedValue { $0.failed }).map { index in
            TargetFailure(
                key: SliceKey(Int64(index)), platform: .apns, record: RecordID("device-\(index + 1)"), outcome: .rejected,
                reason: "BadTopic")
        }
        return Array(failures.filter { $0.key > place && [nil, $0.outcome].contains(outcome) }.prefix(limit))
    }

    func count(_ audience: TagExpression) async throws -> AudienceCount {
        AudienceCount(targets: devices.count { audience.matches(Set($0.tags)) }, isComplete: true)
    }

    func telemetry(of ids: [NotificationID]) async throws -> [NotificationID: NotificationTelemetry]? {
        var found: [NotificationID: NotificationTelemetry] = [:]
        for id in ids { found[id] = try await telemetry(of: id) }
        return found
    }

    func notification(idempotencyKey: String) async throws -> NotificationID? {
        state.withLockedValue { $0.receipts[idempotencyKey]?.id }
    }

    func cancel(_ id: NotificationID) async throws -> Bool {
        state.withLockedValue { $0.cancelled.append(id) }
        return true
    }

    func cancel(idempotencyKey: String) async throws -> Bool {
        state.withLockedValue { state in
            guard let receipt = state.receipts[idempotencyKey] else { return false }
            state.cancelled.append(receipt.id)
            return true
        }
    }

    func upsert(_ request: DeviceUpsert) async throws -> DeviceRecord {
        let record = DeviceRecord(
            id: request.id, kind: request.kind, platform: request.platform, handle: request.handle,
            environment: request.environment, topic: request.topic, tags: request.tags, createdAt: clock.now,
            registeredAt: clock.now)
        state.withLockedValue { state in
            if request.replacesSameHandle { state.devices = state.devices.filter { $0.value.handle != request.handle } }
            state.devices[request.id] = record
        }
        return record
    }

    func device(_ id: RecordID) async throws -> DeviceRecord? { state.withLockedValue { $0.devices[id] } }

    func removeDevice(_ id: RecordID) async throws -> Bool {
        state.withLockedValue { $0.devices.removeValue(forKey: id) != nil }
    }
}
