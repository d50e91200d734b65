import CryptoExtras
import RichPushModel

/// A request with its body read, outside of the lock.
struct FCMCall: Sendable {
    enum Body: Sendable {
        case grant(GrantCall)
        case send(SendCall)
        case batch(TopicBatchCall)
        case none
    }

    let request: GoogleRequest
    let path: GooglePath
    let body: Body

    init(_ request: GoogleRequest) {
        self.request = request
        path = GooglePath(request.target)
        body =
            switch path {
            case .token: .grant(GrantCall(request))
            case .send: .send(SendCall(request))
            case .topicBatch: .batch(TopicBatchCall(request))
            case .topicSubscription, .unknown: .none
            }
    }

    /// What is wrong with its address.
    var violations: [FCMViolation] {
        guard path != .unknown else { return [FCMViolation(.path)] }
        var found: [FCMViolation] = []
        if request.method != path.method { found.append(FCMViolation(.method)) }
        if request.bodySize > GoogleRequest.largestBody { found.append(FCMViolation(.bodySize)) }
        return found
    }

    var isValidation: Bool { if case .send(let send) = body { send.isValidation } else { false } }
}

/// What the service finds for a request: who calls, for which project and which device.
struct FCMFinding: Sendable {
    var project: LocalFCMProject?
    var account: String?
    /// The name of the device, living or not.
    var device: String?
}

extension FCMServiceState {
    /// Every rule that a request breaks, in the order in which they are answered. Nothing changes.
    func judge(_ call: FCMCall, now: Timestamp, uptime: Duration) -> (violations: [FCMViolation], finding: FCMFinding) {
        var finding = FCMFinding()
        var violations = call.violations
        switch call.body {
        case .grant(let grant):
            violations += grant.violations
            if let assertion = grant.assertion {
                finding.account = assertion.issuer
                violations += assertion.violations(
                    keys: keys(ofAccount: assertion.issuer), audiences: audiences, now: now)
            }
        case .send(let send):
            violations += access(call, &finding, now: now, uptime: uptime) + send.violations
            if let message = send.message { violations += target(of: message, send, &finding, now: now, uptime: uptime) }
        case .batch(let batch):
            let header = call.request.header("access_token_auth")
            if header?.lowercased() != "true" { violations.append(FCMViolation(.topicTokenHeader)) }
            violations += access(call, &finding, now: now, uptime: uptime) + batch.violations
        case .none:
            guard call.path != .unknown else { break }
            violations += access(call, &finding, now: now, uptime: uptime)
            violations += subscription(call.path, &finding, now: now)
        }
        return (violations, finding)
    }

    // MARK: Who calls

    private func access(
        _ call: FCMCall, _ finding: inout FCMFinding, now: Timestamp, uptime: Duration
    ) -> [FCMViolation] {
        var broken: [FCMRule] = []
        let entry = call.request.bearerToken.flatMap { accessTokens[$0] }
        finding.account = entry?.account
        if call.request.header("authorization") == nil {
            broken.append(.credentialPresent)
        } else if let entry {
            if entry.expiresAt <= now { broken.append(.credentialFresh) }
            if entry.isRevoked { broken.append(.credentialNotRevoked) }
            if !GrantCall.Assertion.isSufficient(entry.scopes) { broken.append(.scopeSufficient) }
        } else {
            broken.append(.credentialKnown)
        }
        // The older service has no project in its path.
        finding.project = (call.path.project ?? entry?.project).flatMap { project($0) }
        guard let project = finding.project else {
            if call.path.project != nil { broken.append(.projectKnown) }
            return broken.map { FCMViolation($0) }
        }
        if !project.settings.isAPIEnabled { broken.append(.apiEnabled) }
        if let entry, project.accounts[entry.account]?.maySend != true { broken.append(.permission) }
        if project.requests.isFull(quotas.projectPerMinute, of: .seconds(60), uptime: uptime) { broken.append(.projectQuota) }
        return broken.map { FCMViolation($0) }
    }

    // MARK: Whom a message is for

