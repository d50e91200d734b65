import AppBackend
import RichPushModel

/// Removes the rows of one app whose time has passed.
public struct SQLRetentionStore: RetentionStore {
    private let database: any SQLDatabase
    private let app: AppID

    /// Creates the store.
    public init(_ database: any SQLDatabase, app: AppID = .standard) {
        self.database = database
        self.app = app
    }

    public func removeNotifications(
        endedBefore ended: Timestamp, expiredBefore expired: Timestamp, at now: Timestamp, limit: Int
    ) async throws -> Int {
        try await database.writing { [app] connection in
            var left = limit
            for (statement, moment) in [(Self.selectEnded, ended), (Self.selectExpired, expired)] where left > 0 {
                let due = try connection.rows(
                    statement, [.integer(app.number), .integer(moment.milliseconds), .integer(Int64(left))])
                for row in due where left > 0 {
                    left -= try NotificationRemoval.run(try row.integer(0), app, at: now, limit: left, connection)
                }
            }
            return limit - left
        }
    }

    public func removeBindings(closedBefore moment: Timestamp, limit: Int) async throws -> Int {
        try await database.writing { [app] connection in
            // Notifications have their numbers in the order in which they began.
            let oldest = try connection.row(Self.selectOldest, [.integer(app.number)])?.integer(0) ?? .max
            let closed = try connection.rows(
                Self.selectClosed,
                [.integer(app.number), .integer(moment.milliseconds), .integer(Int64(limit)), .integer(oldest)])
            guard !closed.isEmpty else { return 0 }
            // Every binding takes a number first, so this orders the sweep against a device that comes with a tag that goes here.
            _ = try BackendRows.next(.binding, of: app, connection)
            for row in closed { try connection.run(Self.deleteBinding, [.integer(app.number), .integer(try row.integer(0))]) }
            for user in try Set(closed.map { try $0.integer(1) }) {
                try SQLBindingStore.pruneTags(of: UserID(user), app, connection)
            }
            return closed.count
        }
    }

    public func removeAuditEntries(before moment: Timestamp, limit: Int) async throws -> Int {
        try await database.writing { [app] connection in
            try connection.run(
                Self.deleteAudit, [.integer(app.number), .integer(moment.milliseconds), .integer(Int64(limit))])
        }
    }

    public func noteSweep(at moment: Timestamp) async throws {
        try await database.writing { [app] connection in
            _ = try connection.run(Self.keepSweep, [.integer(app.number), .integer(moment.milliseconds)])
        }
    }

    public func lastSweep() async throws -> Timestamp? {
        try await database.reading { [app] connection in
            try connection.row(Self.selectSweep, [.integer(app.number)]).map { Timestamp(milliseconds: try $0.integer(0)) }
        }
    }
}

extension SQLRetentionStore {
    static let all =
        [selectEnded, selectExpired, selectOldest, selectClosed, deleteBinding, deleteAudit, keepSweep, selectSweep]
        + NotificationRemoval.all

    private static let selectEnded = SQLStatement(
        """
        SELECT rich_id FROM rich_notifications WHERE app_id = $1 AND ended_at < $2 AND work IS NULL ORDER BY ended_at, rich_id LIMIT $3
        """)
    private static let selectExpired = SQLStatement(
        """
        SELECT rich_id FROM rich_notifications
        WHERE app_id = $1 AND expires_at < $2 AND (work IS NULL OR work = 'track') ORDER BY expires_at, rich_id LIMIT $3
        """)
    private static let selectOldest = SQLStatement(
        "SELECT start_order FROM rich_notifications WHERE app_id = $1 ORDER BY rich_id LIMIT 1")
    private static let selectClosed = SQLStatement(
        """
        SELECT binding_id, user_id FROM bindings WHERE app_id = $1 AND until_at < $2 AND until_order <= $4
        ORDER BY until_at, binding_id LIMIT $3
        """)
    private static let deleteBinding = SQLStatement("DELETE FROM bindings WHERE app_id = $1 AND binding_id = $2")
    private static let deleteAudit = SQLStatement(
        """
        DELETE FROM backend_audit WHERE app_id = $1 AND entry_id IN (
            SELECT entry_id FROM backend_audit WHERE app_id = $1 AND happened_at < $2 ORDER BY happened_at, entry_id LIMIT $3)
        """)
    /// Among the counters, because it is one number for each app too.
    private static let keepSweep = SQLStatement(
        """
        INSERT INTO backend_counters (app_id, name, last_number) VALUES ($1, 'sweep', $2)
        ON CONFLICT (app_id, name) DO UPDATE SET last_number = excluded.last_number
        """)
    private static let selectSweep = SQLStatement("SELECT last_number FROM backend_counters WHERE app_id = $1 AND name = 'sweep'")
}
