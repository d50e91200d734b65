import PushHub
import RichPushModel

/// Why targets of a send got no push: the count of each reason, and the first targets of each slice.
enum FailureRows {
    /// Adds what a checkpoint says. `slice` is hub, notification and number.
    static func add(
        _ checkpoint: SliceCheckpoint, _ slice: [SQLValue], _ connection: any SQLConnection
    ) throws {
        if !checkpoint.reasons.isEmpty { try addReasons(checkpoint.reasons, slice, connection) }
        guard !checkpoint.failures.isEmpty else { return }
        let kept = Int(try connection.row(count, slice)?.integer(0) ?? 0)
        for failure in checkpoint.failures.prefix(max(0, TargetFailure.limit - kept)) {
            try connection.run(
                insert,
                slice + [
                    .integer(failure.key.number), .text(failure.platform.rawValue), .optional(failure.record?.text),
                    .text(failure.outcome.rawValue), .optional(failure.reason),
                ])
        }
    }

    /// Reasons are words of the push service: beyond a number of them, new ones share one count.
    private static func addReasons(
        _ reasons: [OutcomeReason: Int], _ slice: [SQLValue], _ connection: any SQLConnection
    ) throws {
        var kept = Int(try connection.row(countReasons, slice)?.integer(0) ?? 0)
        for (reason, count) in reasons.sorted(by: { $0.key.reason < $1.key.reason }) {
            let group = slice + [.text(reason.platform.rawValue), .text(reason.outcome.rawValue)]
            let number = SQLValue.integer(Int64(count))
            if try connection.run(raiseReason, group + [.text(reason.reason), number]) > 0 { continue }
            let word = kept < OutcomeReason.limit ? reason.reason : OutcomeReason.other
            try connection.run(addReason, group + [.text(word), number])
            kept += 1
        }
    }

    /// The targets of a send that are kept. `send` is hub and notification.
    static func page(_ send: [SQLValue], limit: Int, _ connection: any SQLConnection) throws -> [TargetFailure] {
        try connection.rows(select, send + [.integer(Int64(limit))]).map { row in
            guard let outcome = TargetOutcome(rawValue: try row.text(3)) else { throw SQLFault.unexpectedColumn(3) }
            return TargetFailure(
                key: SliceKey(try row.integer(0)), platform: Platform(rawValue: try row.text(1)),
                record: try row.optionalText(2).flatMap { RecordID($0) }, outcome: outcome, reason: try row.optionalText(4))
        }
    }

    /// The targets that are kept and of which feedback says nothing, with the handles of the devices that are still there.
    static func errors(
        _ send: [SQLValue], notedAt moment: Timestamp, limit: Int, _ connection: any SQLConnection
    ) throws -> [SendError] {
        try connection.rows(selectErrors, send + [.integer(Int64(limit))]).map { row in
            guard let outcome = TargetOutcome(rawValue: try row.text(2)) else { throw SQLFault.unexpectedColumn(2) }
            return SendError(
                platform: Platform(rawValue: try row.text(0)),
                handle: try row.optionalText(3).map(DeviceHandle.init(canonical:)),
                record: try row.optionalText(1).flatMap { RecordID($0) },
                installation: try row.optionalText(4).flatMap { RecordID($0) }, outcome: outcome, notedAt: moment)
        }
    }

    /// Removes all of a send.
    static func delete(_ send: [SQLValue], _ connection: any SQLConnection) throws {
        try connection.run(deleteReasons, send)
        try connection.run(deleteAll, send)
    }

    static let all = [
        countReasons, raiseReason, addReason, count, insert, select, selectErrors, deleteReasons, deleteAll,
    ]

    private static let countReasons = SQLStatement(
        "SELECT COUNT(*) FROM outcome_reasons WHERE hub_id = $1 AND notification_id = $2 AND slice = $3")
    private static let raiseReason = SQLStatement(
        """
        UPDATE outcome_reasons SET targets = targets + $7
        WHERE hub_id = $1 AND notification_id = $2 AND slice = $3 AND platform = $4 AND outcome = $5 AND reason = $6
        """)
    private static let addReason = SQLStatement(
        """
        INSERT INTO outcome_reasons (hub_id, notification_id, slice, platform, outcome, reason, targets)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (hub_id, notification_id, slice, platform, outcome, reason)
        DO UPDATE SET targets = outcome_reasons.targets + excluded.targets
        """)
    private static let count = SQLStatement(
        "SELECT COUNT(*) FROM target_failures WHERE hub_id = $1 AND notification_id = $2 AND slice = $3")
    private static let insert = SQLStatement(
        """
        INSERT INTO target_failures (hub_id, notification_id, slice, slice_key, platform, record_id, outcome, reason)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
        """)
    private static let select = SQLStatement(
        """
        SELECT slice_key, platform, record_id, outcome, reason FROM target_failures
        WHERE hub_id = $1 AND notification_id = $2 ORDER BY slice, slice_key LIMIT $3
        """)
    private static let errorWords = SendError.outcomes.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
    private static let selectErrors = SQLStatement(
        composed: """
            SELECT f.platform, f.record_id, f.outcome, d.handle, \
            CASE WHEN d.kind = 'installation' THEN COALESCE(d.parent, d.record_id) END \
            FROM target_failures f LEFT JOIN devices d ON d.hub_id = f.hub_id AND d.record_id = f.record_id \
            WHERE f.hub_id = $1 AND f.notification_id = $2 AND f.outcome IN (\(errorWords)) \
            ORDER BY f.slice, f.slice_key LIMIT $3
            """)
    private static let deleteReasons = SQLStatement("DELETE FROM outcome_reasons WHERE hub_id = $1 AND notification_id = $2")
    private static let deleteAll = SQLStatement("DELETE FROM target_failures WHERE hub_id = $1 AND notification_id = $2")
}
