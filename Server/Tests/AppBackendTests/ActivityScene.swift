import ClarionTesting
import EngineTesting
import Foundation
import Logging
import PushHub
import RichPushModel
import SQLStorage
import ServiceErrors
import StorageConformance
import Synchronization
import TagExpressions

@testable import AppBackend
@testable import PushHub

/// A backend on a hub of its own database, with a dispatcher whose pushes go to phones that do with Live Activities what a system does.
final class ActivityScene: Sendable {
    static let type = "DeliveryAttributes"

    let test: TestBackend
    let backend: RichPushBackend
    let dispatcher: Dispatcher
    let upkeep: BackendUpkeep
    let transport: ScriptedTransport
    let channels: FakeChannels
    let hub: MortalHub
    let shop: Principal
    private let phones = Mutex<[ActivityPhone]>([])

    init() async throws {
        test = try await TestBackend()
        var parts = test.backend.parts
        let queue = SQLSliceQueue(test.database)
        hub = MortalHub(
            NotificationHub(
                id: try await SQLHubStore(test.database).ensureHub(named: "hub", at: test.clock.now),
                stores: NotificationHub.Stores(
                    devices: SQLDeviceStore(test.database), intake: SQLIntakeStore(test.database),
                    telemetry: SQLTelemetryStore(test.database)),
                clock: test.clock, logger: parts.logger))
        parts.hub = hub
        channels = FakeChannels()
        parts.channels = channels
        backend = RichPushBackend(parts: parts)
        upkeep = BackendUpkeep(of: backend)
        transport = ScriptedTransport()
        dispatcher = Dispatcher(
            queue: queue, transport: transport, clock: test.clock, settings: DispatchSettings(), signal: DispatchSignal(),
            logger: parts.logger)
        shop = try await test.user("shop")
        transport.follow { [weak self] target, _ in self?.outcome(of: target) ?? .unsupported }
        transport.beforeAnswering { [weak self] batch in self?.deliver(batch) }
        channels.onPublish { [weak self] push in
            for phone in self?.phones.withLock({ $0 }) ?? [] { phone.receive(push) }
        }
    }

    /// A phone on which a user is signed in. Its app has reported its start token.
    func phone(_ user: String) async throws -> ActivityPhone {
        let number = phones.withLock { $0.count + 1 }
        let principal = try await test.user(user)
        let phone = ActivityPhone(id: "phone-\(number)", number: number)
        _ = try await backend.putInstallation(
            id: phone.installation, update: InstallationUpdate(handle: Sample.handle(number), tags: []), for: principal)
        phone.principal = principal
        phones.withLock { $0.append(phone) }
        try await report(phone)
        return phone
    }

    /// A phone that shows an activity and has reported the activity's token.
    func following(_ user: String = "alice") async throws -> (ActivityPhone, ActivityStatus) {
        let phone = try await phone(user)
        let activity = try await start(to: "username:\(user)")
        try await work()
        phone.giveTokens()
        try await report(phone)
        return (phone, activity)
    }

    @discardableResult
    func report(_ phone: ActivityPhone) async throws -> ActivityReportAnswer {
        let answer = try await backend.reportActivities(phone.report, of: phone.installation, for: phone.principal!)
        phone.end(answer.ended)
        return answer
    }

    func start(
        to audience: String = "username:alice", stage: String = "packed", key: String? = nil,
        _ change: (inout ActivityRequest) -> Void = { _ in }
    ) async throws -> ActivityStatus {
        var request = ActivityRequest(
            attributesType: Self.type, attributes: .object(["order": .text("4711")]), state: .object(["stage": .text(stage)]),
            audience: audience)
        request.alert = ActivityAlert(title: "Your order", body: "It is packed.")
        change(&request)
        return try await backend.startActivity(request, idempotencyKey: key, for: shop)
    }

    @discardableResult
    func change(_ id: Int64, stage: String, _ change: (inout ActivityChange) -> Void = { _ in }) async throws -> ActivityStatus {
        var wish = ActivityChange(state: .object(["stage": .text(stage)]))
        change(&wish)
        return try await backend.changeActivity(id, wish, for: shop)
    }

