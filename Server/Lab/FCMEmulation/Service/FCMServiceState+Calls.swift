import RichPushModel
import ServiceEmulation
import WireText

/// What a connection does with a request: an answer, and what happens to it.
typealias FCMCallVerdict = (answer: GoogleAnswer, fault: FCMFault?)

extension FCMServiceState {
    /// Judges a request, does what it asks if nothing is wrong with it, and records both.
    mutating func handle(_ call: FCMCall) -> FCMCallVerdict {
        let place = news.count
        let finding = judge(call)
        var exchange = exchange(of: call, finding)
        let verdict = decide(call, finding, &exchange)
        exchange.status = verdict.fault?.answers == false ? nil : verdict.answer.status
        exchange.errorCode = verdict.answer.errorCode
        recorder.exchangeList.append(exchange)
        // A request precedes what it led to.
        news.insert(.exchange(exchange), at: place)
        return verdict
    }

    private mutating func decide(_ call: FCMCall, _ finding: FCMFinding, _ exchange: inout FCMExchange) -> FCMCallVerdict {
        if let first = finding.violations.first {
            (exchange.brokenRule, exchange.field) = (first.rule, first.field)
            let rest = finding.project.flatMap { requests[$0.id]?.rest(seconds: 60, uptime: uptime) } ?? .zero
            // What is refused for a quota does not count against it (Reference/FCM.md#4).
            if first.rule.status != 429 { count(finding, call) }
            let pause = first.rule == .projectQuota ? "\(max(1, (rest.wholeMilliseconds + 999) / 1_000))" : nil
            return (answer(to: finding.violations, of: call, retryAfter: pause), nil)
        }
        let fault = call.path.endpoint.flatMap { faults.next(at: $0) }
        exchange.fault = fault
        if let fault, !fault.accepts {
            if fault == .revokeTokens { revokeAccessTokens { $0.account == finding.account } }
            return (fault.answer(now: now) ?? GoogleAnswer(body: "{}"), fault)
        }
        count(finding, call)
        return (accept(call, finding, &exchange), fault)
    }

    /// The older service has a form of its own for everything.
    private func answer(to violations: [FCMViolation], of call: FCMCall, retryAfter: String?) -> GoogleAnswer {
        guard case .batch = call.body, let rule = violations.first?.rule, let status = rule.canonicalStatus else {
            return GoogleAnswer(violations, retryAfter: retryAfter)
        }
        return GoogleAnswer(status: rule.status, body: JSONText.texts(["error": status]))
    }

    private mutating func count(_ finding: FCMFinding, _ call: FCMCall) {
        guard let id = finding.project?.id, finding.account != nil, case .send = call.body else { return }
        requests[id, default: RateWindow()].add(seconds: 60, uptime: uptime)
    }

    private mutating func accept(_ call: FCMCall, _ finding: FCMFinding, _ exchange: inout FCMExchange) -> GoogleAnswer {
        switch call.body {
        case .grant(let grant):
            let token = issueAccessToken(account: finding.account ?? "", scopes: grant.assertion?.scopes ?? [])
            // Google's is a second less than the time that it is good for.
            let seconds = max(0, tokenLifetime.components.seconds - 1)
            let members = [("access_token", JSONText.string(token)), ("expires_in", "\(seconds)"), ("token_type", #""Bearer""#)]
            return GoogleAnswer(body: JSONText.object(members))
        case .send(let send):
            let id = send.isValidation ? "fake_message_id" : accept(send, finding)
            exchange.messageID = id
            return GoogleAnswer(body: JSONText.texts(["name": "projects/\(finding.project?.id ?? "")/messages/\(id)"]))
        case .batch(let batch, let follows): return GoogleAnswer(body: accept(batch, follows: follows, finding))
        case .subscription(let follows):
            if let name = finding.device { follow(call.path.topic, follows, name) }
        case .unknown: break
        }
        return GoogleAnswer(body: "{}")
    }

    /// Takes a message in and returns its id.
    private mutating func accept(_ send: SendCall, _ finding: FCMFinding) -> String {
        guard let message = send.message, let project = finding.project else { return "" }
        let content = SentMessage(message)
        var (names, from) = (finding.device.map { [$0] } ?? [], project.number)
        switch SentMessage.target(of: message) {
        case .topic(let topic):
            names = followers[.init(project: project.id, topic: topic), default: []].sorted()
            from = "/topics/" + topic
        case .condition(let text):
            let matches = TopicCondition(text)?.matches ?? { _ in false }
            names = devices.filter { $0.value.project == project.id && $0.value.token != nil && matches($0.value.topics) }.keys
                .sorted()
        case .token, .fid, nil: break
        }
        let id = newMessageID(isForDevice: finding.device != nil)
        let delivery = DeviceMessage(
            id: id, from: from, content: content, sentAt: now, expiresAt: now + .milliseconds(content.life))
        for name in names {
            loads[name, default: DeviceLoad()].count(isCollapsible: content.collapseKey != nil, quotas, uptime: uptime)
            change(name) { $0.take(delivery, $1, $2) }
        }
        return id
    }

    private mutating func newMessageID(isForDevice: Bool) -> String {
        // Microseconds and 16 digits, as the ids on Android look.
        isForDevice ? "0:\(now.milliseconds * 1_000)%\(Hexadecimal.text(of: random.bytes(8)))" : "\(random.next() >> 1)"
    }

    private mutating func accept(_ batch: TopicBatchCall, follows: Bool, _ finding: FCMFinding) -> String {
        let results = batch.tokens.map { token in
            if let error = batchError(of: token, topic: batch.topic, follows: follows, in: finding.project) {
                return JSONText.texts(["error": error])
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

    private static let recordedHeaders = [
        "user-agent", "x-firebase-client", "x-goog-api-client", "x-goog-api-format-version", "content-type",
    ]

    private func exchange(of call: FCMCall, _ finding: FCMFinding) -> FCMExchange {
        let isAccountKnown = finding.project != nil || keys(ofAccount: finding.account) != nil
        var exchange = FCMExchange(
            receivedAt: now, method: call.request.method, path: call.path.kind.rawValue, isHTTP2: call.request.isHTTP2,
            bodySize: call.request.bodySize, headers: [:], project: finding.project?.id,
            account: isAccountKnown ? finding.account : nil, device: finding.device)
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
