import PushHub
import RichPushModel
import Synchronization

extension SQLSliceQueue {
    public func checkpoint(_ checkpoint: SliceCheckpoint) async throws -> CheckpointAnswer {
        try await database.writing { try Self.store(checkpoint, $0) }
    }

    public func checkpoints(_ checkpoints: [SliceCheckpoint]) async throws -> [CheckpointAnswer] {
        // Counting the tries changes nothing in what is written: a driver that repeats the closure for long is told to stop.
        let tries = Atomic(0)
        return try await database.writing { connection in
            let count = tries.wrappingAdd(1, ordering: .relaxed).newValue
            guard checkpoints.count < 2 || count <= Self.triesTogether else { throw CheckpointsInConflict() }
            return try checkpoints.map { try Self.store($0, connection) }
        }
    }

    /// So often checkpoints are tried together that others are in the way of.
    static let triesTogether = 3

    private static func store(_ checkpoint: SliceCheckpoint, _ connection: any SQLConnection) throws -> CheckpointAnswer {
        let slice = Array(key(checkpoint.lease).prefix(3))
        guard try moveLease(checkpoint, connection) else { return .refused }
        try addTallies(checkpoint, slice, connection)
        try FailureRows.add(checkpoint, slice, connection)
        for key in checkpoint.settled { try connection.run(deletePending, slice + [.integer(key.number)]) }
        for target in checkpoint.pending { try connection.run(putPending, slice + values(target)) }
        let hub = checkpoint.lease.id.hub
        // Before the records go that it is about.
        for feedback in checkpoint.feedback { try FeedbackRows.add(feedback, in: hub, connection) }
        for forgotten in checkpoint.forgotten { try DeviceRows.forget(forgotten, in: hub, connection) }
        for parked in checkpoint.parked { try DeviceRows.park(parked, at: checkpoint.now, in: hub, connection) }
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

    /// Everything else hangs on this: it changes a row only while the lease is the caller's, and never takes the cursor back.
    /// Who does not know whether its last checkpoint was written may ask for less than that one said.
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
