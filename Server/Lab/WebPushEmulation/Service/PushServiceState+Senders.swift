import Crypto
import RichPushModel
import WireText

/// What a connection of a sender does with a request.
struct SenderVerdict: Sendable {
    /// Absent when the connection ends instead.
    var answer: SenderAnswer?
    /// Whether it says that it has not processed the request.
    var endsInOrder = false
    /// For the browser that the message is for.
    var instructions: [BrowserInstruction] = []
}

/// The pairs of salt and key of the newest messages, each with a digest of its message.
struct UsedKeys: Sendable {
    private var messages: [[UInt8]: [UInt8]] = [:]
    private var order: [[UInt8]] = []
    private var oldest = 0

    /// Whether a pair was used for another message. The same bytes to the same endpoint are the same message, sent again.
    func isUsed(_ pair: [UInt8], otherThanFor message: [UInt8]) -> Bool { messages[pair].map { $0 != message } ?? false }

    mutating func add(_ pair: [UInt8], for message: [UInt8], capacity: Int) {
        guard capacity > 0, messages.updateValue(message, forKey: pair) == nil else { return }
        guard order.count >= capacity else { return order.append(pair) }
        messages[order[oldest]] = nil
        order[oldest] = pair
        oldest = (oldest + 1) % order.count
    }
}

extension PushServiceState {
    /// The most seconds that a message is kept: 30 days (Reference/WebPush.md#6-6).
    static let longestLife: Int64 = 2_592_000

    /// Judges a request, does what it asks if nothing is wrong with it, and records both.
    ///
    /// - Parameter vapid: the header `Authorization`, read outside of the lock since its signature costs time.
    mutating func judge(_ request: SenderRequest, vapid: VAPIDStatement?, now: Timestamp) -> SenderVerdict {
        let evidence = evidence(for: request, vapid: vapid, now: now)
        var exchange = exchange(of: evidence)
        let verdict = decide(evidence, &exchange)
        exchange.status = verdict.answer?.status
        recorder.record(exchange)
        return verdict
    }

    /// The connection ends in the middle of a body, if that is the fault that waits. Then it is recorded here, as no request comes of it.
    mutating func failsInBody(_ request: SenderRequest, now: Timestamp) -> Bool {
        guard case .endpoint = SenderPath(request.path), let fault = faults.next(inBody: true) else { return false }
        var exchange = exchange(of: evidence(for: request, vapid: nil, now: now))
        exchange.fault = fault
        recorder.record(exchange)
        return true
    }

    /// Gathers what the rules may look at.
    func evidence(for request: SenderRequest, vapid: VAPIDStatement?, now: Timestamp) -> SenderEvidence {
        let path = SenderPath(request.path)
        var evidence = SenderEvidence(
            request: request, path: path, origin: origin, now: now, target: target(of: path), vapid: vapid,
            shape: EncryptedBodyShape(request.body))
        if let shape = evidence.shape {
            evidence.isKeyUsed = usedKeys.isUsed(shape.keyDigest, otherThanFor: Self.fingerprint(of: request))
        }
        return evidence
    }

    private static func fingerprint(of request: SenderRequest) -> [UInt8] {
        Array(SHA256.hash(data: Array(request.path.utf8) + [0] + request.body))
    }

    private func target(of path: SenderPath) -> SenderEvidence.Target {
        guard case .endpoint(let version, let text) = path, let token = EndpointToken(text, key: tokenKey),
            token.version == version
        else { return .unreadable }
        guard let user = users[token.uaid] else { return .userGone }
        // An id that was subscribed anew with another key has another endpoint; the older one has ended.
        guard let subscription = user.subscriptions[token.channelID],
            EndpointToken(uaid: token.uaid, channelID: token.channelID, key: subscription.key) == token
        else { return .subscriptionGone }
        return .alive(uaid: token.uaid, channelID: token.channelID, key: subscription.key)
    }

    private func exchange(of evidence: SenderEvidence) -> SenderExchange {
        let request = evidence.request
        var exchange = SenderExchange(
            receivedAt: evidence.now, method: request.method, path: evidence.path.kind, headers: [:], bodySize: request.bodySize)
        for name in ["ttl", "urgency", "topic", "content-encoding"] {
            exchange.headers[name] = request.header(name).map { String($0.prefix(100)) }
        }
        if case .alive(_, let channelID, _) = evidence.target { exchange.channelID = channelID }
        return exchange
    }

    private mutating func decide(_ evidence: SenderEvidence, _ exchange: inout SenderExchange) -> SenderVerdict {
        if let rule = SenderCheck.firstBroken(evidence) {
            exchange.brokenRule = rule
            return SenderVerdict(answer: SenderAnswer(rule))
        }
        switch (evidence.path, evidence.target) {
        case (.message(let id), _): return SenderVerdict(answer: cancel(id))
        case (.endpoint, .alive(let uaid, let channelID, _)):
            let fault = faults.next(inBody: false)
            exchange.fault = fault
            if let fault, !fault.acceptsMessage {
                return SenderVerdict(
                    answer: fault.answer(redirectedTo: "\(origin)/\(SenderPath.redirectTarget)"),
                    endsInOrder: fault == .endInOrder)
            }
            var verdict = accept(evidence, uaid: uaid, channelID: channelID, &exchange)
            if fault != nil { verdict.answer = nil }
            return verdict
        default:
            return SenderVerdict(
                answer: SenderAnswer(status: 200, headers: [("content-type", "application/json")], body: #"{"status":"OK"}"#))
        }
    }

    /// Takes a message in, and sends it when the browser is there.
    private mutating func accept(
        _ evidence: SenderEvidence, uaid: String, channelID: String, _ exchange: inout SenderExchange
    ) -> SenderVerdict {
        let request = evidence.request
        if let shape = evidence.shape {
            usedKeys.add(shape.keyDigest, for: Self.fingerprint(of: request), capacity: bounds.usedKeys)
        }
        let life = min(evidence.ttl ?? 0, Self.longestLife)
        let message = WaitingMessage(
            id: Base64URL.text(of: randomBytes(16)), channelID: channelID, topic: request.header("topic"), body: request.body,
            expiresAt: evidence.now + .seconds(life), isForNowOnly: life == 0)
        exchange.messageID = message.id
        var verdict = SenderVerdict(
            answer: SenderAnswer(
                status: 201, headers: [("location", "\(origin)/m/\(message.id)"), ("ttl", "\(life)")]))
        guard life > 0 || users[uaid]?.connection != nil else { return verdict }
        users[uaid]?.expire(at: evidence.now)
        let limit = bounds.waitingMessages
        users[uaid]?.store(message, limit: limit)
        keptRevision += 1
        if users[uaid]?.isOverfull == true, let connection = users[uaid]?.connection {
            verdict.instructions = close(connection, .userReset)
            users[uaid] = nil
        } else {
            verdict.instructions = deliver(to: uaid, now: evidence.now, live: message.id)
        }
        return verdict
    }

    /// Cancels a message that is not acknowledged (Reference/WebPush.md#6-5). For one that does not wait the page names no answer.
    private mutating func cancel(_ id: String) -> SenderAnswer {
        let owner = users.first { $0.value.messages.contains { $0.id == id } }?.key
        guard let owner else { return SenderAnswer(error: 404, errno: nil, message: "No such message waits.") }
        users[owner]?.messages.removeAll { $0.id == id }
        keptRevision += 1
        return SenderAnswer(status: 204)
    }
}
