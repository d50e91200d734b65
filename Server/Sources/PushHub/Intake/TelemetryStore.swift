import RichPushModel

/// Reads where sends stand. Errors are `ServiceError`.
public protocol TelemetryStore: Sendable {
    /// State and tallies of a send, from one snapshot; `nil` for an unknown one.
    func telemetry(of id: NotificationID, in hub: HubID, at now: Timestamp) async throws -> NotificationTelemetry?

    /// The same of several sends from one snapshot, with a number of questions to the database that does not grow with theirs, up to
    /// `NotificationTelemetry.pageLimit`; unknown ones are absent.
    func telemetry(
        of ids: [NotificationID], in hub: HubID, at now: Timestamp
    ) async throws -> [NotificationID: NotificationTelemetry]

    /// Targets of a send that ended without their push, in the order of their places, at most `limit`.
    func failures(of id: NotificationID, limit: Int, in hub: HubID) async throws -> [TargetFailure]

    /// How much there is to dispatch, in all hubs.
    func backlog(at now: Timestamp) async throws -> DispatchBacklog

    /// Feedback after the number, in its order, at most `limit`. A number is given when the row is written, so that one that
    /// is being written may come after its followers were read.
    func feedback(after number: Int64, limit: Int, in hub: HubID) async throws -> [DeviceFeedback]

    /// Feedback of one send after the number, in its order, at most `limit`. While the send goes on, more may come.
    func feedback(of id: NotificationID, after number: Int64, limit: Int, in hub: HubID) async throws -> [DeviceFeedback]

    /// Targets of a send that are named among its failures and of which feedback says nothing, in the order of their places, at most
    /// `limit`. A handle is the one that the device has now; a direct send has none. Each is noted at `moment`.
    func errors(
        of id: NotificationID, notedAt moment: Timestamp, limit: Int, in hub: HubID
    ) async throws -> [SendError]

    /// Removes what ended before the moment, and idempotency keys and feedback that are older, at most `limit` of each; returns
    /// how many rows went. Call it again until it returns 0.
    func sweep(endedBefore moment: Timestamp, limit: Int) async throws -> Int
}
