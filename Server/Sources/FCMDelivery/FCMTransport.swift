import FCMProtocol
import Logging
import PushHub
import RichPushModel
import Synchronization

/// What the transport needs of an HTTP client, so that it can be tested without a network.
public protocol FCMSending: Sendable {
    /// Posts a request and returns what came back, within a time. It follows no redirect.
    func post(_ request: FCMRequest, within deadline: Duration) async -> FCMReply
}

/// What became of one request.
public enum FCMReply: Sendable {
    case answered(FCMAnswer)
    /// It provably did not leave.
    case notSent(reason: String)
    /// It may have arrived.
    case unknown(reason: String)
}

/// The service accounts with which hubs send.
public protocol FCMCredentials: Sendable {
    /// The account of a hub: its own, or the server's. It is asked for before each batch, so it comes from memory.
    func credential(for hub: HubID) async -> FCMCredential
}

/// With what a hub sends to Android.
public enum FCMCredential: Sendable {
    case account(FCMServiceAccount)
    /// What becomes of all pushes: `unsupported` where there is no account, `misconfigured` for one that cannot be read, `notSent` when storage
    /// is out of reach.
    case none(PushOutcome)
}

/// The push-transport port on FCM HTTP v1: one request for each Android device, at the pace of its project.
public struct FCMTransport: PushTransport {
    /// A batch of at least so many messages that are all for another project waits for the operator, as does each one while no message of
    /// the account was accepted: the credential is wrong then, and the device tokens are innocent.
    static let foreignBatch = 20
    /// Why a push did not leave: the deadline of its batch was near, or its project had no place for it.
    package static let noTime = "no time was left for it"
    package static let paced = "the pace of the project"

    let sender: any FCMSending
    let endpoint: String
    let clock: any ServiceClock
    let jitter: @Sendable () -> Double
    let projects: FCMProjects
    private let credentials: any FCMCredentials
    private let deadline: Duration
    private let logger: Logger

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - endpoint: scheme, host and port of FCM.
    ///   - messagesPerMinute: of each project; as many as Google takes (Reference/FCM.md#4).
    ///   - ramp: how long the pace of a project rises from slow to full; zero for full at once (Reference/FCM.md#3-2).
    ///   - deadline: how long a batch may take.
    ///   - jitter: 0 to 1; spreads waits.
    public init(
        credentials: any FCMCredentials, sender: any FCMSending, endpoint: String = "https://fcm.googleapis.com",
        messagesPerMinute: Int = 600_000, ramp: Duration = .seconds(60), deadline: Duration, clock: any ServiceClock,
        logger: Logger, jitter: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) {
        (self.sender, self.endpoint, self.clock, self.jitter) = (sender, endpoint, clock, jitter)
        (self.credentials, self.deadline, self.logger) = (credentials, deadline, logger)
        projects = FCMProjects(FCMPace(perMinute: messagesPerMinute, ramp: ramp))
    }

    public func send(_ batch: PushBatch) async -> PushOutcomes {
        let (moment, end) = (clock.now, clock.uptime + deadline)
        switch await credentials.credential(for: batch.hub) {
        case .none(let outcome): return PushOutcomes(repeating: outcome, count: batch.targets.count)
        case .account(let account):
            let tokens = projects.tokens(
                of: account, orElse: FCMAccessTokens(account, sender: sender, clock: clock, jitter: jitter))
            let run = FCMBatchRun(batch, moment: moment, end: end, by: self, to: account.projectID, tokens: tokens)
            return PushOutcomes(judged(await run.results(), of: batch, by: account))
        }
    }

    /// The outcomes. Also logs what an operator has to correct.
    private func judged(_ results: [FCMBatchRun.Result], of batch: PushBatch, by account: FCMServiceAccount) -> [PushOutcome] {
        var outcomes = results.map(\.outcome)
        let foreign = results.count(where: \.isForeign)
        let hasAccepted = results.contains { if case .accepted = $0.outcome { true } else { false } }
        let isProven = projects.isProven(account, byNow: hasAccepted)
        if foreign > 0, !isProven || (foreign >= Self.foreignBatch && foreign == results.count) {
            for (position, result) in results.enumerated() where result.isForeign {
                outcomes[position] = .misconfigured(reason: "SENDER_ID_MISMATCH")
            }
        } else if foreign > 0 {
            logger.warning(
                """
                FCM says that device tokens belong to another project: compare the service account of the hub with the project of the app. \
                Their devices get no more pushes until they register again
                """, metadata: ["hub_id": "\(batch.hub.number)", "count": "\(foreign)"])
        }
        for case .misconfigured(let reason) in outcomes {
            logger.error(
                "FCM or the token endpoint refuses this configuration; its pushes wait",
                metadata: ["hub_id": "\(batch.hub.number)", "reason": "\(reason)"])
            break
        }
        return outcomes
    }
}

/// The access tokens of all accounts, and the paces of all projects; several accounts may have one project. Bounded: beyond that all is
/// forgotten and learned anew.
final class FCMProjects: Sendable {
    private static let capacity = 1_000

    private let start: FCMPace
    private let tokens = Mutex<[String: FCMAccessTokens]>([:])
    /// The accounts of which FCM has accepted a message.
    private let proven = Mutex<Set<String>>([])
    private let paces = Mutex<[String: FCMPace]>([:])

    /// Every project has the pace `start` at first.
    init(_ start: FCMPace) { self.start = start }

    func tokens(of account: FCMServiceAccount, orElse new: @autoclosure () -> FCMAccessTokens) -> FCMAccessTokens {
        tokens.withLock { all in
            let found = all[account.id] ?? new()
            if all.count >= Self.capacity, all[account.id] == nil { all = [:] }
            all[account.id] = found
            return found
        }
    }

    /// Whether FCM has accepted a message of the account, now or before.
    func isProven(_ account: FCMServiceAccount, byNow: Bool) -> Bool {
        proven.withLock { all in
            guard byNow else { return all.contains(account.id) }
            if all.count >= Self.capacity { all = [] }
            all.insert(account.id)
            return true
        }
    }

    func pace<Value>(of project: String, _ work: (inout FCMPace) -> Value) -> Value {
        paces.withLock { all in
            if all.count >= Self.capacity, all[project] == nil { all = [:] }
            return work(&all[project, default: start])
        }
    }
}
