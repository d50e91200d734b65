import RichPushModel
import WireText

/// What a connection does with a request.
struct FCMCallVerdict: Sendable {
    var answer: GoogleAnswer
    /// What happens to the answer.
    var fault: FCMFault?
}

extension FCMServiceState {
    /// Judges a request, does what it asks if nothing is wrong with it, and records both.
    mutating func handle(_ call: FCMCall, now: Timestamp, uptime: Duration) -> FCMCallVerdict {
        let place = news.count
        let (violations, finding) = judge(call, now: now, uptime: uptime)
        var exchange = exchange(of: call, finding, now: now)
        let verdict = decide(call, violations, finding, &exchange, now: now, uptime: uptime)
        exchange.status = verdict.answer.status
        switch verdict.fault {
        case .goAway(processed: false), .resetStream, .stall, .halfAnswer, .loseAnswer: exchange.status = nil
        default: break
        }
        recorder.record(exchange)
        // A request precedes what it led to.
        news.insert(.exchange(exchange), at: place)
        return verdict
    }

    private mutating func decide(
        _ call: FCMCall, _ violations: [FCMViolation], _ finding: FCMFinding, _ exchange: inout FCMExchange, now: Timestamp,
        uptime: Duration
    ) -> FCMCallVerdict {
        if let first = violations.first {
            (exchange.brokenRule, exchange.field, exchange.errorCode) = (first.rule, first.field, first.rule.errorCode)
            let rest = finding.project?.requests.rest(of: .seconds(60), uptime: uptime) ?? .zero
            // What is refused for a quota does not count against it (Reference/FCM.md#4).
            if first.rule.status != 429 { count(finding, call, uptime: uptime) }
            let pause = first.rule == .projectQuota ? "\(max(1, (rest.wholeMilliseconds + 999) / 1_000))" : nil
            return FCMCallVerdict(answer: answer(to: violations, of: call, retryAfter: pause))
        }
        let fault = call.path.endpoint.flatMap { faults.next(at: $0) }
        (exchange.fault, exchange.errorCode) = (fault, fault?.errorCode)
        if let fault, !fault.accepts {
            if fault == .revokeTokens { revokeAccessTokens { $0.account == finding.account } }
            return FCMCallVerdict(answer: fault.answer(now: now) ?? GoogleAnswer(body: "{}"), fault: fault)
        }
        count(finding, call, uptime: uptime)
        return FCMCallVerdict(answer: accept(call, finding, &exchange, now: now, uptime: uptime), fault: fault)
    }

    /// The older service has a form of its own for everything.
    private func answer(to violations: [FCMViolation], of call: FCMCall, retryAfter: String?) -> GoogleAnswer {
        guard case .topicBatch = call.path, let rule = violations.first?.rule, let status = rule.canonicalStatus else {
            return GoogleAnswer(violations, retryAfter: retryAfter)
        }
        return GoogleAnswer(status: rule.status, body: JSONText.object([("error", JSONText.string(status))]))
    }

    private mutating func count(_ finding: FCMFinding, _ call: FCMCall, uptime: Duration) {
        guard let id = finding.project?.id, finding.account != nil, case .send = call.body else { return }
        projects[id]?.requests.count(.seconds(60), uptime: uptime)
    }

