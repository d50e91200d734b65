import APNsProtocol
import RichPushModel

extension ServiceState {
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
}
