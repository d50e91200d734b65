import APNsProtocol
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension EmulatorCore {
    /// Judges a request, delivers it if it is accepted, and records both. `credentials` belongs to the connection.
    func judge(_ request: APNsRequest, credentials: inout ConnectionCredentials) -> Verdict {
        let credential = judgeCredential(of: request, credentials: &credentials)
        let (now, uptime) = (clock.now, clock.uptime)
        let known = credentials
        let (verdict, usedToken, appSequence) = state.withLockedValue { state in
            let evidence = state.evidence(
                for: request, credential: credential, credentials: known, configuration: configuration, now: now, uptime: uptime)
            let (refusal, credentialsPassed) = RequestCheck.judge(evidence)
            let verdict = state.decide(evidence, refusal: refusal)
            state.record(evidence, verdict: verdict)
            return (verdict, credentialsPassed, state.registry.appSequence)
        }
        if usedToken, case .signed(let key, let issuedAt) = credential, let authorization = request.head.authorization {
            credentials.adopt(authorization, issuedAt: issuedAt, uptime: uptime)
            if verdict.answer?.status == 200 { credentials.bind(to: key, appSequence: appSequence) }
        }
        return verdict
    }

    /// Verifies the provider token outside the lock, once per connection and token.
    private func judgeCredential(of request: APNsRequest, credentials: inout ConnectionCredentials) -> Credential {
        guard let authorization = request.head.authorization else { return .missing }
        let generation = state.withLockedValue { $0.registry.keyGeneration }
        if let known = credentials.known(authorization, generation: generation) { return known }
        let registry = state.withLockedValue { $0.registry }
        let credential = Credential(authorization: authorization, registry: registry)
        credentials.keep(credential, for: authorization)
        return credential
    }
}

extension ServiceState {
    /// Gathers what the checks may look at.
    func evidence(
        for request: APNsRequest, credential: Credential, credentials: ConnectionCredentials,
        configuration: LocalAPNsConfiguration, now: Timestamp, uptime: Duration
    ) -> RequestEvidence {
        let path = RequestPath(request.head.path)
        let entry = path.token.flatMap { tokens[$0.lowercased()] }
        let seconds = configuration.rules.deviceRate?.seconds ?? 1
        let target = entry.map {
            RequestEvidence.Target(
                topic: $0.topic, life: $0.life, recentPushes: tokens.recentPushes($0, seconds: seconds, uptime: uptime))
        }
        return RequestEvidence(
            environment: configuration.environment, rules: configuration.rules, now: now, uptime: uptime, request: request,
            path: path, credential: credential, binding: credentials.binding, currentToken: credentials.current,
            app: request.head.topic.flatMap { registry.app(TopicName($0).bundleID) }, target: target)
    }

    /// Check 20 and 21: the fault that waits, else acceptance.
    mutating func decide(_ evidence: RequestEvidence, refusal: APNsRefusal?) -> Verdict {
        let head = evidence.request.head
        let echo = head.apnsID.flatMap { APNsText.isUUID($0) ? $0 : nil } ?? random.identifier().uuidString
        let token = evidence.path.token?.lowercased() ?? ""
        tokens.countRequest(token)
        if let refusal {
            let answer = APNsAnswer(
                status: refusal.status, reason: refusal.reason, timestamp: refusal.timestamp, apnsID: echo, uniqueID: nil)
            return Verdict(answer: answer)
        }
        let fault = faults.next(for: token)
        if case .status(let status, let reason) = fault {
            return Verdict(answer: APNsAnswer(status: status, reason: reason, apnsID: echo), fault: fault)
        }
        guard fault?.processesRequest ?? true else { return Verdict(fault: fault) }
        let uniqueID = accept(evidence, token: token, apnsID: UUID(uuidString: echo) ?? random.identifier())
        let answer = APNsAnswer(
            status: 200, apnsID: echo, uniqueID: evidence.environment == .sandbox ? uniqueID.uuidString.lowercased() : nil)
        return Verdict(answer: fault?.answersRequest ?? true ? answer : nil, fault: fault)
    }

    /// Takes a push in and returns its unique id.
    private mutating func accept(_ evidence: RequestEvidence, token: String, apnsID: UUID) -> UUID {
        let head = evidence.request.head
        let uniqueID = random.identifier()
        let topic = head.topic ?? ""
        let push = AcceptedPush(
            device: tokens[token]?.device ?? "", token: token, topic: topic, bundleID: TopicName(topic).bundleID, apnsID: apnsID,
            uniqueID: uniqueID, pushType: evidence.pushType, priority: head.priority.flatMap { Int($0) } ?? 10,
            expiration: head.expiration.flatMap { Int64($0) }, collapseID: head.collapseID, payload: evidence.request.body,
            receivedAt: evidence.now)
        tokens.countAccepted(token, rate: evidence.rules.deviceRate, uptime: evidence.uptime)
        recorder.countAcceptance(apnsID)
        let instructions = store.accept(push, now: evidence.now)
        carryOut(instructions, now: evidence.now)
        return uniqueID
    }

    /// Keeps the exchange and shows it to the observers.
    mutating func record(_ evidence: RequestEvidence, verdict: Verdict) {
        let request = evidence.request
        let exchange = APNsExchange(
            connection: request.connection, stream: request.stream, receivedAt: evidence.now, method: request.head.method,
            headers: request.head.fields, token: evidence.path.token, payloadSize: request.bodySize, payload: request.body,
            answer: verdict.answer, fault: verdict.fault)
        recorder.record(exchange)
        for observer in observers.values { observer.yield(exchange) }
    }
}
