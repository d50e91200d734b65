import PushHub
import RichPushModel
import Synchronization

extension SQLSliceQueue {
    public func checkpoint(_ checkpoint: SliceCheckpoint) async throws -> CheckpointAnswer {
        try await database.writing { try Self.store(checkpoint, $0) }
    }

    public func checkpoints(_ checkpoints: [SliceCheckpoint]) async throws -> [CheckpointAnswer] {
        // The count does not affect what is written; it stops a driver that retries the closure too often.
        let tries = Atomic(0)
        return try await database.writing { connection in
            let count = tries.wrappingAdd(1, ordering: .relaxed).newValue
            guard checkpoints.count < 2 || count <= Self.triesTogether else { throw CheckpointsInConflict() }
            return try checkpoints.map { try Self.store($0, connection) }
        }
    }

    /// How often conflicting checkpoints are tried together.
    static let triesTogether = 3

    private static func store(_ checkpoint: SliceCheckpoint, _ connection: any SQLConnection) throws -> CheckpointAnswer {
        let slice = Array(key(checkpoint.lease).prefix(3))
        guard try moveLease(checkpoint, connection) else { return .refused }
        try addTallies(checkpoint, slice, connection)
        try GroupTallies.add(checkpoint, slice, connection)
        try FailureRows.add(checkpoint, slice, connection)
        try OutcomeReportRows.add(checkpoint, slice, connection)
        for key in checkpoint.settled { try connection.run(deletePending, slice + [.integer(key.number)]) }
        for target in checkpoint.pending { try connection.run(putPending, slice + values(target)) }
        let hub = checkpoint.lease.id.hub
        // Before its records are removed.
        for feedback in checkpoint.feedback { try FeedbackRows.add(feedback, in: hub, connection) }
        for forgotten in checkpoint.forgotten { try DeviceRows.forget(forgotten, in: hub, connection) }
        for token in checkpoint.badTokens { try DeviceRows.deactivate(token, at: checkpoint.now, in: hub, connection) }
        guard checkpoint.disposition == .finish else { return .stored(ended: nil) }
        try connection.run(deleteAllPending, slice)
        return .stored(ended: try endSend(checkpoint, connection))
    }

    private static func addTallies(
        _ checkpoint: SliceCheckpoint, _ slice: [SQLValue], _ connection: any SQLConnection
    ) throws {
        var all = checkpoint.otherTallies
        all[.apns] = checkpoint.tallies
        for (platform, tallies) in all {
            for (outcome, count) in tallies {
                try connection.run(
                    addTally, slice + [.text(platform.rawValue), .text(outcome.rawValue), .integer(Int64(count))])
            }
        }
    }

    /// Guards all other writes: it changes a row only while the lease is the caller's, and never moves the cursor back. A worker that
    /// does not know whether its last checkpoint was written may send an older cursor.
    private static func moveLease(_ checkpoint: SliceCheckpoint, _ connection: any SQLConnection) throws -> Bool {
        let lease = checkpoint.lease
        let counters: [SQLValue] = [
            .integer(lease.cursor.number), .integer(Int64(lease.walked)), .integer(Int64(lease.failures)),
            .optional(lease.stalledSince?.milliseconds), .optional(checkpoint.wait?.stored),
        ]
        switch checkpoint.disposition {
        case .keep(let until):
            return try connection.run(keep, key(lease) + counters + [.integer(until.milliseconds)]) > 0
        case .release(let notBefore):
            return try connection.run(release, key(lease) + counters + [.integer(notBefore.milliseconds)]) > 0
        case .finish:
            return try connection.run(finish, key(lease)) > 0
        }
    }

    /// Counts the slice off; the last one ends the send. Returns the final state if this was it.
    private static func endSend(_ checkpoint: SliceCheckpoint, _ connection: any SQLConnection) throws -> NotificationState? {
        let id = checkpoint.lease.id
        let key: [SQLValue] = [.integer(id.hub.number), .text(id.notification.text)]
        guard let row = try connection.row(closeSlice, key), try row.integer(0) <= 0,
            let state = NotificationState(rawValue: try row.text(1)), !state.isFinal
        else { return nil }
        let expired = try connection.row(countExpired, key)?.integer(0) ?? 0
        let end: NotificationState = expired > 0 ? .expired : .completed
        let order = try OrderNumbers.mark(connection)
        try connection.run(
            markEnded, key + [.text(end.rawValue), .integer(checkpoint.now.milliseconds), .integer(order.number)])
        try connection.run(DirectRows.delete, key)
        return end
    }