    private mutating func accept(
        _ call: FCMCall, _ finding: FCMFinding, _ exchange: inout FCMExchange, now: Timestamp, uptime: Duration
    ) -> GoogleAnswer {
        switch (call.body, call.path) {
        case (.grant(let grant), _):
            let token = issueAccessToken(account: finding.account ?? "", scopes: grant.assertion?.scopes ?? [], now: now)
            // Google's is a second less than the time that it is good for.
            let seconds = max(0, tokenLifetime.components.seconds - 1)
            let members = [
                ("access_token", JSONText.string(token)), ("expires_in", "\(seconds)"), ("token_type", #""Bearer""#),
            ]
            return GoogleAnswer(body: JSONText.object(members))
        case (.send(let send), _):
            let id = send.isValidation ? "fake_message_id" : accept(send, finding, now: now, uptime: uptime)
            exchange.messageID = id
            let name = "projects/\(finding.project?.id ?? "")/messages/\(id)"
            return GoogleAnswer(body: JSONText.object([("name", JSONText.string(name))]))
        case (.batch(let batch), .topicBatch(let follows)):
            return GoogleAnswer(body: accept(batch, follows: follows, finding, now: now))
        case (_, .topicSubscription(_, _, let topic, let follows, _)):
            if let name = finding.device { follow(topic, follows, name) }
            return GoogleAnswer(body: "{}")
        default: return GoogleAnswer(body: "{}")
        }
    }

    // MARK: Sends

    /// Takes a message in and returns its id.
    private mutating func accept(_ send: SendCall, _ finding: FCMFinding, now: Timestamp, uptime: Duration) -> String {
        guard let message = send.message, let project = finding.project else { return "" }
        let content = SentMessage(message)
        var (names, from) = (finding.device.map { [$0] } ?? [], project.number)
        switch SentMessage.target(of: message) {
        case .topic(let topic):
            names = followers[.init(project: project.id, topic: topic), default: []].sorted()
            from = "/topics/" + topic
        case .condition(let text):
            if let condition = TopicCondition(text) { names = devicesMatching(condition, in: project.id) }
        case .token, .fid, nil: break
        }
        let id = newMessageID(isForDevice: finding.device != nil, now: now)
        let delivery = DeviceMessage(
            id: id, from: from, content: content, sentAt: now, expiresAt: now + .milliseconds(content.life))
        for name in names {
            loads[name, default: DeviceLoad()].count(isCollapsible: content.collapseKey != nil, quotas, uptime: uptime)
            deliver(delivery, to: name, now: now)
        }
        return id
    }

    private func devicesMatching(_ condition: TopicCondition, in project: String) -> [String] {
        devices.filter { $0.value.project == project && $0.value.token != nil && condition.matches($0.value.topics) }.keys
            .sorted()
    }

    private mutating func newMessageID(isForDevice: Bool, now: Timestamp) -> String {
        let number = random.next()
        // Microseconds and 16 digits, as the ids on Android look.
        let digits = String(number, radix: 16)
        let padded = String(repeating: "0", count: 16 - digits.count) + digits
        return isForDevice ? "0:\(now.milliseconds * 1_000)%\(padded)" : "\(number >> 1)"
    }

    // MARK: Topics

    private mutating func accept(_ batch: TopicBatchCall, follows: Bool, _ finding: FCMFinding, now: Timestamp) -> String {
        let results = batch.tokens.map { token in
            if let error = batchError(of: token, topic: batch.topic, follows: follows, in: finding.project, now: now) {
                return JSONText.object([("error", JSONText.string(error))])
            }
            if let name = tokens[token] { follow(batch.topic, follows, name) }
            return "{}"
        }
        return JSONText.object([("results", "[\(results.joined(separator: ","))]")])
    }

    private mutating func follow(_ topic: String, _ follows: Bool, _ name: String) {
        guard let device = devices[name] else { return }
        let place = TopicName(project: device.project, topic: topic)
        if follows {
            devices[name]?.topics.insert(topic)
            followers[place, default: []].insert(name)
        } else {
            devices[name]?.topics.remove(topic)
            followers[place]?.remove(name)
        }
        keptRevision += 1
    }

    // MARK: The record

    private static let recordedHeaders = [
        "user-agent", "x-firebase-client", "x-goog-api-client", "x-goog-api-format-version", "content-type",
    ]

    private func exchange(of call: FCMCall, _ finding: FCMFinding, now: Timestamp) -> FCMExchange {
        var exchange = FCMExchange(
            receivedAt: now, method: call.request.method, path: call.path.kind, isHTTP2: call.request.isHTTP2,
            bodySize: call.request.bodySize, headers: [:], project: finding.project?.id,
            account: finding.project == nil && finding.account.flatMap({ keys(ofAccount: $0) }) == nil ? nil : finding.account,
            device: finding.device)
        for name in Self.recordedHeaders {
            exchange.headers[name] = call.request.header(name).map { String($0.prefix(200)) }
        }
        if case .send(let send) = call.body {
            exchange.message = send.message.map { .object(Self.withoutTokens($0)) }
            exchange.isValidation = send.isValidation ? true : nil
        }
        return exchange
    }

    /// Cuts what lets its holder send.
    private static func withoutTokens(_ message: [String: JSONValue]) -> [String: JSONValue] {
        var message = message
        func cut(_ value: JSONValue?) -> JSONValue? { value?.asText.map { .text("\($0.prefix(8))…") } }
        message["token"] = cut(message["token"])
        if var apns = message["apns"]?.members {
            apns["live_activity_token"] = cut(apns["live_activity_token"])
            message["apns"] = .object(apns)
        }
        return message
    }
}
