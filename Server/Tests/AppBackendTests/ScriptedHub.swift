import ClarionTesting
import PushHub
import RichPushModel
import ServiceErrors
import Synchronization
import TagExpressions

/// A hub in memory that keeps the promises of `HubSending`: a key is sent once, another send under it is refused, a device
/// with the handle of another replaces it if asked to. A test can make it fail before or after it has taken a send.
final class ScriptedHub: HubSending {
    /// How the next send fails.
    enum Failure: Sendable {
        case before(ServiceError)
        case after(ServiceError)
    }

    struct Sent: Sendable {
        var command: SendCommand
        var receipt: SendReceipt
        var state = NotificationState.dispatching
        var endedAt: Timestamp?
        var endOrder: OrderNumber?
        /// The devices that it matched.
        var devices: [RecordID]
    }

    private struct State {
        var sends: [Sent] = []
        var devices: [RecordID: DeviceUpsert] = [:]
        var failures: [Failure] = []
        var deviceFailures = 0
        var refusal: ServiceErrorCode?
        var beforeUpsert: (@Sendable () async -> Void)?
        var losesUpsertAnswer = false
        var knowsHandles = true
        var cancelFailures = 0
        var beforeSend: (@Sendable () async -> Void)?
        var duringSend: (@Sendable () async -> Void)?
        var duringRemoval: (@Sendable () async -> Void)?
        var closedKeys: Set<String> = []
        var refusalReason: String?
        /// Whether every push has expired.
        var isExpired = false
        var wait: SendWait?
        var countRefusal: ServiceError?
        var decidesForDevices = true
        var groups: [Int: [TargetOutcome: Int]] = [:]
        var capCount: CapCount?
        var reports: [OutcomeReport] = []
        var questions = Questions()
        var listAnswer = ListAnswer.known
    }

    /// How often it was asked where one send stands, and where several do.
    struct Questions: Hashable, Sendable {
        var single = 0
        var list = 0
    }

    /// What it says of several sends at once.
    enum ListAnswer: Sendable {
        case known
        /// As a hub does that would be asked for each.
        case nothing
        case failure(ServiceError)
    }

    private let clock: ManualClock
    private let state = Mutex(State())

    init(clock: ManualClock) { self.clock = clock }

    var sends: [Sent] { state.withLock { $0.sends } }
    var devices: [RecordID: DeviceUpsert] { state.withLock { $0.devices } }

    func failNext(_ failure: Failure) { state.withLock { $0.failures.append(failure) } }
    func failDevices(times: Int) { state.withLock { $0.deviceFailures = times } }
    /// Runs once, before the next device is stored. Its answer is lost.
    func losingNextUpsert(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { ($0.beforeUpsert, $0.losesUpsertAnswer) = (work, true) }
    }
    /// Runs once, before the next device is stored.
    func duringNextUpsert(_ work: @escaping @Sendable () async -> Void) { state.withLock { $0.beforeUpsert = work } }
    /// Refuses every device from now on, or none.
    func refuseDevices(_ code: ServiceErrorCode?) { state.withLock { $0.refusal = code } }
    /// From now on one handle may be that of several devices, as at a hub elsewhere.
    func keepsSameHandle() { state.withLock { $0.knowsHandles = false } }
    func failCancels(times: Int) { state.withLock { $0.cancelFailures = times } }
    /// Runs once, after the next send was taken and before its answer.
    func duringNextSend(_ work: @escaping @Sendable () async -> Void) { state.withLock { $0.duringSend = work } }

    /// Runs once, before the next send is taken.
    func beforeNextSend(_ work: @escaping @Sendable () async -> Void) { state.withLock { $0.beforeSend = work } }

    /// Runs once, before the next device is removed.
    func duringNextRemoval(_ work: @escaping @Sendable () async -> Void) { state.withLock { $0.duringRemoval = work } }

    /// What was sent is as if it had never been, as after the hub's own retention.
    func forgetSends() { state.withLock { $0.sends.removeAll() } }

    /// Every push was refused for this reason.
    func refusePushes(because reason: String) { state.withLock { $0.refusalReason = reason } }

    /// Every push expired before it could be sent.
    func expirePushes() { state.withLock { $0.isExpired = true } }

    var questions: Questions { state.withLock { $0.questions } }

    /// What it says of several sends at once from now on.
    func answerLists(_ answer: ListAnswer) { state.withLock { $0.listAnswer = answer } }

    /// Refuses to count from now on.
    func refuseCounts(_ error: ServiceError) { state.withLock { $0.countRefusal = error } }

    /// What the sends wait for from now on.
    func waits(for wait: SendWait?) { state.withLock { $0.wait = wait } }

