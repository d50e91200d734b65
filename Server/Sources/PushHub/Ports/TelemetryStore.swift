import RichPushModel

/// Reads where sends stand. Errors are `ServiceError`.
public protocol TelemetryStore: Sendable {
    /// State and tallies of a send, from one snapshot; `nil` for an unknown one.
    func telemetry(of id: NotificationID, in hub: HubID, at now: Timestamp) async throws -> NotificationTelemetry?

    /// Targets of a send that ended without their push, in the order of their places, at most `limit`.
    func failures(of id: NotificationID, limit: Int, in hub: HubID) async throws -> [TargetFailure]

    /// How much there is to dispatch, in all hubs.
    func backlog(at now: Timestamp) async throws -> DispatchBacklog

    /// Feedback after the number, in its order, at most `limit`. A number is given when the row is written, so that one that
    /// is being written may come after its followers were read.
    func feedback(after number: Int64, limit: Int, in hub: HubID) async throws -> [DeviceFeedback]

    /// Removes what ended before the moment, and idempotency keys and feedback that are older, at most `limit` of each; returns
    /// how many rows went. Call it again until it returns 0.
    func sweep(endedBefore moment: Timestamp, limit: Int) async throws -> Int
}