    /// Lets upkeep and dispatcher work until nothing is left for them at this moment.
    func work() async throws {
        for _ in 0..<20 {
            try await upkeep.work()
            let done = try await upkeep.workOnChannels()
            if await dispatcher.pass() == 0, done == 0 { return }
        }
    }

    /// The same, while so many seconds pass.
    func pass(seconds: Int) async throws {
        for _ in 0..<seconds {
            try await work()
            test.clock.advance(by: .seconds(1))
        }
        try await work()
    }

    private func outcome(of target: PushBatch.Target) -> PushOutcome {
        let token = target.handle.text
        let now = test.clock.now
        guard phones.withLock({ phones in phones.contains { $0.isKnown(token) } }) else { return .gone(since: now) }
        return .accepted
    }

    private func deliver(_ batch: PushBatch) {
        for target in batch.targets {
            let phone = phones.withLock { phones in phones.first { $0.isAlive(target.handle.text) } }
            phone?.receive(batch.bodies[target.body], headers: batch.headers[target.headers], at: target.handle.text)
        }
    }
}

/// A phone with Live Activities, as far as a server can tell (Reference/LiveActivities.md#2).
final class ActivityPhone: Sendable {
    struct Shown: Equatable {
        var stamp: Int64
        var revision: Int64
        var stage: String
        var isOver = false
        var token: String?
        var channel: String?
    }

    private struct State {
        var principal: Principal?
        var shown: [Int64: Shown] = [:]
        var starts: [Int64: Int] = [:]
        var dead: Set<String> = []
        /// Of the dead those for which APNs still takes pushes, which reach nothing.
        var lingering: Set<String> = []
        var startToken: String
        var startsMade = 0
        var permission: (enabled: Bool?, frequentUpdates: Bool?) = (nil, nil)
        var made = 0
        var waiting: [(body: [UInt8], token: String)] = []
        /// The latest push of each channel that APNs keeps, also for a phone that follows later.
        var stored: [String: [UInt8]] = [:]
        var isOnline = true
        var alerts = 0
        var stamps: [Int64] = []
        var headers: [PushBatch.Headers] = []

        mutating func forget(_ token: String, _ isLingering: Bool) {
            dead.insert(token)
            if isLingering { lingering.insert(token) }
        }
    }

    let installation: InstallationID
    private let number: Int
    private let state: Mutex<State>

    init(id: String, number: Int) {
        installation = InstallationID(id)!
        self.number = number
        state = Mutex(State(startToken: Self.token(number, 0)))
    }

    private static func token(_ phone: Int, _ number: Int) -> String {
        String(format: "AC%06X%08X", phone, number)
    }

    var principal: Principal? {
        get { state.withLock { $0.principal } }
        set { state.withLock { $0.principal = newValue } }
    }

    var shown: [Int64: Shown] { state.withLock { $0.shown } }
    var starts: [Int64: Int] { state.withLock { $0.starts } }
    var stamps: [Int64] { state.withLock { $0.stamps } }
    var alerts: Int { state.withLock { $0.alerts } }
    var headers: [PushBatch.Headers] { state.withLock { $0.headers } }

    /// Whether APNs knows the token, that of the app among them.
    func isAlive(_ token: String) -> Bool {
        state.withLock { state in
            token == Sample.handle(number).uppercased() || token == state.startToken
                || state.shown.values.contains { $0.token == token }
                    && !state.dead.contains(token)
        }
    }

    /// Whether APNs takes pushes for the token.
    func isKnown(_ token: String) -> Bool { isAlive(token) || state.withLock { $0.lingering.contains(token) } }

    func receive(_ body: [UInt8], headers: PushBatch.Headers, at token: String) {
        state.withLock { state in
            state.headers.append(headers)
            // APNs keeps the newest for a token that is away.
            if state.isOnline {
                Self.take(body, at: token, &state)
            } else {
                state.waiting.removeAll { $0.token == token }
                state.waiting.append((body, token))
            }
        }
    }

    /// A push over a channel, which reaches each activity that follows it.
    func receive(_ push: ChannelPush) {
        state.withLock { state in
            state.stored[push.channel] = push.expiresAt == nil ? nil : push.body
            if state.isOnline { Self.take(push.body, over: push.channel, &state) }
        }
    }

