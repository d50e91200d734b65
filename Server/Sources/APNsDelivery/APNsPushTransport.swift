import APNsHTTP2
import APNsProtocol
import Logging
import PushHub
import RichPushModel
import Synchronization

/// The push-transport port on the APNs client: one client for each environment that has a credential.
///
/// It translates and classifies, and never waits longer than the clients' own deadline.
public struct APNsPushTransport: PushTransport {
    private let clients: [APNsEnvironment: any APNsPushSending]
    private let defaultEnvironment: APNsEnvironment
    private let defaultTopic: String
    private let refused = RefusedTokens()
    private let tokenNotices = RefusalNotices()
    private let topicNotices = RefusalNotices()
    private let logger: Logger

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - clients: by environment; a target of an environment without one is misconfigured.
    ///   - defaultEnvironment: for targets that name none.
    ///   - defaultTopic: the bundle id, for header sets that name no topic.
    public init(
        clients: [APNsEnvironment: any APNsPushSending], defaultEnvironment: APNsEnvironment, defaultTopic: String, logger: Logger
    ) {
        self.clients = clients
        self.defaultEnvironment = defaultEnvironment
        self.defaultTopic = defaultTopic
        self.logger = logger
    }

    public func send(_ batch: PushBatch) async -> PushOutcomes {
        var groups = APNsBatchGroups(batch, defaultEnvironment: defaultEnvironment, defaultTopic: defaultTopic)
        groups.mark(refused)
        let lane: APNsSendLane = batch.isExpress ? .express : .bulk
        guard groups.groups.count > 1 else {
            // Nearly always: no task of its own for each.
            guard let only = groups.groups.first else { return settled(batch, groups, []) }
            return settled(batch, groups, [await answer(only, lane)])
        }
        let answers = await withTaskGroup(of: Answer.self) { tasks in
            for group in groups.groups { tasks.addTask { await answer(group, lane) } }
            return await tasks.reduce(into: []) { $0.append($1) }
        }
        return settled(batch, groups, answers)
    }

    /// The result of one environment's client; without outcomes where there is no client.
    private struct Answer {
        var targets: [Int]
        var outcomes: [APNsOutcome]?

        /// Reads them in place: an outcome that is taken out of the array is copied with all its payload.
        var areAllAccepted: Bool {
            outcomes?.withUnsafeBufferPointer { outcomes in outcomes.indices.allSatisfy { outcomes[$0].isAccepted } } ?? false
        }
    }

    private func answer(_ group: APNsBatchGroups.Group, _ lane: APNsSendLane) async -> Answer {
        Answer(targets: group.targets, outcomes: await clients[group.environment]?.send(group.pushes, lane: lane))
    }

    /// The outcomes as the hub names them. Also records refused tokens and logs what an operator has to correct.
    private func settled(_ batch: PushBatch, _ groups: APNsBatchGroups, _ answers: [Answer]) -> PushOutcomes {
        let isNoneRefused = refused.isEmpty
        if isNoneRefused, let only = answers.first, only.targets.count == batch.targets.count, only.areAllAccepted {
            return PushOutcomes(repeating: .accepted, count: batch.targets.count)
        }
        var outcomes = [PushOutcome?](repeating: nil, count: batch.targets.count)
        for (target, outcome) in groups.decided { outcomes[target] = outcome }
        for answer in answers {
            for (position, target) in answer.targets.enumerated() {
                if isNoneRefused, case .accepted? = answer.outcomes?[position] {
                    outcomes[target] = .accepted
                    continue
                }
                note(answer.outcomes?[position], for: batch.targets, at: target)
                outcomes[target] = outcome(answer.outcomes?[position])
            }
        }
        judgeTopics(&outcomes, batch)
        report(outcomes, batch)
        return PushOutcomes(outcomes.map { $0 ?? .unknown(reason: APNsFailure.cancelled.rawValue) })
    }

    /// Remembers which tokens APNs refuses.
    private func note(_ outcome: APNsOutcome?, for targets: PushTargets, at position: Int) {
        let token = APNsDeviceToken(in: targets.bytes, at: targets.token(at: position))
        switch outcome {
        case .rejected(let rejection) where [.badDeviceToken, .deviceTokenNotForTopic].contains(rejection.reason):
            refused.insert(token)
        case .accepted: refused.remove(token)
        default: break
        }
    }

    /// A device of an environment without a credential must not stop the others; without any credential the pushes wait for the
    /// operator.
    private func outcome(_ outcome: APNsOutcome?) -> PushOutcome {
        guard let outcome else {
            return clients.isEmpty ? .misconfigured(reason: PushOutcome.noCredential) : .unsupported
        }
        return PushOutcome(outcome, now: SystemClock().now)
    }

    /// A batch of at least so many pushes that APNs refuses as a whole for the transport's own topic waits for the operator: the rest of
    /// a broadcast would be refused as well, and APNs closes connections for too many refusals. Fewer are refused for good.
    static let refusedBatch = 20

