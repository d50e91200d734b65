import PushHub
import RichPushModel

/// Asks the hub whether a send is over whose completion is not noted yet: the upkeep notes it within a minute only, and a tag
/// that somebody gives their device in between must not open what was sent.
struct SendEnd: Sendable {
    let parts: BackendParts

    /// The notification with its completion, if it is over by now; it is noted then. Throws what the hub throws: without an
    /// answer nothing may be granted.
    func asked(_ notification: RichNotification) async throws -> RichNotification {
        guard let trackingID = try await trackingID(of: notification) else { return notification }
        let telemetry = try await parts.hub.telemetry(of: trackingID)
        if let telemetry, !telemetry.state.isFinal { return notification }
        var ended = notification
        // Of what the hub has forgotten nobody knows when it ended; only devices that were there at the start count.
        ended.completedAt = telemetry?.endedAt ?? notification.dueAt
        ended.endOrder = telemetry == nil ? notification.order : telemetry?.endOrder
        // Without a tracking id the outbox has work left, which a completion would end.
        if notification.trackingID != nil, let end = telemetry?.endedAt {
            try await parts.stores.notifications.markCompleted(notification.id, at: end, order: ended.endOrder)
        }
        return ended
    }

    /// A send whose hand-over was not confirmed may be at the hub all the same. One that is not there has not ended.
    private func trackingID(of notification: RichNotification) async throws -> NotificationID? {
        if let known = notification.trackingID { return known }
        guard let key = try await parts.stores.notifications.push(of: notification.id)?.hubKey else { return nil }
        return try await parts.hub.notification(idempotencyKey: key)
    }
}