    func setOnline(_ isOnline: Bool) {
        state.withLock { state in
            state.isOnline = isOnline
            guard isOnline else { return }
            let waiting = state.waiting
            state.waiting = []
            for push in waiting { Self.take(push.body, at: push.token, &state) }
            for (channel, body) in state.stored { Self.take(body, over: channel, &state) }
        }
    }

    private static func take(_ body: [UInt8], over channel: String, _ state: inout State) {
        let followers = state.shown.filter { $0.value.channel == channel && !$0.value.isOver }.keys
        for id in followers { take(body, for: id, at: "", &state) }
    }

    private static func take(_ body: [UInt8], at token: String, _ state: inout State) {
        let id = state.shown.first { $0.value.token == token }?.key
        take(body, for: id, at: token, &state)
    }

    private static func take(_ body: [UInt8], for id: Int64?, at token: String, _ state: inout State) {
        guard let aps = (try? JSONDecoder().decode(JSONValue.self, from: Data(body)))?.members?["aps"]?.members,
            let stamp = aps["timestamp"]?.wholeNumber, let content = aps["content-state"]?.members,
            let revision = content[ActivityKey.revision]?.wholeNumber, case .text(let stage)? = content["stage"]
        else { return }
        state.stamps.append(stamp)
        if aps["alert"] != nil { state.alerts += 1 }
        if aps["event"] == .text("start") {
            guard token == state.startToken, let id = aps["attributes"]?.members?[ActivityKey.id]?.wholeNumber else { return }
            state.starts[id, default: 0] += 1
            state.shown[id] = Shown(stamp: stamp, revision: revision, stage: stage)
            guard case .text(let channel)? = aps["input-push-channel"] else { return }
            state.shown[id]?.channel = channel
            if let latest = state.stored[channel] { take(latest, over: channel, &state) }
            return
        }
        guard let id, var item = state.shown[id], !item.isOver,
            stamp > item.stamp
        else { return }
        (item.stamp, item.revision, item.stage) = (stamp, revision, stage)
        item.isOver = aps["event"] == .text("end")
        state.shown[id] = item
    }

    /// The system gives a token to each activity that has none, or another to those that have one. The old ones may linger.
    func giveTokens(anew: Bool = false, lingering: Bool = false) {
        state.withLock { state in
            for (id, item) in state.shown where !item.isOver && item.channel == nil && (item.token == nil || anew) {
                if let old = item.token { state.forget(old, lingering) }
                state.made += 1
                state.shown[id]?.token = Self.token(number, state.made)
            }
        }
    }

    /// The system gives another token that starts activities.
    func changeStartToken() {
        state.withLock { state in
            state.startsMade += 1
            state.startToken = Self.token(number + 0x1000, state.startsMade)
        }
    }

    /// The phone starts anew: its cards are there again, and their tokens are not until the system gives others.
    func reboot(lingering: Bool) {
        state.withLock { state in
            for (id, item) in state.shown {
                guard let old = item.token else { continue }
                state.forget(old, lingering)
                state.shown[id]?.token = nil
            }
        }
    }

    /// The user moves the switches of the app.
    func setPermission(enabled: Bool?, frequentUpdates: Bool? = nil) {
        state.withLock { $0.permission = (enabled, frequentUpdates) }
    }

    /// The app starts one itself.
    func startItself(_ id: Int64, stage: String, channel: String? = nil) {
        state.withLock { $0.shown[id] = Shown(stamp: 0, revision: 0, stage: stage, channel: channel) }
    }

    /// Without a word to the server.
    func end(_ ids: [Int64]) { state.withLock { state in for id in ids { state.shown[id]?.isOver = true } } }

    var report: ActivityReport {
        state.withLock { state in
            var report = ActivityReport(
                startTokens: [ActivityScene.type: state.startToken],
                activities: state.shown.filter { !$0.value.isOver }.sorted { $0.key < $1.key }.map {
                    .init(id: $0.key, state: "active", token: $0.value.token, revision: $0.value.revision)
                })
            (report.enabled, report.frequentUpdates) = state.permission
            return report
        }
    }
}

/// A hub at which a node may die: when the hub has taken a send and the node has noted nothing, or before it has stored a device.
final class MortalHub: HubSending {
    enum Death { case afterSend, beforeDevice }