    private func target(
        of message: [String: JSONValue], _ send: SendCall, _ finding: inout FCMFinding, now: Timestamp, uptime: Duration
    ) -> [FCMViolation] {
        let violations: [FCMViolation]
        switch SentMessage.target(of: message) {
        case .token(let token): violations = device(ofToken: token, field: "message.token", &finding, now: now)
        case .fid(let fid): violations = device(ofInstallation: fid, &finding, now: now)
        case .topic, .condition, nil: return []
        }
        guard let name = finding.device, let device = devices[name] else { return violations }
        let content = SentMessage(message)
        var broken: [FCMRule] = []
        if let package = content.restrictedPackage, package != device.package { broken.append(.restrictedPackage) }
        let settings = finding.project?.settings ?? LocalFCMProjectSettings()
        if device.platform == .apple && !settings.hasAPNsKey || device.platform == .web && !settings.hasWebPushKey {
            broken.append(.thirdPartyKey)
        }
        if !send.isValidation {
            let load = loads[name] ?? DeviceLoad()
            broken += load.brokenRules(isCollapsible: content.collapseKey != nil, quotas, uptime: uptime)
        }
        return violations + broken.map { FCMViolation($0) }
    }

    /// What is wrong with a registration token. One that is not made here has no right shape at Google.
    private func device(
        ofToken token: String, field: String, _ finding: inout FCMFinding, now: Timestamp
    ) -> [FCMViolation] {
        guard let name = tokens[token] else {
            guard ValueForm.isToken(token) else { return [] }
            return [wasIssued(token) ? FCMViolation(.registered) : FCMViolation(.tokenIssued, field: field)]
        }
        finding.device = name
        return life(of: name, finding, now: now)
    }

    private func device(ofInstallation fid: String, _ finding: inout FCMFinding, now: Timestamp) -> [FCMViolation] {
        guard let name = fids[fid] else { return ValueForm.isInstallationID(fid) ? [FCMViolation(.registered)] : [] }
        finding.device = name
        return life(of: name, finding, now: now)
    }

    private func life(of name: String, _ finding: FCMFinding, now: Timestamp) -> [FCMViolation] {
        guard let device = devices[name] else { return [] }
        var broken: [FCMRule] = []
        if device.token == nil || device.isExpired(at: now, days: quotas.inactiveDays) { broken.append(.registered) }
        if let project = finding.project, project.id != device.project { broken.append(.senderID) }
        return broken.map { FCMViolation($0) }
    }

    // MARK: Topics

    private func subscription(_ path: GooglePath, _ finding: inout FCMFinding, now: Timestamp) -> [FCMViolation] {
        guard case .topicSubscription(_, let token, let topic, let follows, let allowsMissing) = path else { return [] }
        var violations: [FCMViolation] = []
        if let rule = SendCall.brokenTopic(topic) { violations.append(FCMViolation(rule, field: "topic_name")) }
        if !ValueForm.isToken(token) { violations.append(FCMViolation(.tokenShape, field: "registration")) }
        violations += device(ofToken: token, field: "registration", &finding, now: now)
        guard let device = finding.device.flatMap({ devices[$0] }) else { return violations }
        let isFollowed = device.topics.contains(topic)
        if follows {
            if isFollowed {
                violations.append(FCMViolation(.topicNotFollowed))
            } else if device.topics.count >= quotas.topicsPerDevice {
                violations.append(FCMViolation(.topicCount))
            }
        } else if !isFollowed, !allowsMissing {
            violations.append(FCMViolation(.topicFollowed))
        }
        return violations
    }

    /// What the older service says of one registration token (Reference/FCM.md#5); `nil` when nothing is wrong.
    func batchError(of token: String, topic: String, follows: Bool, in project: LocalFCMProject?, now: Timestamp) -> String? {
        guard ValueForm.isToken(token) else { return "INVALID_ARGUMENT" }
        var finding = FCMFinding(project: project)
        switch device(ofToken: token, field: "", &finding, now: now).first?.rule {
        case .registered: return "NOT_FOUND"
        case .senderID: return "PERMISSION_DENIED"
        case .some: return "INVALID_ARGUMENT"
        case nil: break
        }
        guard follows, let device = finding.device.flatMap({ devices[$0] }), !device.topics.contains(topic) else { return nil }
        return device.topics.count >= quotas.topicsPerDevice ? "TOO_MANY_TOPICS" : nil
    }
}
