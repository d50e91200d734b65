import PushHub
import RichPushModel
import TagExpressions

/// Where sends stand.
public struct SQLTelemetryStore: TelemetryStore {
    private let database: any SQLDatabase

    /// Creates the store.
    public init(_ database: any SQLDatabase) { self.database = database }

    public func telemetry(of id: NotificationID, in hub: HubID, at now: Timestamp) async throws -> NotificationTelemetry? {
        try await database.reading { connection in
            let key: [SQLValue] = [.integer(hub.number), .text(id.text)]
            guard let row = try connection.row(Self.select, key) else { return nil }
            var telemetry = try Self.telemetry(id, row, now)
            for row in try connection.rows(Self.selectTallies, key) {
                guard let outcome = TargetOutcome(rawValue: try row.text(0)) else { throw SQLFault.unexpectedColumn(0) }
                let count = Int(try row.integer(1))
                telemetry.outcomes[outcome, default: 0] += count
                telemetry.platformOutcomes[Platform(rawValue: try row.text(2)), default: [:]][outcome] = count
            }
            telemetry.reasons = try FailureRows.reasons(key, connection)
            // What an operator has to do counts more than what ends by itself.
            telemetry.wait = try connection.rows(Self.selectWaits, key).compactMap { SendWait(stored: try $0.text(0)) }
                .min { ($0.cause == .operator ? 0 : 1, $0.reason) < ($1.cause == .operator ? 0 : 1, $1.reason) }
            if telemetry.state == .completed || telemetry.state == .expired {
                telemetry.targets = telemetry.outcomes.values.reduce(0, +)
            }
            return telemetry
        }
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

    private static func telemetry(_ id: NotificationID, _ row: SQLRow, _ now: Timestamp) throws -> NotificationTelemetry {
        guard let state = NotificationState(rawValue: try row.text(0)) else { throw SQLFault.unexpectedColumn(0) }
        let dueAt = Timestamp(milliseconds: try row.integer(2))
        let format = SendFormat(stored: try row.text(5))
        var telemetry = NotificationTelemetry(
            id: id, state: state == .scheduled && dueAt <= now ? .accepted : state,
            enqueuedAt: Timestamp(milliseconds: try row.integer(1)), dueAt: dueAt,
            startedAt: try row.optionalInteger(3).map(Timestamp.init(milliseconds:)),
            endedAt: try row.optionalInteger(4).map(Timestamp.init(milliseconds:)), format: format,
            isDirect: try row.integer(6) != 0, body: try row.bytes(8))
        if case .native(let platform) = format { telemetry.platformOutcomes[platform] = [:] }
        telemetry.endOrder = try row.optionalInteger(9).map(OrderNumber.init)
        telemetry.targets = try row.optionalInteger(10).map(Int.init)
        telemetry.audience = try row.optionalText(7).flatMap { try? TagExpression(parsing: $0) }
        return telemetry
    }

    static let all = [select, selectTallies, selectWaits, selectBacklog, deleteEnded, deleteTallies, deleteKeys]

    private static let select = SQLStatement(
        """
        SELECT state, enqueued_at, due_at, started_at, ended_at, format, is_direct, audience, body, end_order, targets
        FROM notifications
        WHERE hub_id = $1 AND notification_id = $2
        """)
    private static let selectTallies = SQLStatement(
        """
        SELECT outcome, CAST(SUM(targets) AS BIGINT), platform FROM tallies WHERE hub_id = $1 AND notification_id = $2
        GROUP BY platform, outcome
        """)
    private static let selectWaits = SQLStatement(
        "SELECT DISTINCT wait FROM slices WHERE hub_id = $1 AND notification_id = $2 AND wait IS NOT NULL")
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