    private let hub: NotificationHub
    private let death = Mutex<Death?>(nil)

    init(_ hub: NotificationHub) { self.hub = hub }

    /// Does work on a node that dies on the way. What is cut off throws `CancellationError`, as nothing else of the work does.
    func dying(_ death: Death, _ work: () async throws -> Void) async {
        self.death.withLock { $0 = death }
        try? await work()
        self.death.withLock { $0 = nil }
    }

    private func dies(_ moment: Death) throws { if death.withLock({ $0 }) == moment { throw CancellationError() } }

    func send(_ command: SendCommand) async throws -> SendReceipt {
        let receipt = try await hub.send(command)
        try dies(.afterSend)
        return receipt
    }

    func upsert(_ request: DeviceUpsert) async throws -> DeviceRecord {
        try dies(.beforeDevice)
        return try await hub.upsert(request)
    }

    var decidesForDevices: Bool { hub.decidesForDevices }
    func telemetry(of id: NotificationID) async throws -> NotificationTelemetry? { try await hub.telemetry(of: id) }
    func telemetry(of ids: [NotificationID]) async throws -> [NotificationID: NotificationTelemetry]? {
        try await hub.telemetry(of: ids)
    }
    func failures(
        of id: NotificationID, outcome: TargetOutcome?, after place: SliceKey, limit: Int
    ) async throws -> [TargetFailure] { try await hub.failures(of: id, outcome: outcome, after: place, limit: limit) }
    func count(_ audience: TagExpression) async throws -> AudienceCount { try await hub.count(audience) }
    func notification(idempotencyKey: String) async throws -> NotificationID? {
        try await hub.notification(idempotencyKey: idempotencyKey)
    }
    func cancel(_ id: NotificationID) async throws -> Bool { try await hub.cancel(id) }
    func cancel(idempotencyKey: String) async throws -> Bool { try await hub.cancel(idempotencyKey: idempotencyKey) }
    func device(_ id: RecordID) async throws -> DeviceRecord? { try await hub.device(id) }
    func removeDevice(_ id: RecordID) async throws -> Bool { try await hub.removeDevice(id) }
}

/// The channels of an app at APNs, as far as a server can tell.
final class FakeChannels: BroadcastChannels {
    private struct State {
        var living: Set<String> = []
        var made = 0
        var pushes: [ChannelPush] = []
        var fault: ServiceError?
        var deliver: @Sendable (ChannelPush) -> Void = { _ in }
    }

    private let state = Mutex(State())

    var living: Set<String> { state.withLock { $0.living } }
    var pushes: [ChannelPush] { state.withLock { $0.pushes } }

    /// What every request ends with from now on; `nil` for success.
    func fail(with fault: ServiceError?) { state.withLock { $0.fault = fault } }

    func onPublish(_ deliver: @escaping @Sendable (ChannelPush) -> Void) { state.withLock { $0.deliver = deliver } }

    /// A channel that another server of the same app creates.
    func add(_ channel: String) { state.withLock { _ = $0.living.insert(channel) } }

    /// Another server deletes a channel.
    func drop(_ channel: String) { state.withLock { _ = $0.living.remove(channel) } }

    func create(keepsLatest: Bool) async throws(ServiceError) -> String {
        try state.withLock { state throws(ServiceError) in
            if let fault = state.fault { throw fault }
            state.made += 1
            state.living.insert("channel-\(state.made)")
            return "channel-\(state.made)"
        }
    }

    func delete(_ channel: String) async throws(ServiceError) {
        try state.withLock { state throws(ServiceError) in
            if let fault = state.fault { throw fault }
            guard state.living.remove(channel) != nil else { throw ServiceError(.notFound) }
        }
    }

    func channels() async throws(ServiceError) -> [String] { living.sorted() }

    func publish(_ push: ChannelPush) async throws(ServiceError) {
        let deliver = try state.withLock { state throws(ServiceError) in
            if let fault = state.fault { throw fault }
            guard state.living.contains(push.channel) else { throw ServiceError(.notFound, "no such channel") }
            state.pushes.append(push)
            return state.deliver
        }
        deliver(push)
    }
}
