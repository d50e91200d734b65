import APNsProtocol
import RichPushModel

extension EmulatorCore {
    /// Judges a request, does what it asks if it is accepted, and records both. `credentials` belongs to the connection.
    func judge(_ request: APNsRequest, credentials: inout ConnectionCredentials) -> Verdict {
        let credential = judgeCredential(of: request, credentials: &credentials)
        let (now, uptime) = (clock.now, clock.uptime)
        let known = credentials
        let (verdict, tokenPassed, evidence, appSequence) = state.withLockedValue { state in
            seeOff(&state)
            let evidence = state.evidence(
                for: request, credential: credential, credentials: known, environment: configuration.environment, now: now,
                uptime: uptime)
            let (refusal, credentialsPassed) = RequestCheck.judge(evidence)
            let verdict = state.decide(evidence, refusal: refusal)
            state.record(evidence, verdict: verdict)
            return (verdict, credentialsPassed, evidence, state.registry.appSequence)
        }
        if tokenPassed, case .signed(let key, let issuedAt) = credential,
            let token = Credential.bearerToken(request.head.authorization)
        {
            if !evidence.tokenCalledExpired, !verdict.faultRefusesToken {
                credentials.adopt(token, of: key, issuedAt: issuedAt, uptime: uptime, replacing: evidence.currentToken)
            }
            if let status = verdict.answer?.status, (200..<300).contains(status) {
                credentials.bind(to: key, appSequence: appSequence)
            }
        }
        return verdict
    }

    /// Judges a request whose body is not here yet: `nil` if its method, path and credentials have nothing wrong.
    func judgeEarly(_ request: APNsRequest, credentials: inout ConnectionCredentials) -> Verdict? {
        let credential = judgeCredential(of: request, credentials: &credentials)
        let (now, uptime) = (clock.now, clock.uptime)
        let known = credentials
        return state.withLockedValue { state in
            let evidence = state.evidence(
                for: request, credential: credential, credentials: known, environment: configuration.environment, now: now,
                uptime: uptime)
            guard let refusal = RequestCheck.judge(evidence, credentialsOnly: true).refusal else { return nil }
            let verdict = state.decide(evidence, refusal: refusal)
            state.record(evidence, verdict: verdict)
            return verdict
        }
    }

    /// Verifies the provider token outside the lock, once per connection and token. A client certificate goes before it.
    private func judgeCredential(of request: APNsRequest, credentials: inout ConnectionCredentials) -> Credential {
        if let certificate = credentials.certificate { return .certificate(certificate) }
        guard let authorization = request.head.authorization else { return .missing }
        let generation = state.withLockedValue { $0.registry.keyGeneration }
        if let known = credentials.known(authorization, generation: generation) { return known }
        let registry = state.withLockedValue { $0.registry }
        let credential = Credential(authorization: authorization, registry: registry)
        credentials.keep(credential, for: authorization)
        state.withLockedValue { state in
            if state.authorizations.count < 100 { state.authorizations.insert(authorization.hashValue) }
        }
        return credential
    }
}
