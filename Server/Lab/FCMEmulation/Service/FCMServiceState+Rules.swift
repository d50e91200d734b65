import RichPushModel

/// What the service finds for a request: who calls, for which project and which device, and what is wrong with it.
struct FCMFinding: Sendable {
    /// In the order in which they are answered.
    var violations: [FCMViolation] = []
    var project: LocalFCMProject?
    var account: String?
    /// The name of the device, living or not.
    var device: String?
}

extension FCMServiceState {
    /// Every rule that a request breaks, and what it is about. Nothing changes.
    func judge(_ call: FCMCall) -> FCMFinding {
        var finding = FCMFinding(violations: call.violations)
        switch call.body {
        case .grant(let grant):
            finding.violations += grant.violations
            if let assertion = grant.assertion {
                finding.account = assertion.issuer
                let keys = keys(ofAccount: assertion.issuer)
                finding.violations += assertion.violations(keys: keys, audiences: audiences, now: now)
            }
        case .send(let send):
            judgeAccess(call, &finding)
            finding.violations += send.violations
            if let message = send.message { judgeTarget(of: message, isValidation: send.isValidation, &finding) }
        case .batch(let batch, _):
            let header = call.request.header("access_token_auth")
            finding.violations.note(.topicTokenHeader, if: header?.lowercased() != "true")
            judgeAccess(call, &finding)
            finding.violations += batch.violations
        case .subscription(let follows):
            judgeAccess(call, &finding)
            judgeSubscription(call.path, follows: follows, &finding)
        case .unknown: break
        }
        return finding
    }

    private func judgeAccess(_ call: FCMCall, _ finding: inout FCMFinding) {
        let entry = call.request.bearerToken.flatMap { accessTokens[$0] }
        finding.account = entry?.account
        if let entry {
            finding.violations.note(.credentialFresh, if: entry.expiresAt <= now)
            finding.violations.note(.credentialNotRevoked, if: entry.isRevoked)
            finding.violations.note(.scopeSufficient, if: !GrantCall.Assertion.isSufficient(entry.scopes))
        } else {
            let isPresent = call.request.header("authorization") != nil
            finding.violations.note(isPresent ? .credentialKnown : .credentialPresent)
        }
        // The older service has no project in its path.
        finding.project = (call.path.project ?? entry?.project).flatMap { project($0) }
        guard let project = finding.project else {
            return finding.violations.note(.projectKnown, if: call.path.project != nil)
        }
        finding.violations.note(.apiEnabled, if: !project.settings.isAPIEnabled)
        if let entry { finding.violations.note(.permission, if: project.accounts[entry.account]?.maySend != true) }
        let recent = requests[project.id]?.recent(seconds: 60, uptime: uptime) ?? 0
        finding.violations.note(.projectQuota, if: recent >= quotas.projectPerMinute)
    }

    private func judgeTarget(of message: [String: JSONValue], isValidation: Bool, _ finding: inout FCMFinding) {
        switch SentMessage.target(of: message) {
        case .token(let token): judgeDevice(ofToken: token, field: "message.token", &finding)
        case .fid(let fid):
            finding.device = fids[fid]
            finding.violations.note(.registered, if: finding.device == nil && ValueForm.isInstallationID(fid))
            judgeLife(&finding)
        case .topic, .condition, nil: return
        }
        guard let name = finding.device, let device = devices[name] else { return }
        let content = SentMessage(message)
        finding.violations.note(.restrictedPackage, if: device.package != content.restrictedPackage ?? device.package)
        let settings = finding.project?.settings ?? LocalFCMProjectSettings()
        let lacksKey = device.platform == .apple && !settings.hasAPNsKey || device.platform == .web && !settings.hasWebPushKey
        finding.violations.note(.thirdPartyKey, if: lacksKey)
        guard !isValidation else { return }
        finding.violations += (loads[name] ?? DeviceLoad())
            .violations(isCollapsible: content.collapseKey != nil, quotas, uptime: uptime)
    }

    /// What is wrong with a registration token. One that is not made here has no right shape at Google.
    private func judgeDevice(ofToken token: String, field: String, _ finding: inout FCMFinding) {
        finding.device = tokens[token]
        if finding.device == nil, ValueForm.isToken(token) {
            finding.violations.append(wasIssued(token) ? FCMViolation(.registered) : FCMViolation(.tokenIssued, field: field))
        }
        judgeLife(&finding)
    }

    private func judgeLife(_ finding: inout FCMFinding) {
        guard let device = finding.device.flatMap({ devices[$0] }) else { return }
        let isDead = device.token == nil || device.isExpired(at: now, days: quotas.inactiveDays)
        finding.violations.note(.registered, if: isDead)
        if let project = finding.project { finding.violations.note(.senderID, if: project.id != device.project) }
    }

    private func judgeSubscription(_ path: GooglePath, follows: Bool, _ finding: inout FCMFinding) {
        if let rule = SendCall.brokenTopic(path.topic) { finding.violations.note(rule, field: "topic_name") }
        finding.violations.note(.tokenShape, field: "registration", if: !ValueForm.isToken(path.token))
        judgeDevice(ofToken: path.token, field: "registration", &finding)
        guard let device = finding.device.flatMap({ devices[$0] }) else { return }
        let isFollowed = device.topics.contains(path.topic)
        if follows {
            finding.violations.note(.topicNotFollowed, if: isFollowed)
            finding.violations.note(.topicCount, if: !isFollowed && device.topics.count >= quotas.topicsPerDevice)
        } else {
            finding.violations.note(.topicFollowed, if: !isFollowed && !path.allowsMissing)
        }
    }

    /// What the older service says of one registration token (Reference/FCM.md#5); `nil` when nothing is wrong.
    func batchError(of token: String, topic: String, follows: Bool, in project: LocalFCMProject?) -> String? {
        guard ValueForm.isToken(token) else { return "INVALID_ARGUMENT" }
        var finding = FCMFinding(project: project)
        judgeDevice(ofToken: token, field: "", &finding)
        switch finding.violations.first?.rule {
        case .registered: return "NOT_FOUND"
        case .senderID: return "PERMISSION_DENIED"
        case .some: return "INVALID_ARGUMENT"
        case nil: break
        }
        guard follows, let device = finding.device.flatMap({ devices[$0] }), !device.topics.contains(topic) else { return nil }
        return device.topics.count >= quotas.topicsPerDevice ? "TOO_MANY_TOPICS" : nil
    }
}
