import APNsProtocol
import RichPushModel
import ServiceEmulation

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// All that one local APNs knows; lives behind one lock.
struct ServiceState: Sendable {
    /// The stream of a connected device. The number distinguishes a connection from its successor.
    struct Subscriber: Sendable {
        var number: Int
        var continuation: AsyncStream<DeliveredPush>.Continuation
    }

    var rules: EmulationRules
    var registry = ProviderRegistry()
    /// Provider tokens minted before this second count as expired.
    var tokensRecalledBefore: Int64?
    /// Provider tokens that a fault answered with `ExpiredProviderToken`; the newest sixteen.
    private(set) var tokensCalledExpired: [String] = []
    /// Serial numbers of client certificates that are refused in the handshake.
    var revokedCertificates: Set<String> = []
    var tokens = DeviceTokenTable()
    var store = StoreAndForward()
    var channels = ChannelTable()
    /// Requests for broadcasts and channels in the present rate window of each app.
    var appRequests: [String: RateWindow] = [:]
    var log: DeliveryLog
    var recorder: ExchangeRecorder
    var faults = FaultPlan()
    var random: RandomSource
    var devices: [String: Subscriber] = [:]
    var observers: [Int: AsyncStream<APNsExchange>.Continuation] = [:]
    var fateObservers: [Int: AsyncStream<PushFate>.Continuation] = [:]
    /// Digests of the provider tokens that came, a hundred at most.
    var authorizations: Set<Int> = []
    /// What clients did that is counted as it happens; the rest of the complaints is drawn from frames.
    var violations: [ClientComplaint.Kind: Int] = [:]
    /// How often each kind of client that never spoke HTTP/2 was logged.
    var reportedClients: [ClientComplaint.Kind: RateWindow] = [:]
    /// The streams of devices have ended permanently.
    var isFinished = false
    /// Grows with every change of what `keptState` holds.
    var keptRevision = 0
    /// Serial numbers of client certificates that this emulator issued.
    var issuedCertificates: Set<String> = []
    var lastNumber = 0
    /// How many connections there were.
    var connectionCount = 0

    init(configuration: LocalAPNsConfiguration) {
        rules = configuration.rules
        log = DeliveryLog(capacity: configuration.retention.deliveries)
        recorder = ExchangeRecorder(retention: configuration.retention)
        random = RandomSource(seed: configuration.randomSeed)
    }

    /// A number that no subscriber had before.
    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// An injected `ExpiredProviderToken` asked the client to replace this token.
    mutating func callExpired(_ token: String) {
        guard !tokensCalledExpired.contains(token) else { return }
        if tokensCalledExpired.count >= 16 { tokensCalledExpired.removeFirst() }
        tokensCalledExpired.append(token)
    }

    /// Applies what the store decided.
    ///
    /// Handing over happens under the lock of the caller, so that a device sees its pushes in the order of the decisions;
    /// that is safe because a yield runs no code of the reader.
    mutating func apply(_ instructions: [StoreAndForward.Instruction], now: Timestamp) {
        for instruction in instructions {
            switch instruction {
            case .note(let push, let state): note(push, state, at: now)
            case .deliver(let push, let stored): handOver(push, stored: stored, now: now)
            }
        }
    }

    private mutating func handOver(_ push: AcceptedPush, stored: Bool, now: Timestamp) {
        log.note(push, .delivered, at: now)
        let result = devices[push.device]?.continuation.yield(push.delivered(at: now, stored: stored))
        guard case .dropped(let lost) = result else { return }
        note(lost.accepted, .overflowed, at: now)
    }

    /// Records that a push did not go to its device, and notifies the observers.
    private mutating func note(_ push: AcceptedPush, _ state: DeliveryRecord.State, at now: Timestamp) {
        log.note(push, state, at: now)
        for observer in fateObservers.values { observer.yield(PushFate(push, state, at: now)) }
    }

    /// Gathers what the checks may look at.
    func evidence(
        for request: APNsRequest, credential: Credential, credentials: ConnectionCredentials, environment: APNsEnvironment,
        now: Timestamp, uptime: Duration
    ) -> RequestEvidence {
        let path = RequestPath(request.head.path, service: request.service)
        var evidence = RequestEvidence(
            environment: environment, rules: rules, now: now, uptime: uptime, request: request, path: path,
            credential: credential, binding: credentials.binding, recalledBefore: tokensRecalledBefore)
        evidence.currentToken = evidence.signed.flatMap { credentials.current(of: $0.key) }
            .flatMap { hasExpired($0, now: now) ? nil : $0 }
        evidence.tokenCalledExpired =
            Credential.bearerToken(request.head.authorization).map { tokensCalledExpired.contains($0) } ?? false
        if let bundleID = path.bundleID {
            addChannels(of: bundleID, to: &evidence)
        } else {
            evidence.app = evidence.topic.flatMap { registry.app(TopicName($0).bundleID) }
            evidence.target = target(of: path, uptime: uptime)
        }
        return evidence
    }