    private static func values(_ target: PendingTarget) -> [SQLValue] {
        [
            .integer(target.key.number), .text(target.cause.rawValue), .integer(Int64(target.attempts)),
            .integer(target.firstAt.milliseconds), .integer(target.notBefore.milliseconds), .integer(Int64(target.unanswered)),
            .optional(target.reason),
        ]
    }

    static let checkpointStatements = [
        keep, release, finish, addTally, deletePending, putPending, deleteAllPending, closeSlice, countExpired, markEnded,
    ]

    private static let keep = SQLStatement(
        """
        UPDATE slices SET cursor_key = $5, walked = $6, failures = $7, stalled_since = $8, wait = $9, leased_until = $10
        WHERE hub_id = $1 AND notification_id = $2 AND slice = $3 AND epoch = $4 AND owner IS NOT NULL AND cursor_key <= $5
        """)
    private static let release = SQLStatement(
        """
        UPDATE slices SET cursor_key = $5, walked = $6, failures = $7, stalled_since = $8, wait = $9, ready_at = $10, owner = NULL,
            leased_until = NULL
        WHERE hub_id = $1 AND notification_id = $2 AND slice = $3 AND epoch = $4 AND owner IS NOT NULL AND cursor_key <= $5
        """)
    private static let finish = SQLStatement(
        """
        DELETE FROM slices
        WHERE hub_id = $1 AND notification_id = $2 AND slice = $3 AND epoch = $4 AND owner IS NOT NULL
        """)
    private static let addTally = SQLStatement(
        """
        INSERT INTO tallies (hub_id, notification_id, slice, platform, outcome, targets) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (hub_id, notification_id, slice, platform, outcome) DO UPDATE SET targets = tallies.targets + excluded.targets
        """)
    private static let deletePending = SQLStatement(
        "DELETE FROM pending_targets WHERE hub_id = $1 AND notification_id = $2 AND slice = $3 AND slice_key = $4")
    private static let putPending = SQLStatement(
        """
        INSERT INTO pending_targets (hub_id, notification_id, slice, slice_key, cause, attempts, first_at, not_before,
            unanswered, reason)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (hub_id, notification_id, slice, slice_key) DO UPDATE
        SET cause = excluded.cause, attempts = excluded.attempts, not_before = excluded.not_before,
            unanswered = excluded.unanswered, reason = excluded.reason
        """)
    private static let deleteAllPending = SQLStatement(
        "DELETE FROM pending_targets WHERE hub_id = $1 AND notification_id = $2 AND slice = $3")
    private static let closeSlice = SQLStatement(
        """
        UPDATE notifications SET open_slices = open_slices - 1 WHERE hub_id = $1 AND notification_id = $2
        RETURNING open_slices, state
        """)
    private static let countExpired = SQLStatement(
        "SELECT COUNT(*) FROM tallies WHERE hub_id = $1 AND notification_id = $2 AND outcome = 'expired'")
    private static let markEnded = SQLStatement(
        """
        UPDATE notifications SET state = $3, ended_at = $4, end_order = $5, audience_query = NULL
        WHERE hub_id = $1 AND notification_id = $2
        """)
}

