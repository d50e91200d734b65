import RichPushModel

/// Reads where sends stand. Errors are `ServiceError`.
public protocol TelemetryStore: Sendable {
    /// State and tallies of a send, from one snapshot; `nil` for an unknown one.
    func telemetry(of id: NotificationID, in hub: HubID, at now: Timestamp) async throws -> NotificationTelemetry?

    /// How much there is to dispatch, in all hubs.
    func backlog(at now: Timestamp) async throws -> DispatchBacklog

    /// Removes what ended before the moment, and idempotency keys that are older, at most `limit` of each; returns how many
    /// rows went. Call it again until it returns 0.
    func sweep(endedBefore moment: Timestamp, limit: Int) async throws -> Int
}
