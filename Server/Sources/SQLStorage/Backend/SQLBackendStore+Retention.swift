import AppBackend
import RichPushModel

/// Removal of rows whose time has passed.
extension SQLBackendStore {
    public func removeNotifications(
        endedBefore ended: Timestamp, expiredBefore expired: Timestamp, at now: Timestamp, limit: Int
    ) async throws -> Int {
        try await writing { transaction in
            var left = limit
            for (statement, moment) in [(RetentionSQL.selectEnded, ended), (RetentionSQL.selectExpired, expired)] where left > 0 {
                for row in try transaction.rows(statement, moment, left) where left > 0 {
                    left -= try transaction.removeNotification(try row.integer(0), at: now, limit: left)
                }
            }
            return limit - left
        }
    }

    public func removeBindings(closedBefore moment: Timestamp, limit: Int) async throws -> Int {
        try await writing { transaction in
            // Notifications have their numbers in the order in which they began.
            let oldest = try transaction.row(RetentionSQL.selectOldest)?.integer(0) ?? .max
            let closed = try transaction.rows(RetentionSQL.selectClosed, moment, limit, oldest)
            guard !closed.isEmpty else { return 0 }
            // Every binding takes a number first, so this orders the sweep against a device that comes with a tag that goes here.
            _ = try transaction.next(.binding)
            for row in closed { try transaction.run(RetentionSQL.deleteBinding, try row.integer(0)) }
            for user in try Set(closed.map { try $0.integer(1) }) { try transaction.pruneTags(of: UserID(user)) }
            return closed.count
        }
    }

    public func noteSweep(at moment: Timestamp) async throws {
        _ = try await writing { try $0.run(RetentionSQL.keepSweep, moment) }
    }

    public func lastSweep() async throws -> Timestamp? {
        try await reading { try $0.row(RetentionSQL.selectSweep).map { try $0.moment(0) } }
    }
}

extension BackendTransaction {
    /// Removes a notification with all that belongs to it: at most about `limit` rows, and the notification itself last. Returns how many
    /// rows were removed.
    func removeNotification(_ id: Int64, at now: Timestamp, limit: Int) throws -> Int {
        var left = limit
        for statement in [RetentionSQL.deleteReceipts, RetentionSQL.deleteReadMarks] {
            left -= try run(statement, id, left)
            // Exactly as many as were allowed: there may be more.
            if left <= 0 { return limit }
        }
        guard let send = try row(RetentionSQL.selectTracking, id) else { return limit - left }
        if let tracking = try send.optionalText(0) { try blankSend(tracking) }
        left -= try run(RetentionSQL.deleteKeys, id)
        left -= try run(RetentionSQL.deleteTranslations, 64 * id, 64 * id + Int64(Self.lastPlace))
        left -= try run(RetentionSQL.delete, id)
        try release(.send(id), at: now)
        return limit - left
    }

    /// A hub of the same database keeps the counts of an ended send longer than its texts. `erased` replaces the audience.
    private func blankSend(_ tracking: String) throws {
        for hub in try hubs() {
            let key = [hub.values[0], .text(tracking)]
            try connection.run(RetentionSQL.blankSend, [.bytes(Array("{}".utf8)), .text(UserTraces.erased)] + key)
            try connection.run(TranslationRows.deleteEnded, key)
        }
    }

    /// The hubs of this database.
    func hubs() throws -> [SQLRow] { try connection.rows(RetentionSQL.selectHubs, []) }
}

extension SQLStatement { static let ofRetention = RetentionSQL.all }

private enum RetentionSQL {
    static let all = [
        selectEnded, selectExpired, selectOldest, selectClosed, deleteBinding, keepSweep, selectSweep,
        deleteReceipts, deleteReadMarks, selectTracking, selectHubs, blankSend, deleteKeys, deleteTranslations, delete,
    ]

    static let selectEnded = SQLStatement(
        """
        SELECT rich_id FROM rich_notifications WHERE app_id = $1 AND ended_at < $2 AND work IS NULL ORDER BY ended_at, rich_id LIMIT $3
        """)
    static let selectExpired = SQLStatement(
        """
        SELECT rich_id FROM rich_notifications
        WHERE app_id = $1 AND expires_at < $2 AND (work IS NULL OR work = 'track') ORDER BY expires_at, rich_id LIMIT $3
        """)
    static let selectOldest = SQLStatement(
        "SELECT start_order FROM rich_notifications WHERE app_id = $1 ORDER BY rich_id LIMIT 1")
    static let selectClosed = SQLStatement(
        """
        SELECT binding_id, user_id FROM bindings WHERE app_id = $1 AND until_at < $2 AND until_order <= $4
        ORDER BY until_at, binding_id LIMIT $3
        """)
    static let deleteBinding = SQLStatement("DELETE FROM bindings WHERE app_id = $1 AND binding_id = $2")
    /// Among the counters, because it is one number for each app too.
    static let keepSweep = SQLStatement(
        """
        INSERT INTO backend_counters (app_id, name, last_number) VALUES ($1, 'sweep', $2)
        ON CONFLICT (app_id, name) DO UPDATE SET last_number = excluded.last_number
        """)
    static let selectSweep = SQLStatement("SELECT last_number FROM backend_counters WHERE app_id = $1 AND name = 'sweep'")
    static let deleteReceipts = SQLStatement(
        """
        DELETE FROM receipts WHERE app_id = $1 AND receipt_key IN (
            SELECT receipt_key FROM receipts WHERE app_id = $1 AND rich_id = $2 LIMIT $3)
        """)
    static let deleteReadMarks = SQLStatement(
        """
        DELETE FROM read_marks WHERE app_id = $1 AND rich_id = $2 AND user_id IN (
            SELECT user_id FROM read_marks WHERE app_id = $1 AND rich_id = $2 LIMIT $3)
        """)
    static let selectTracking = SQLStatement("SELECT tracking_id FROM rich_notifications WHERE app_id = $1 AND rich_id = $2")
    static let selectHubs = SQLStatement("SELECT hub_id FROM hubs ORDER BY hub_id")
    static let blankSend = SQLStatement(
        """
        UPDATE notifications SET body = $1, audience = $2, collapse_id = NULL
        WHERE hub_id = $3 AND notification_id = $4 AND ended_at IS NOT NULL
        """)
    static let deleteKeys = SQLStatement("DELETE FROM audience_index WHERE app_id = $1 AND rich_id = $2")
    static let deleteTranslations = SQLStatement(
        "DELETE FROM rich_translations WHERE app_id = $1 AND translation_id BETWEEN $2 AND $3")
    static let delete = SQLStatement("DELETE FROM rich_notifications WHERE app_id = $1 AND rich_id = $2")
}
