import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

extension RichPushBackend {
    /// The most sends of a page of a list.
    public static let sendPageLimit = NotificationTelemetry.pageLimit

    /// Where a send of the caller stands.
    public func status(of id: RichID, for principal: Principal) async throws -> SendStatus {
        let extent = try principal.require(.readSends)
        guard let found = try await parts.store.notification(id), found.sender == principal.userID || extent == .all else {
            throw Self.unseen
        }
        let result = try await standing(of: found)
        var answer = result.answer
        // Only callers who may read all sends see the ids of other users' devices.
        if extent == .all, let telemetry = result.telemetry,
            telemetry.outcomes.contains(where: { !$0.key.isDelivered && $0.value > 0 })
        {
            answer.failures = try await parts.hub.failures(of: telemetry.id, limit: TargetFailure.limit).map {
                SendStatus.Failure(device: $0.record?.text, outcome: $0.outcome.rawValue, reason: $0.reason)
            }
        }
        return answer
    }

    /// A page of what the caller sent, or for a caller who may read all sends what all users sent, newest first, with recalled and refused ones.
    ///
    /// `before` continues towards older ones (`SendList.next`): sends get growing numbers, so a new one changes no later page. `limit` is
    /// clamped to 1 … 50, default 20. A send that the hub has taken has no status where the hub is elsewhere or does not answer. Throws
    /// `invalid-field` for a malformed cursor.
    public func sends(before: String? = nil, limit: Int? = nil, for principal: Principal) async throws -> SendList {
        let extent = try principal.require(.readSends)
        let limit = min(max(limit ?? 20, 1), Self.sendPageLimit)
        let found = try await parts.store.sends(
            of: extent == .all ? nil : principal.userID, before: try Self.cursor(before, "before"), limit: limit + 1)
        let page = Array(found.prefix(limit))
        let counts = try await parts.store.receiptCounts(of: page.map(\.id))
        let telemetry = await telemetry(of: page.compactMap(\.trackingID))
        return SendList(
            sends: page.map { send in
                let isKnown = send.trackingID == nil || telemetry != nil
                let found = send.trackingID.flatMap { telemetry?[$0] }
                return SendListEntry(
                    id: send.id, dueAt: send.dueAt, sender: send.senderName.text, audience: "\(send.audience)",
                    status: isKnown ? Self.status(of: send, found, receipts: counts[send.id] ?? [:]) : nil)
            }, next: found.count > limit ? page.last.map { "\($0.id)" } : nil)
    }

    /// What the hub says of sends; `nil` where it says nothing of several at once, or does not answer: the list needs no hub.
    private func telemetry(of ids: [NotificationID]) async -> [NotificationID: NotificationTelemetry]? {
        guard !ids.isEmpty else { return [:] }
        do { return try await parts.hub.telemetry(of: ids) } catch is CancellationError { return nil } catch {
            let code = (error as? ServiceError)?.code ?? .internal
            parts.logger.warning(
                "The hub did not say where the sends of a list stand", metadata: ["error_code": "\(code.rawValue)"])
            return nil
        }
    }

    /// Where a send stands, and what the hub said of it.
    private func standing(of send: RichNotification) async throws -> (answer: SendStatus, telemetry: NotificationTelemetry?) {
        let counts = try await parts.store.receiptCounts(of: send.id)
        var telemetry: NotificationTelemetry?
        if let id = send.trackingID { telemetry = try await parts.hub.telemetry(of: id) }
        return (Self.status(of: send, telemetry, receipts: counts), telemetry)
    }

    /// Where a send stands. Without telemetry the hub has not taken it, or has forgotten it.
    private static func status(
        of send: RichNotification, _ telemetry: NotificationTelemetry?, receipts counts: [Receipt.Kind: Int]
    ) -> SendStatus {
        let receipts = Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) })
        if let telemetry { return SendStatus(telemetry, audience: send.audience, receipts: receipts) }
        let isTaken = send.trackingID != nil
        let state: NotificationState =
            if send.isRefused, !isTaken { .failed } else if send.recalledAt != nil { .cancelled } else {
                isTaken ? .completed : .accepted
            }
        return SendStatus(state: state.rawValue, outcomes: [:], receipts: receipts)
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