    /// Whether a client has to replace this token: by its age, by `expireProviderTokens`, or because a fault said so.
    private func hasExpired(_ token: ConnectionCredentials.Current, now: Timestamp) -> Bool {
        let isRecalled = tokensRecalledBefore.map { token.issuedAt < $0 } ?? false
        let (age, overflow) = now.seconds.subtractingReportingOverflow(token.issuedAt)
        return isRecalled || overflow || age > rules.providerTokenLifetime || tokensCalledExpired.contains(token.token)
    }

    private func target(of path: RequestPath, uptime: Duration) -> RequestEvidence.Target? {
        guard let entry = path.token.flatMap({ tokens[$0.lowercased()] }) else { return nil }
        let recent = rules.deviceRate.map { entry.window.recent(seconds: $0.seconds, uptime: uptime) } ?? 0
        return RequestEvidence.Target(topic: entry.topic, life: entry.apparentLife(at: uptime), recentPushes: recent)
    }

    private func addChannels(of bundleID: String, to evidence: inout RequestEvidence) {
        let head = evidence.request.head
        evidence.app = registry.app(bundleID)
        evidence.channel = head.channelID.flatMap { channels.channel($0, bundleID: bundleID) }
        evidence.channelCount = channels.count(bundleID: bundleID)
        if case .channels = evidence.path, head.method == "POST" {
            evidence.creation = ChannelCreation(body: evidence.request.body)
        }
        guard let rate = rules.appRate else { return }
        evidence.recentRequests = appRequests[bundleID]?.recent(seconds: rate.seconds, uptime: evidence.uptime) ?? 0
    }

    /// The fault that waits, else what the request asks for (Reference/APNs.md#7-2-20 and #7-2-21).
    mutating func decide(_ evidence: RequestEvidence, refusal: APNsRefusal?) -> Verdict {
        let blank = blankAnswer(for: evidence)
        let token = evidence.path.token?.lowercased() ?? ""
        tokens.countRequest(token)
        if let refusal { return Verdict(answer: blank.refused(refusal)) }
        let fault = faults.next(for: token)
        if var refusal = fault?.refusal {
            // Reference/APNs.md#4: 410 says since when.
            if refusal.status == 410 { refusal.timestamp = evidence.now.milliseconds }
            if refusal.reason == .expiredProviderToken, let token = Credential.bearerToken(evidence.request.head.authorization) {
                callExpired(token)
            }
            return Verdict(answer: blank.refused(refusal), fault: fault)
        }
        guard fault?.processesRequest ?? true else { return Verdict(fault: fault) }
        let answer = perform(evidence, answer: blank)
        let isAnswered = fault?.answersRequest ?? true
        // The client cannot know that the push was accepted, so a retry is no violation.
        if !isAnswered, let id = UUID(uuidString: answer.apnsID) { recorder.excuseNextRetry(of: id) }
        return Verdict(answer: isAnswered ? answer : nil, fault: fault)
    }

    /// A 200 with the id of the request, or one made for it.
    private mutating func blankAnswer(for evidence: RequestEvidence) -> APNsAnswer {
        let head = evidence.request.head
        let isPush = evidence.request.service == .provider && !head.path.hasPrefix("/4/broadcasts/")
        let sent = isPush ? head.apnsID : head.requestID ?? head.apnsID
        let id = sent.flatMap { APNsText.isUUID($0) ? $0 : nil } ?? random.identifier().uuidString
        var answer = APNsAnswer(status: 200, apnsID: id)
        if !isPush { answer.idHeader = "apns-request-id" }
        return answer
    }

