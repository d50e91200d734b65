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
    let shop: Principal
    private let phones = Mutex<[ActivityPhone]>([])

    init() async throws {
        test = try await TestBackend()
        var parts = test.backend.parts
        let hub = try await SQLHubStore(test.database).ensureHub(named: "hub", at: test.clock.now)
        let queue = SQLSliceQueue(test.database)
        parts.hub = NotificationHub(
            id: hub,
            stores: NotificationHub.Stores(
                devices: SQLDeviceStore(test.database), intake: SQLIntakeStore(test.database),
                telemetry: SQLTelemetryStore(test.database)),
            clock: test.clock, logger: parts.logger)
        backend = RichPushBackend(parts: parts)
        upkeep = BackendUpkeep(of: backend)
        transport = ScriptedTransport()
        dispatcher = Dispatcher(
            queue: queue, transport: transport, clock: test.clock, settings: DispatchSettings(), signal: DispatchSignal(),
            logger: parts.logger)
        shop = try await test.user("shop")
        transport.follow { [self] target, _ in outcome(of: target) }
        transport.beforeAnswering { [self] batch in deliver(batch) }
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
            if await dispatcher.pass() == 0 { return }
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
        guard phones.withLock({ phones in phones.contains { $0.isAlive(token) } }) else { return .gone(since: now) }
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
    }

    private struct State {
        var principal: Principal?
        var shown: [Int64: Shown] = [:]
        var starts: [Int64: Int] = [:]
        var dead: Set<String> = []
        var startToken: String
        var made = 0
        var waiting: [(body: [UInt8], token: String)] = []
        var isOnline = true
        var alerts = 0
        var stamps: [Int64] = []
        var headers: [PushBatch.Headers] = []
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

    func setOnline(_ isOnline: Bool) {
        state.withLock { state in
            state.isOnline = isOnline
            guard isOnline else { return }
            let waiting = state.waiting
            state.waiting = []
            for push in waiting { Self.take(push.body, at: push.token, &state) }
        }
    }

    private static func take(_ body: [UInt8], at token: String, _ state: inout State) {
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
            return
        }
        guard let id = state.shown.first(where: { $0.value.token == token })?.key, var item = state.shown[id], !item.isOver,
            stamp > item.stamp
        else { return }
        (item.stamp, item.revision, item.stage) = (stamp, revision, stage)
        item.isOver = aps["event"] == .text("end")
        state.shown[id] = item
    }

    /// The system gives a token to each activity that has none, or another to those that have one.
    func giveTokens(anew: Bool = false) {
        state.withLock { state in
            for (id, item) in state.shown where !item.isOver && (item.token == nil || anew) {
                if let old = item.token { state.dead.insert(old) }
                state.made += 1
                state.shown[id]?.token = Self.token(number, state.made)
            }
        }
    }

    /// The app starts one itself.
    func startItself(_ id: Int64, stage: String) {
        state.withLock { $0.shown[id] = Shown(stamp: 0, revision: 0, stage: stage) }
    }

    /// Without a word to the server.
    func end(_ ids: [Int64]) { state.withLock { state in for id in ids { state.shown[id]?.isOver = true } } }

    var report: ActivityReport {
        state.withLock { state in
            ActivityReport(
                startTokens: [ActivityScene.type: state.startToken],
                activities: state.shown.filter { !$0.value.isOver }.sorted { $0.key < $1.key }.map {
                    .init(id: $0.key, state: "active", token: $0.value.token, revision: $0.value.revision)
                })
        }
    }
}
