import PushHub
import RichPushModel

/// Where sends stand.
public struct SQLTelemetryStore: TelemetryStore {
    private let database: any SQLDatabase

    /// Creates the store.
    public init(_ database: any SQLDatabase) { self.database = database }

    public func telemetry(of id: NotificationID, in hub: HubID, at now: Timestamp) async throws -> NotificationTelemetry? {
        try await database.reading { try TelemetryRows.one.read([id], in: hub, at: now, $0)[id] }
    }

    public func telemetry(
        of ids: [NotificationID], in hub: HubID, at now: Timestamp
    ) async throws -> [NotificationID: NotificationTelemetry] {
        guard !ids.isEmpty else { return [:] }
        return try await database.reading { try TelemetryRows.page.read(ids, in: hub, at: now, $0) }
    }

    public func failures(of id: NotificationID, limit: Int, in hub: HubID) async throws -> [TargetFailure] {
        try await database.reading {
            try FailureRows.page([.integer(hub.number), .text(id.text)], limit: limit, $0)
        }
    }

    public func feedback(after number: Int64, limit: Int, in hub: HubID) async throws -> [DeviceFeedback] {
        try await database.reading { try FeedbackRows.page(after: number, limit: limit, in: hub, $0) }
    }

    public func feedback(
        of id: NotificationID, after number: Int64, limit: Int, in hub: HubID
    ) async throws -> [DeviceFeedback] {
        try await database.reading { try FeedbackRows.page(of: id, after: number, limit: limit, in: hub, $0) }
    }

    public func errors(
        of id: NotificationID, notedAt moment: Timestamp, limit: Int, in hub: HubID
    ) async throws -> [SendError] {
        try await database.reading {
            try FailureRows.errors([.integer(hub.number), .text(id.text)], notedAt: moment, limit: limit, $0)
        }
    }

    public func backlog(at now: Timestamp) async throws -> DispatchBacklog {
        try await database.reading { connection in
            var backlog = DispatchBacklog()
            for row in try connection.rows(Self.selectBacklog, [.integer(now.milliseconds)]) {
                let count = Int(try row.integer(2))
                switch try row.text(1) {
                case "leased": backlog.leased += count
                case "waiting": backlog.waiting += count
                default:
                    backlog.due[SliceWeight(rawValue: try row.integer(0)) ?? .large, default: 0] += count
                    let since = Timestamp(milliseconds: try row.integer(3))
                    backlog.oldestDueAt = min(backlog.oldestDueAt ?? since, since)
                }
            }
            return backlog
        }
    }

    public func sweep(endedBefore moment: Timestamp, limit: Int) async throws -> Int {
        try await database.writing { connection in
            let values: [SQLValue] = [.integer(moment.milliseconds), .integer(Int64(limit))]
            let ended = try connection.rows(Self.deleteEnded, values)
            for row in ended {
                try connection.run(Self.deleteTallies, row.values)
                try FailureRows.delete(row.values, connection)
                try connection.run(DirectRows.delete, row.values)
            }
            return ended.count + (try connection.run(Self.deleteKeys, values))
                + (try connection.run(FeedbackRows.deleteOld, values))
        }
    }

    static let all = TelemetryRows.one.all + TelemetryRows.page.all + [selectBacklog, deleteEnded, deleteTallies, deleteKeys]

    private static let selectBacklog = SQLStatement(
        """
        SELECT weight, stage, COUNT(*), MIN(ready_at) FROM (
            SELECT weight, ready_at, CASE WHEN owner IS NOT NULL AND leased_until > $1 THEN 'leased' WHEN ready_at > $1 THEN 'waiting'
                ELSE 'due' END AS stage FROM slices) AS staged
        GROUP BY weight, stage
        """)
    private static let deleteEnded = SQLStatement(
        """
        DELETE FROM notifications WHERE (hub_id, notification_id) IN (
            SELECT hub_id, notification_id FROM notifications WHERE ended_at < $1 AND open_slices = 0 LIMIT $2)
        RETURNING hub_id, notification_id
        """)
    private static let deleteTallies = SQLStatement("DELETE FROM tallies WHERE hub_id = $1 AND notification_id = $2")
    private static let deleteKeys = SQLStatement(
        """
        DELETE FROM idempotency_keys WHERE (hub_id, idempotency_key) IN (
            SELECT hub_id, idempotency_key FROM idempotency_keys WHERE created_at < $1 LIMIT $2)
        """)
}