    /// Ends every send; at a place in the order of the backend's database, as a hub does that has the same one.
    func completeAll(order: OrderNumber? = nil) {
        let now = clock.now
        state.withLock { state in
            for index in state.sends.indices where !state.sends[index].state.isFinal {
                state.sends[index].state = .completed
                state.sends[index].endedAt = now
                state.sends[index].endOrder = order
            }
        }
    }

    func send(_ command: SendCommand) async throws -> SendReceipt {
        let failure = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
        if case .before(let error) = failure { throw error }
        let before = state.withLock { state in
            defer { state.beforeSend = nil }
            return state.beforeSend
        }
        await before?()
        let receipt = try take(command)
        let work = state.withLock { state in
            defer { state.duringSend = nil }
            return state.duringSend
        }
        await work?()
        if case .after(let error) = failure { throw error }
        return receipt
    }

    private func take(_ command: SendCommand) throws -> SendReceipt {
        let now = clock.now
        return try state.withLock { state in
            if let key = command.idempotencyKey, state.closedKeys.contains(key) { throw ServiceError(.idempotencyMismatch) }
            if let earlier = state.sends.first(where: { $0.command.idempotencyKey == command.idempotencyKey }) {
                guard earlier.command == command else { throw ServiceError(.idempotencyMismatch) }
                return SendReceipt(id: earlier.receipt.id, dueAt: earlier.receipt.dueAt, isRepeat: true)
            }
            let receipt = SendReceipt(id: NotificationID(), dueAt: now, isRepeat: false)
            let matched = state.devices.values.filter { device in
                device.handle != nil && (command.audience?.matches(Set(device.tags)) ?? true)
            }
            state.sends.append(Sent(command: command, receipt: receipt, devices: matched.map(\.id).sorted()))
            return receipt
        }
    }

    func telemetry(of id: NotificationID) async throws -> NotificationTelemetry? {
        state.withLock { state in
            state.questions.single += 1
            return Self.telemetry(of: id, state)
        }
    }

    func telemetry(of ids: [NotificationID]) async throws -> [NotificationID: NotificationTelemetry]? {
        try state.withLock { state in
            state.questions.list += 1
            switch state.listAnswer {
            case .known: return ids.reduce(into: [:]) { $0[$1] = Self.telemetry(of: $1, state) }
            case .nothing: return nil
            case .failure(let error): throw error
            }
        }
    }

    private static func telemetry(of id: NotificationID, _ state: State) -> NotificationTelemetry? {
        state.sends.first { $0.receipt.id == id }.map { sent in
            let outcome: TargetOutcome =
                state.capCount != nil ? .capped : state.refusalReason == nil ? .accepted : .rejected
            var telemetry = NotificationTelemetry(
                id: id, state: sent.state, enqueuedAt: sent.receipt.dueAt, dueAt: sent.receipt.dueAt,
                endedAt: sent.endedAt, outcomes: sent.state == .completed ? [outcome: sent.devices.count] : [:])
            telemetry.endOrder = sent.endOrder
            telemetry.targets = sent.devices.count
            telemetry.wait = state.wait
            if let reason = state.refusalReason {
                telemetry.reasons = [OutcomeReason(outcome: .rejected, reason: reason): sent.devices.count]
            }
            return telemetry
        }
    }

    func failures(
        of id: NotificationID, outcome: TargetOutcome?, after place: SliceKey, limit: Int
    ) async throws -> [TargetFailure] {
        state.withLock { state in
            guard state.refusalReason != nil || state.isExpired, let sent = state.sends.first(where: { $0.receipt.id == id })
            else { return [] }
            let failures = sent.devices.map { device in
                TargetFailure(
                    key: SliceKey(of: device), platform: .apns, record: device, outcome: state.isExpired ? .expired : .rejected,
                    reason: state.refusalReason)
            }.sorted { $0.key < $1.key }
            return Array(failures.filter { $0.key > place && [nil, $0.outcome].contains(outcome) }.prefix(limit))
        }
    }

    func count(_ audience: TagExpression) async throws -> AudienceCount {
        try state.withLock { state in
            if let refusal = state.countRefusal { throw refusal }
            let matched = state.devices.values.filter { $0.handle != nil && audience.matches(Set($0.tags)) }
            return AudienceCount(targets: matched.count, isComplete: true)
        }
    }

    var decidesForDevices: Bool { state.withLock { $0.decidesForDevices } }

    func groupOutcomes(of id: NotificationID) async throws -> [Int: [TargetOutcome: Int]] { state.withLock { $0.groups } }

    func capCount(of device: RecordID, for id: NotificationID) async throws -> CapCount? { state.withLock { $0.capCount } }

    /// Holds every push back from now on, and says this of each device.
    func holdBack(_ count: CapCount) { state.withLock { $0.capCount = count } }

