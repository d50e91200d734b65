import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

extension RichPushBackend {
    /// The most sends of a page of a list. Each asks the hub once.
    public static let sendPageLimit = 50

    /// Where a send of the caller stands.
    public func status(of id: RichID, for principal: Principal) async throws -> SendStatus {
        try principal.requirePassword(to: "read the status of a send")
        guard let found = try await parts.stores.notifications.notification(id),
            found.sender == principal.userID || principal.role == .admin
        else { throw Self.unseen }
        let result = try await standing(of: found)
        var answer = result.answer
        // The ids of other people's devices are for those who administer them.
        if principal.role == .admin, let telemetry = result.telemetry,
            telemetry.outcomes.contains(where: { !$0.key.isDelivered && $0.value > 0 })
        {
            answer.failures = try await parts.hub.failures(of: telemetry.id, limit: TargetFailure.limit).map {
                SendStatus.Failure(device: $0.record?.text, outcome: $0.outcome.rawValue, reason: $0.reason)
            }
        }
        return answer
    }

    /// A page of what the caller sent, an administrator's of what anybody sent, newest first; recalled and refused ones too.
    ///
    /// `before` continues towards older ones (`SendList.next`): sends get growing numbers, so a new one changes no later page. `limit` is
    /// clamped to 1 … 50, default 20. Throws `invalid-field` for a malformed cursor, and what the hub throws.
    public func sends(before: String? = nil, limit: Int? = nil, for principal: Principal) async throws -> SendList {
        try principal.requirePassword(to: "list sends")
        let limit = min(max(limit ?? 20, 1), Self.sendPageLimit)
        let found = try await parts.stores.notifications.sends(
            of: principal.role == .admin ? nil : principal.userID, before: try Self.cursor(before, "before"), limit: limit + 1)
        let page = Array(found.prefix(limit))
        let statuses = try await statuses(of: page)
        return SendList(
            sends: zip(page, statuses).map { send, status in
                SendListEntry(
                    id: send.id, sentAt: send.dueAt, sender: send.senderName.text, audience: "\(send.audience)", status: status)
            }, next: found.count > limit ? page.last.map { "\($0.id)" } : nil)
    }

    /// So many questions of a page are under way at a time: the hub may be elsewhere.
    private static let questionsAtOnce = 4

    /// The statuses of sends, in their order.
    private func statuses(of sends: [RichNotification]) async throws -> [SendStatus] {
        try await withThrowingTaskGroup(of: (Int, SendStatus).self) { group in
            var found: [Int: SendStatus] = [:]
            for (index, send) in sends.enumerated() {
                if index >= Self.questionsAtOnce, let (place, status) = try await group.next() { found[place] = status }
                group.addTask { (index, try await standing(of: send).answer) }
            }
            for try await (place, status) in group { found[place] = status }
            return sends.indices.compactMap { found[$0] }
        }
    }

    /// Where a send stands, and what the hub said of it.
    private func standing(of send: RichNotification) async throws -> (answer: SendStatus, telemetry: NotificationTelemetry?) {
        let counts = try await parts.stores.receipts.counts(of: send.id)
        let receipts = Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) })
        guard let trackingID = send.trackingID else {
            let state = send.isRefused ? "failed" : send.recalledAt == nil ? "accepted" : "cancelled"
            return (SendStatus(state: state, outcomes: [:], receipts: receipts), nil)
        }
        guard let telemetry = try await parts.hub.telemetry(of: trackingID) else {
            let state: NotificationState = send.recalledAt == nil ? .completed : .cancelled
            return (SendStatus(state: state.rawValue, outcomes: [:], receipts: receipts), nil)
        }
        return (SendStatus(telemetry, audience: send.audience, receipts: receipts), telemetry)
    }
}

extension SendStatus {
    fileprivate init(_ telemetry: NotificationTelemetry, audience: TagExpression, receipts: [String: Int]) {
        self.init(
            state: telemetry.state.rawValue,
            outcomes: Dictionary(uniqueKeysWithValues: telemetry.outcomes.map { ($0.key.rawValue, $0.value) }), receipts: receipts
        )
        targets = telemetry.targets
        for (reason, count) in telemetry.reasons {
            reasons = reasons ?? [:]
            reasons?[reason.outcome.rawValue, default: [:]][reason.reason, default: 0] += count
        }
        if !telemetry.state.isFinal, let wait = telemetry.wait {
            waiting = Waiting(cause: wait.cause.rawValue, reason: wait.reason)
        }
        if telemetry.targets == 0, audience.namesUsersOnly {
            warnings = ["no device is registered for \(audience): check the names of the users"]
        }
    }
}
