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
    private let advice: PushRetryAdvice
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
        clients: [APNsEnvironment: any APNsPushSending], defaultEnvironment: APNsEnvironment, defaultTopic: String,
        advice: PushRetryAdvice = PushRetryAdvice(), logger: Logger
    ) {
        self.clients = clients
        self.defaultEnvironment = defaultEnvironment
        self.defaultTopic = defaultTopic
        self.advice = advice
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

    /// What the client of one environment said; without outcomes where there is no client.
    private struct Answer {
        var targets: [Int]
        var outcomes: [APNsOutcome]?

        /// Looks at them where they lie: one that is taken out is copied, with all that the other kinds may hold.
        var areAllAccepted: Bool {
            outcomes?.withUnsafeBufferPointer { outcomes in outcomes.indices.allSatisfy { outcomes[$0].isAccepted } } ?? false
        }
    }

    private func answer(_ group: APNsBatchGroups.Group, _ lane: APNsSendLane) async -> Answer {
        Answer(targets: group.targets, outcomes: await clients[group.environment]?.send(group.pushes, lane: lane))
    }

    /// The outcomes in the hub's terms, after what is to be noted of tokens and told to the operator.
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
        judgeTopics(&outcomes, batch, groups)
        report(outcomes, batch)
        return PushOutcomes(outcomes.map { $0 ?? .unknown(reason: APNsFailure.cancelled.rawValue) })
    }

    /// Keeps in mind which tokens APNs refuses.
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
            return clients.isEmpty ? .misconfigured(reason: "no APNs credential is set") : .unsupported
        }
        return PushOutcome(outcome, advice: advice, now: SystemClock().now)
    }

    /// A batch of at least so many pushes that APNs refuses as a whole for the transport's own topic waits for the operator: the rest of
    /// a broadcast would be refused as well, and APNs closes connections for too many refusals. Fewer are refused for good.
    static let refusedBatch = 20

    private static let topicReasons: Set<String> = [APNsReason.topicDisallowed.rawValue, APNsReason.badTopic.rawValue]

    /// Tells the operator of refused topics, and makes a batch wait of which nothing else came.
    private func judgeTopics(_ outcomes: inout [PushOutcome?], _ batch: PushBatch, _ groups: APNsBatchGroups) {
        let refused = outcomes.indices.filter { index in
            if case .rejected(let reason)? = outcomes[index] { Self.topicReasons.contains(reason) } else { false }
        }
        guard let first = refused.first, let reason = outcomes[first]?.word else { return }
        if let count = topicNotices.note(refused.count, of: batch.hub) {
            logger.error(
                "APNs refuses the topic of pushes; they are not tried again",
                metadata: [
                    "hub": "\(batch.hub.number)", "topic": "\(topic(of: first, in: batch))", "apns.reason": "\(reason)",
                    "count": "\(count)",
                ])
        }
        guard refused.count == outcomes.count, refused.count >= Self.refusedBatch,
            refused.allSatisfy({ groups.isOrdinary($0, in: batch, defaultTopic) })
        else { return }
        for index in refused { outcomes[index] = .misconfigured(reason: outcomes[index]?.word ?? reason) }
    }

    private func topic(of target: Int, in batch: PushBatch) -> String {
        let set = batch.targets.run(of: target).headers
        return (batch.headers.indices.contains(set) ? batch.headers[set].topic : nil) ?? defaultTopic
    }

    /// Says what an operator has to correct: once per batch, and of device tokens once a minute.
    private func report(_ outcomes: [PushOutcome?], _ batch: PushBatch) {
        if let count = tokenNotices.note(outcomes.count { $0 == .badToken }, of: batch.hub) {
            logger.warning(
                """
                APNs says that device tokens belong to another environment or app: check environment and topic of the hub's credential, \
                or apns-environment and apns-topic if it has none. Their devices get no more pushes until they register again
                """, metadata: ["hub": "\(batch.hub.number)", "count": "\(count)"])
        }
        for (index, outcome) in outcomes.enumerated() {
            guard case .misconfigured(let reason)? = outcome else { continue }
            return logger.error(
                "APNs or the client refuses this configuration; its pushes wait",
                metadata: [
                    "hub": "\(batch.hub.number)", "topic": "\(topic(of: index, in: batch))", "apns.reason": "\(reason)",
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