    private mutating func perform(_ evidence: RequestEvidence, answer: APNsAnswer) -> APNsAnswer {
        if let bundleID = evidence.path.bundleID, let rate = evidence.rules.appRate {
            appRequests[bundleID, default: RateWindow()].add(seconds: rate.seconds, uptime: evidence.uptime)
        }
        var answer = answer
        switch evidence.path {
        case .device(let token):
            let uniqueID = accept(evidence, token: token.lowercased(), answer: answer)
            if evidence.environment == .sandbox { answer.uniqueID = uniqueID.uuidString.lowercased() }
        case .broadcast(let bundleID): answer.uniqueID = publish(evidence, bundleID: bundleID, answer: answer)
        case .channels(let bundleID): manage(evidence, bundleID: bundleID, answer: &answer)
        case .allChannels(let bundleID):
            let quoted = channels.list(bundleID: bundleID).map { #""\#($0)""# }
            answer.content = #"{"channels":[\#(quoted.joined(separator: ","))]}"#
        case .deviceWithoutToken, .unknown: break
        }
        return answer
    }

    /// Takes a push in and returns its unique id.
    private mutating func accept(_ evidence: RequestEvidence, token: String, answer: APNsAnswer) -> UUID {
        let topic = evidence.topic ?? ""
        let push = acceptedPush(evidence, token: token, topic: topic, bundleID: TopicName(topic).bundleID, answer: answer)
        tokens.countAccepted(token, rate: evidence.rules.deviceRate, uptime: evidence.uptime)
        recorder.countAcceptance(push.apnsID)
        // A dead token that is not reported as dead yet: accepted and lost.
        let isAlive = tokens[token]?.life == .alive
        apply(isAlive ? store.accept(push, now: evidence.now) : [.note(push, .discarded)], now: evidence.now)
        return push.uniqueID
    }

    private mutating func publish(_ evidence: RequestEvidence, bundleID: String, answer: APNsAnswer) -> String {
        let topic = bundleID + (APNsPushType.liveActivity.topicSuffix ?? "")
        var push = acceptedPush(evidence, token: "", topic: topic, bundleID: bundleID, answer: answer)
        push.pushType = .liveActivity
        push.channelID = evidence.channel?.id
        if BroadcastBody.startsActivity(evidence.request.body) { violations[.startedActivityByBroadcast, default: 0] += 1 }
        recorder.countAcceptance(push.apnsID)
        if let id = push.channelID {
            let online = store
            apply(channels.publish(push, on: id, isOnline: online.isOnline, now: evidence.now), now: evidence.now)
        }
        return push.uniqueID.uuidString.lowercased()
    }

    private mutating func manage(_ evidence: RequestEvidence, bundleID: String, answer: inout APNsAnswer) {
        if case .valid(let policy) = evidence.creation {
            answer.status = 201
            keptRevision += 1
            answer.channelID = channels.create(bundleID: bundleID, policy: policy, random: &random)
        } else if let channel = evidence.channel, evidence.request.head.method == "DELETE" {
            answer.status = 204
            keptRevision += 1
            channels.delete(channel.id)
        } else if let channel = evidence.channel {
            answer.content = #"{"message-storage-policy":\#(channel.policy.rawValue),"push-type":"LiveActivity"}"#
        }
    }

    private mutating func acceptedPush(
        _ evidence: RequestEvidence, token: String, topic: String, bundleID: String, answer: APNsAnswer
    ) -> AcceptedPush {
        let head = evidence.request.head
        let uniqueID = random.identifier()
        return AcceptedPush(
            device: tokens[token]?.device ?? "", token: token, topic: topic, bundleID: bundleID,
            apnsID: UUID(uuidString: answer.apnsID) ?? uniqueID, uniqueID: uniqueID, pushType: evidence.pushType,
            priority: head.priority.flatMap { Int($0) } ?? 10, expiration: head.expiration.flatMap { Int64($0) },
            collapseID: head.collapseID, payload: evidence.request.body, receivedAt: evidence.now)
    }

    /// Keeps the exchange and shows it to the observers.
    mutating func record(_ evidence: RequestEvidence, verdict: Verdict) {
        let request = evidence.request
        if verdict.fault == nil, verdict.answer?.reason == .tooManyProviderTokenUpdates {
            violations[.changedProviderTokenTooOften, default: 0] += 1
        }
        let exchange = APNsExchange(
            connection: request.connection, stream: request.stream, receivedAt: evidence.now, method: request.head.method,
            path: request.head.path, headers: request.head.fields, token: evidence.path.token, payloadSize: request.bodySize,
            payload: request.body, answer: verdict.answer, fault: verdict.fault)
        recorder.record(exchange)
        for observer in observers.values { observer.yield(exchange) }
    }
}

extension DeliveredPush {
    /// The push as it was before it was handed over.
    fileprivate var accepted: AcceptedPush {
        AcceptedPush(
            device: device, token: token, topic: topic, bundleID: bundleID, apnsID: apnsID, uniqueID: uniqueID,
            pushType: pushType, priority: priority, expiration: expiration, collapseID: collapseID, payload: payload,
            receivedAt: receivedAt, channelID: channelID)
    }
}

/// What APNs documents about the body of a broadcast (Reference/APNs.md#5-1).
private struct BroadcastBody: Decodable {
    private struct System: Decodable { var event: String? }

    private var aps: System?

    /// Whether the body asks to start a Live Activity, which a broadcast cannot do.
    static func startsActivity(_ body: [UInt8]) -> Bool {
        (try? JSONDecoder().decode(Self.self, from: Data(body)))?.aps?.event == "start"
    }
}

/// What a connection does with a request.
struct Verdict: Sendable {
    /// Absent when a fault swallows the request.
    var answer: APNsAnswer?
    var fault: InjectedFault?