/// What became of the targets of each group of a send.
enum GroupTallies {
    /// Adds what a checkpoint says. `slice` is hub, notification and number.
    static func add(_ checkpoint: SliceCheckpoint, _ slice: [SQLValue], _ connection: any SQLConnection) throws {
        for (group, tallies) in checkpoint.groupTallies.sorted(by: { $0.key < $1.key }) {
            for (outcome, count) in tallies.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                let values: [SQLValue] = [.integer(Int64(group)), .text(outcome.rawValue), .integer(Int64(count))]
                try connection.run(insert, slice + values)
            }
        }
    }

    /// Those of a send. `send` is hub and notification.
    static func read(_ send: [SQLValue], _ connection: any SQLConnection) throws -> [Int: [TargetOutcome: Int]] {
        var groups: [Int: [TargetOutcome: Int]] = [:]
        try connection.forEachRow(select, send) { row in
            guard let outcome = TargetOutcome(rawValue: try row.text(1)) else { throw SQLFault.unexpectedColumn(1) }
            groups[Int(try row.integer(0)), default: [:]][outcome] = Int(try row.integer(2))
        }
        return groups
    }

    static let all = [insert, select, delete]

    static let delete = SQLStatement("DELETE FROM group_tallies WHERE hub_id = $1 AND notification_id = $2")
    private static let insert = SQLStatement(
        """
        INSERT INTO group_tallies (hub_id, notification_id, slice, group_number, outcome, targets) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (hub_id, notification_id, slice, group_number, outcome)
        DO UPDATE SET targets = group_tallies.targets + excluded.targets
        """)
    private static let select = SQLStatement(
        """
        SELECT group_number, outcome, CAST(SUM(targets) AS BIGINT) FROM group_tallies WHERE hub_id = $1 AND notification_id = $2
        GROUP BY group_number, outcome
        """)
}

/// What became of each device of sends that report it, until it is passed on.
enum OutcomeReportRows {
    /// Adds what a checkpoint says. `slice` is hub, notification and number.
    static func add(_ checkpoint: SliceCheckpoint, _ slice: [SQLValue], _ connection: any SQLConnection) throws {
        for groups in OutcomeReport.pieces(of: checkpoint.report) {
            let values: [SQLValue] = [.integer(checkpoint.now.milliseconds), .text(OutcomeReport.stored(groups))]
            try connection.run(insert, slice.prefix(2) + values)
        }
    }

    /// The first of a send. `send` is hub and notification.
    static func read(_ send: [SQLValue], limit: Int, _ connection: any SQLConnection) throws -> [OutcomeReport] {
        try connection.rows(select, send + [.integer(Int64(limit))]).map { row in
            guard let groups = OutcomeReport.groups(stored: try row.text(2)) else { throw SQLFault.unexpectedColumn(2) }
            return OutcomeReport(
                number: try row.integer(0), notedAt: Timestamp(milliseconds: try row.integer(1)), groups: groups)
        }
    }

    static let all = [insert, select, delete, deleteAll]

    /// One of a send.
    static let delete = SQLStatement(
        "DELETE FROM outcome_reports WHERE hub_id = $1 AND notification_id = $2 AND number = $3")
    /// All of a send.
    static let deleteAll = SQLStatement("DELETE FROM outcome_reports WHERE hub_id = $1 AND notification_id = $2")
    private static let insert = SQLStatement(
        "INSERT INTO outcome_reports (hub_id, notification_id, noted_at, body) VALUES ($1, $2, $3, $4)")
    private static let select = SQLStatement(
        """
        SELECT number, noted_at, body FROM outcome_reports WHERE hub_id = $1 AND notification_id = $2
        ORDER BY number LIMIT $3
        """)
}

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

    /// The targets of a send that are kept, with this outcome or any. `send` is hub and notification.
    static func page(
        _ send: [SQLValue], _ outcome: TargetOutcome?, after place: SliceKey, limit: Int, _ connection: any SQLConnection
    ) throws -> [TargetFailure] {
        let range: [SQLValue] = [.integer(place.number), .text(outcome?.rawValue ?? ""), .integer(Int64(limit))]
        return try connection.rows(select, send + range).map { row in
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
                handle: try row.optionalText(3).map(DeviceToken.init(canonical:)),
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
    /// One key says where a page ended, whatever slice its row is of. A send has few rows here, which are filtered and sorted.
    private static let select = SQLStatement(
        """
        SELECT slice_key, platform, record_id, outcome, reason FROM target_failures
        WHERE hub_id = $1 AND notification_id = $2 AND slice_key > $3 AND ($4 = '' OR outcome = $4)
        ORDER BY slice_key, slice LIMIT $5
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
