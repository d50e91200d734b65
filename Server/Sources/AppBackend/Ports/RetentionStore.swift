import RichPushModel

/// Removes rows whose time has passed. Each call is one small transaction; `limit` bounds the rows that it deletes, but for
/// the few that belong to one notification itself, and 0 as its result says that nothing is left to do. Errors are `ServiceError`.
public protocol RetentionStore: Sendable {
    /// Removes notifications that ended before `ended` or whose own expiry came before `expired`, with all that hangs on them:
    /// places in inboxes, read marks, receipts. One with many of these goes in several calls, itself last.
    ///
    /// Contents that no other notification uses expire at `now`. What still has to be handed to the hub or to be cancelled
    /// there stays until that is done. Returns how many rows went.
    func removeNotifications(
        endedBefore ended: Timestamp, expiredBefore expired: Timestamp, at now: Timestamp, limit: Int
    ) async throws -> Int

    /// Removes bindings that were closed before `moment` and before the oldest notification that is kept began, so that none
    /// can decide about access any more; the tags that only they remember go with them. Returns how many bindings went.
    func removeBindings(closedBefore moment: Timestamp, limit: Int) async throws -> Int

    /// Removes audit entries made before `moment`; returns how many.
    func removeAuditEntries(before moment: Timestamp, limit: Int) async throws -> Int

    /// Notes when the latest sweep began, by the wall clock.
    func noteSweep(at moment: Timestamp) async throws

    /// When the latest sweep of any node began; `nil` before the first.
    func lastSweep() async throws -> Timestamp?
}