    /// Whether a fault refused the provider token, so that the connection has not adopted it.
    var faultRefusesToken: Bool {
        guard fault != nil, let reason = answer?.reason else { return false }
        let refusals: [APNsReason] = [
            .expiredProviderToken, .tooManyProviderTokenUpdates, .invalidProviderToken, .missingProviderToken,
            .badEnvironmentKeyInToken, .badEnvironmentKeyIDInToken, .unrelatedKeyIDInToken,
        ]
        return refusals.contains(reason)
    }
}

/// How often a device token was addressed.
public struct RequestCounts: Sendable, Hashable {
    /// Requests with this token in their path, whatever the answer.
    public var requests = 0
    /// Those accepted.
    public var accepted = 0
}

/// Why a device token is dead.
public enum DeadTokenReason: Sendable, Hashable {
    /// 410 `Unregistered`.
    case unregistered
    /// 410 `ExpiredToken`.
    case expired
}

/// The device tokens of one environment. Tokens are compared in lower case.
struct DeviceTokenTable: Sendable {
    struct Entry: Sendable {
        let device: String
        let topic: String
        /// Distinguishes tokens of one topic, as those of several Live Activities; empty for the token of the app.
        var name = ""
        /// What is true; what is answered may lag behind.
        var life = RequestEvidence.Target.Life.alive
        var counts = RequestCounts()
        /// The accepted pushes in the present rate window.
        var window = RateWindow()
        /// The uptime from which a dead token is answered as dead; until then pushes to it are accepted and lost.
        var reportedFrom: Duration?

        /// The state that the answer to a push at this uptime reports.
        func apparentLife(at uptime: Duration) -> RequestEvidence.Target.Life {
            if let reportedFrom, uptime < reportedFrom { return .alive }
            return life
        }
    }

    private struct Registration: Hashable {
        var device: String
        var topic: String
        var name: String
    }

    private var entries: [String: Entry] = [:]
    private var living: [Registration: String] = [:]

    subscript(token: String) -> Entry? { entries[token] }

    /// The living token of a device and topic with this name, made if there is none.
    mutating func issue(device: String, topic: String, name: String, random: inout RandomSource) -> String {
        let registration = Registration(device: device, topic: topic, name: name)
        if let token = living[registration] { return token }
        let token = random.deviceToken()
        living[registration] = token
        entries[token] = Entry(device: device, topic: topic, name: name)
        return token
    }

    /// Takes in a token made elsewhere.
    mutating func register(_ token: String, device: String, topic: String, name: String = "") throws {
        let token = token.lowercased()
        guard APNsText.isDeviceToken(token) else { throw LocalAPNsError.badDeviceToken }
        if let entry = entries[token] {
            guard entry.device == device, entry.topic == topic else { throw LocalAPNsError.deviceTokenTaken }
            return
        }
        living[Registration(device: device, topic: topic, name: name)] = token
        entries[token] = Entry(device: device, topic: topic, name: name)
    }

    /// The living token of a device and topic with this name dies.
    mutating func retire(device: String, topic: String, name: String, at moment: Timestamp) {
        guard let token = living[Registration(device: device, topic: topic, name: name)] else { return }
        invalidate(token, reason: .unregistered, at: moment)
    }

    /// Marks the token as dead since `moment`, reported from the uptime `reportedFrom` on. Returns whether the token exists.
    @discardableResult
    mutating func invalidate(
        _ token: String, reason: DeadTokenReason, at moment: Timestamp, reportedFrom: Duration? = nil
    ) -> Bool {
        let token = token.lowercased()
        guard let entry = entries[token] else { return false }
        entries[token]?.reportedFrom = reportedFrom
        entries[token]?.life = reason == .expired ? .expired(since: moment) : .unregistered(since: moment)
        let registration = Registration(device: entry.device, topic: entry.topic, name: entry.name)
        if living[registration] == token { living[registration] = nil }
        return true
    }

    /// Every token that was ever issued.
    var tokens: [String: Entry] { entries }

    /// Takes in a token of an earlier run that was dead already.
    mutating func restoreDead(
        _ token: String, device: String, topic: String, name: String, life: RequestEvidence.Target.Life
    ) {
        entries[token] = Entry(device: device, topic: topic, name: name, life: life)
    }

    func counts(of token: String) -> RequestCounts { entries[token.lowercased()]?.counts ?? .init() }

    mutating func countRequest(_ token: String) { entries[token]?.counts.requests += 1 }

    mutating func countAccepted(_ token: String, rate: EmulationRules.DeviceRate?, uptime: Duration) {
        guard let index = entries.index(forKey: token) else { return }
        entries.values[index].counts.accepted += 1
        if let rate { entries.values[index].window.add(seconds: rate.seconds, uptime: uptime) }
    }
}
