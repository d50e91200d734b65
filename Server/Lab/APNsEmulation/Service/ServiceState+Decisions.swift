import APNsProtocol
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ServiceState {
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
        // The client cannot know that the push was accepted, so repeating it is no misdeed.
        if !isAnswered, let id = UUID(uuidString: answer.apnsID) { recorder.excuseNextRepeat(of: id) }
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
        // A dead token whose death is not told yet: accepted and lost.
        let isAlive = tokens[token]?.life == .alive
        carryOut(isAlive ? store.accept(push, now: evidence.now) : [.note(push, .discarded)], now: evidence.now)
        return push.uniqueID
    }

    private mutating func publish(_ evidence: RequestEvidence, bundleID: String, answer: APNsAnswer) -> String {
        let topic = bundleID + (APNsPushType.liveActivity.topicSuffix ?? "")
        var push = acceptedPush(evidence, token: "", topic: topic, bundleID: bundleID, answer: answer)
        push.pushType = .liveActivity
        push.channelID = evidence.channel?.id
        if BroadcastBody.startsActivity(evidence.request.body) { misdeeds[.startedActivityByBroadcast, default: 0] += 1 }
        recorder.countAcceptance(push.apnsID)
        if let id = push.channelID {
            let online = store
            carryOut(channels.publish(push, on: id, isOnline: online.isOnline, now: evidence.now), now: evidence.now)
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
            misdeeds[.changedProviderTokenTooOften, default: 0] += 1
        }
        let exchange = APNsExchange(
            connection: request.connection, stream: request.stream, receivedAt: evidence.now, method: request.head.method,
            path: request.head.path, headers: request.head.fields, token: evidence.path.token, payloadSize: request.bodySize,
            payload: request.body, answer: verdict.answer, fault: verdict.fault)
        recorder.record(exchange)
        for observer in observers.values { observer.yield(exchange) }
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