    func outcomeReports(of id: NotificationID, limit: Int) async throws -> [OutcomeReport] {
        state.withLock { Array($0.reports.prefix(limit)) }
    }

    func removeOutcomeReports(_ numbers: [Int64], of id: NotificationID) async throws {
        state.withLock { $0.reports.removeAll { numbers.contains($0.number) } }
    }

    /// Has these reports of the next send that is asked for.
    func report(_ reports: [OutcomeReport]) { state.withLock { $0.reports = reports } }

    /// Says what became of the groups of every send.
    func countGroups(_ groups: [Int: [TargetOutcome: Int]]) { state.withLock { $0.groups = groups } }

    /// From now on it has one push for all devices, as a hub elsewhere.
    func decidesNoMore() { state.withLock { $0.decidesForDevices = false } }

    func timeZones(of audience: TagExpression) async throws -> Set<String> {
        try state.withLock { state in
            if let refusal = state.countRefusal { throw refusal }
            let matched = state.devices.values.filter { $0.handle != nil && audience.matches(Set($0.tags)) }
            return Set(matched.map { $0.timeZone ?? ZoneMoments.otherZones })
        }
    }

    /// What is due by now is over.
    func waves(of id: NotificationID) async throws -> [WaveProgress] {
        guard let zones = sends.first(where: { $0.receipt.id == id })?.command.zones else { return [] }
        var all = zones.moments
        all[ZoneMoments.otherZones] = zones.otherwise
        return Dictionary(grouping: all, by: \.value).sorted { $0.key < $1.key }.map {
            WaveProgress(moment: $0.key, zones: $0.value.map(\.key).sorted(), isOver: $0.key < clock.now)
        }
    }

    func notification(idempotencyKey: String) async throws -> NotificationID? {
        sends.first { $0.command.idempotencyKey == idempotencyKey }?.receipt.id
    }

    func cancel(_ id: NotificationID) async throws -> Bool { try cancel { $0.receipt.id == id } }

    func cancel(idempotencyKey: String) async throws -> Bool {
        let stopped = try cancel { $0.command.idempotencyKey == idempotencyKey }
        state.withLock { state in
            let isKnown = state.sends.contains { $0.command.idempotencyKey == idempotencyKey }
            if !isKnown { state.closedKeys.insert(idempotencyKey) }
        }
        return stopped
    }

    private func cancel(_ isMeant: (Sent) -> Bool) throws -> Bool {
        try state.withLock { state in
            if state.cancelFailures > 0 {
                state.cancelFailures -= 1
                throw ServiceError(.storageUnavailable)
            }
            guard let index = state.sends.firstIndex(where: isMeant), !state.sends[index].state.isFinal else { return false }
            state.sends[index].state = .cancelled
            return true
        }
    }

    func upsert(_ request: DeviceUpsert) async throws -> DeviceRecord {
        let now = clock.now
        let (work, isLost) = state.withLock { state in
            defer { (state.beforeUpsert, state.losesUpsertAnswer) = (nil, false) }
            return (state.beforeUpsert, state.losesUpsertAnswer)
        }
        await work?()
        let stored = try store(request, now)
        if isLost { throw ServiceError(.outcomeUnknown) }
        return stored
    }

    private func store(_ request: DeviceUpsert, _ now: Timestamp) throws -> DeviceRecord {
        try state.withLock { state in
            if state.deviceFailures > 0 {
                state.deviceFailures -= 1
                throw ServiceError(.storageUnavailable)
            }
            if let refusal = state.refusal { throw ServiceError(refusal) }
            if request.replacesSameHandle, state.knowsHandles {
                state.devices = state.devices.filter { $0.key == request.id || $0.value.handle != request.handle }
            }
            state.devices[request.id] = request
            return Self.record(request, now)
        }
    }

    func device(_ id: RecordID) async throws -> DeviceRecord? {
        let now = clock.now
        return state.withLock { $0.devices[id].map { Self.record($0, now) } }
    }

    func removeDevice(_ id: RecordID) async throws -> Bool {
        let work = state.withLock { state in
            defer { state.duringRemoval = nil }
            return state.duringRemoval
        }
        await work?()
        return try state.withLock { state in
            if state.deviceFailures > 0 {
                state.deviceFailures -= 1
                throw ServiceError(.storageUnavailable)
            }
            return state.devices.removeValue(forKey: id) != nil
        }
    }

    private static func record(_ request: DeviceUpsert, _ now: Timestamp) -> DeviceRecord {
        var record = DeviceRecord(
            id: request.id, kind: request.kind, platform: request.platform, handle: request.handle,
            environment: request.environment, topic: request.topic, tags: request.tags, createdAt: now, registeredAt: now)
        record.zone = DeviceZone(request.timeZone ?? "")
        return record
    }
}