    private static let topicReasons: Set<String> = [APNsReason.topicDisallowed.rawValue, APNsReason.badTopic.rawValue]

    /// Logs refused topics. A batch whose pushes were all refused for the topic waits for the operator.
    private func judgeTopics(_ outcomes: inout [PushOutcome?], _ batch: PushBatch) {
        let refused = outcomes.indices.filter { index in
            if case .rejected(let reason)? = outcomes[index] { Self.topicReasons.contains(reason) } else { false }
        }
        guard let first = refused.first, let reason = outcomes[first]?.word else { return }
        if let count = topicNotices.note(refused.count, of: batch.hub) {
            logger.error(
                "APNs refuses the topic of pushes; they are not tried again",
                metadata: [
                    "hub_id": "\(batch.hub.number)", "topic": "\(topic(of: first, in: batch))", "apns.reason": "\(reason)",
                    "count": "\(count)",
                ])
        }
        guard refused.count == outcomes.count, refused.count >= Self.refusedBatch,
            refused.allSatisfy({ isOrdinary($0, in: batch) })
        else { return }
        for index in refused { outcomes[index] = .misconfigured(reason: outcomes[index]?.word ?? reason) }
    }

    private func headers(of target: Int, in batch: PushBatch) -> PushBatch.Headers? {
        let set = batch.targets.run(of: target).headers
        return batch.headers.indices.contains(set) ? batch.headers[set] : nil
    }

    private func topic(of target: Int, in batch: PushBatch) -> String { headers(of: target, in: batch)?.topic ?? defaultTopic }

    /// Whether a target's push is of the kind that every app gets: with the transport's own topic, and of a type whose topic is
    /// the bare bundle id (Reference/APNs.md#3-2).
    private func isOrdinary(_ target: Int, in batch: PushBatch) -> Bool {
        let pushType = headers(of: target, in: batch)?.pushType ?? "alert"
        return topic(of: target, in: batch) == defaultTopic && ["alert", "background"].contains(pushType)
    }

    /// Logs what an operator has to correct: once per batch, and of device tokens once a minute.
    private func report(_ outcomes: [PushOutcome?], _ batch: PushBatch) {
        if let count = tokenNotices.note(outcomes.count { $0 == .badToken }, of: batch.hub) {
            logger.warning(
                """
                APNs says that device tokens belong to another environment or app: check environment and topic of the hub's credential, \
                or apns-environment and apns-topic if it has none. Their devices get no more pushes until they register again
                """, metadata: ["hub_id": "\(batch.hub.number)", "count": "\(count)"])
        }
        for (index, outcome) in outcomes.enumerated() {
            guard case .misconfigured(let reason)? = outcome else { continue }
            return logger.error(
                "APNs or the client refuses this configuration; its pushes wait",
                metadata: [
                    "hub_id": "\(batch.hub.number)", "topic": "\(topic(of: index, in: batch))", "apns.reason": "\(reason)",
                ])
        }
    }
}

extension PushOutcome {
    /// The word of a refusal.
    fileprivate var word: String? { if case .rejected(let reason) = self { reason } else { nil } }
}

/// The notice that all copies of a transport share.
private final class RefusalNotices: Sendable {
    /// So many hubs at most; a new one then begins anew with the others.
    private static let capacity = 1_000

    private let state = Mutex<[HubID: RefusalNotice]>([:])

    func note(_ count: Int, of hub: HubID) -> Int? {
        state.withLock { notices in
            guard count > 0 || notices[hub] != nil else { return nil }
            if notices[hub] == nil, notices.count >= Self.capacity { notices = [:] }
            return notices[hub, default: RefusalNotice()].note(count, at: SystemClock().uptime)
        }
    }
}

/// What the transport needs of a client, so that it can be tested without a network.
public protocol APNsPushSending: Sendable {
    /// Sends pushes and returns one outcome for each, in their order.
    func send(_ pushes: [APNsPush], lane: APNsSendLane) async -> [APNsOutcome]
}

extension APNsClient: APNsPushSending {}

/// A batch of the hub, grouped by environment and converted to the client's types. Bodies are shared, not copied.
private struct APNsBatchGroups {
    struct Group {
        let environment: APNsEnvironment
        /// Positions in the batch, parallel to `pushes`.
        var targets: [Int] = []
        var pushes: [APNsPush] = []
    }

    private(set) var groups: [Group] = []
    /// The outcomes of targets that cannot be sent to at all, by position.
    private(set) var decided: [Int: PushOutcome] = [:]

    init(_ batch: PushBatch, defaultEnvironment: APNsEnvironment, defaultTopic: String) {
        let headers = batch.headers.map { APNsPush.Headers($0, defaultTopic: defaultTopic) }
        for run in batch.targets.runs {
            guard let environment = Self.environment(run.environment, default: defaultEnvironment) else {
                for position in run.positions { decided[position] = .unsupported }
                continue
            }
            guard headers.indices.contains(run.headers), batch.bodies.indices.contains(run.body) else {
                for position in run.positions {
                    decided[position] = .rejected(reason: "the batch has no such body or header set")
                }
                continue
            }
            append(run.positions, of: batch.targets, headers[run.headers], batch.bodies[run.body], to: environment)
        }
    }

    private mutating func append(
        _ positions: Range<Int>, of targets: PushTargets, _ headers: APNsPush.Headers, _ payload: [UInt8],
        to environment: APNsEnvironment
    ) {
        let index = place(of: environment, capacity: targets.count)
        groups[index].targets.append(contentsOf: positions)
        let bytes = targets.bytes
        for position in positions {
            groups[index].pushes.append(
                APNsPush(
                    token: APNsDeviceToken(in: bytes, at: targets.token(at: position)), headers: headers, payload: payload,
                    apnsID: targets.pushID(at: position).uuid))
        }
    }

    private mutating func place(of environment: APNsEnvironment, capacity: Int) -> Int {
        if let known = groups.firstIndex(where: { $0.environment == environment }) { return known }
        var group = Group(environment: environment)
        group.targets.reserveCapacity(capacity)
        group.pushes.reserveCapacity(capacity)
        groups.append(group)
        return groups.count - 1
    }

    /// Marks the pushes to tokens that were refused not long ago.
    mutating func mark(_ refused: RefusedTokens) {
        for index in groups.indices {
            guard let isRefused = refused.contains(groups[index].pushes.lazy.map(\.token)) else { continue }
            for (position, isRefused) in isRefused.enumerated() where isRefused {
                groups[index].pushes[position].standing = .suspect
            }
        }
    }

    private static func environment(_ word: String?, default environment: APNsEnvironment) -> APNsEnvironment? {
        guard let word else { return environment }
        return APNsEnvironment(rawValue: word)
    }
}

extension APNsPush.Headers {
    /// The header set of the hub, converted to the client's type.
    init(_ headers: PushBatch.Headers, defaultTopic: String) {
        let pushType = APNsPushType(rawValue: headers.pushType)
        self.init(
            topic: pushType.topic(of: headers.topic ?? defaultTopic), pushType: pushType,
            priority: headers.priority, expiration: headers.expiration, collapseID: headers.collapseID)
    }
}

/// Decides when to log that APNs refuses device tokens. One refused token concerns one device; many mean the wrong environment or
/// app, which is easy to miss in the counts.
///
/// Reports how many there were since the last report, at most once a minute.
struct RefusalNotice {
    static let interval: Duration = .seconds(60)

    private var count = 0
    private var reportedAt: Duration?

    /// Counts refusals and returns how many to report now; `nil` when there is nothing to report yet.
    mutating func note(_ more: Int, at uptime: Duration) -> Int? {
        count += more
        guard count > 0, reportedAt.map({ uptime - $0 >= Self.interval }) ?? true else { return nil }
        defer { (count, reportedAt) = (0, uptime) }
        return count
    }
}

/// The device tokens that APNs refused not long ago. A push to one of them, which means that its device registered again,
/// travels apart from the others until it is accepted (Reference/APNs.md#1-4).
///
/// Bounded: the oldest is forgotten first. Only hashes are kept, so that no token stays in memory.
final class RefusedTokens: Sendable {
    private struct State {
        var hashes: Set<Int> = []
        var order: [Int] = []
        var oldest = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = 10_000) { self.capacity = max(1, capacity) }

    /// Whether none is remembered.
    var isEmpty: Bool { state.withLock { $0.hashes.isEmpty } }

    /// Whether each of these tokens was refused; `nil` when none is remembered, which is nearly always so.
    func contains(_ tokens: some Sequence<APNsDeviceToken>) -> [Bool]? {
        state.withLock { state in
            state.hashes.isEmpty ? nil : tokens.map { state.hashes.contains($0.hashValue) }
        }
    }

    /// Remembers a refused token.
    func insert(_ token: APNsDeviceToken) {
        state.withLock { state in
            guard state.hashes.insert(token.hashValue).inserted else { return }
            if state.order.count < capacity {
                state.order.append(token.hashValue)
            } else {
                state.hashes.remove(state.order[state.oldest])
                state.order[state.oldest] = token.hashValue
                state.oldest = (state.oldest + 1) % capacity
            }
        }
    }

    /// Forgets a token that was accepted.
    func remove(_ token: APNsDeviceToken) {
        state.withLock { state in
            guard !state.hashes.isEmpty, state.hashes.remove(token.hashValue) != nil else { return }
            guard let place = state.order.firstIndex(of: token.hashValue) else { return }
            state.order.remove(at: place)
            if place < state.oldest { state.oldest -= 1 }
            if state.oldest >= state.order.count { state.oldest = 0 }
        }
    }
}
