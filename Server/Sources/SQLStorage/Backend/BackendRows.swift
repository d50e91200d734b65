import AppBackend
import RichPushModel
import ServiceErrors

/// What the stores of the app backend share: numbers that are never used again, and audit entries.
enum BackendRows {
    /// The counters; the raw value is stored.
    enum Counter: String {
        case user, binding, content, notification, audit
    }

    /// The next number, from 1. The row stays locked until the transaction ends, so that numbers become visible in order.
    static func next(_ counter: Counter, of app: AppID, _ connection: any SQLConnection) throws -> Int64 {
        guard let row = try connection.row(count, [.integer(app.number), .text(counter.rawValue)]) else {
            throw SQLFault.refused(code: 0, reason: "a counter returned no number")
        }
        return try row.integer(0)
    }

    /// The last number; zero before the first.
    static func last(_ counter: Counter, of app: AppID, _ connection: any SQLConnection) throws -> Int64 {
        try connection.row(selectLast, [.integer(app.number), .text(counter.rawValue)])?.integer(0) ?? 0
    }

    /// Makes `number` the last one, if that is no step back and leaves out at most `distance`. The row stays locked.
    static func skip(
        _ counter: Counter, to number: Int64, atMost distance: Int64, of app: AppID, _ connection: any SQLConnection
    ) throws -> Bool {
        let key: [SQLValue] = [.integer(app.number), .text(counter.rawValue)]
        try connection.run(insertCounter, key)
        return try connection.run(skipTo, key + [.integer(number), .integer(number - distance)]) > 0
    }

    /// Refuses to write for a user who is gone: a request that signed in before may still be on its way, and what it wrote would
    /// belong to nobody for ever.
    static func requireUser(_ user: UserID, _ app: AppID, _ connection: any SQLConnection) throws {
        guard try connection.row(selectUser, [.integer(app.number), .integer(user.number)]) == nil else { return }
        throw ServiceError(.unauthenticated, "this user was removed")
    }

    /// Notes something that an operator may have to explain later.
    static func audit(
        _ event: String, user: UserID, other: UserID?, record: String?, app: AppID, at now: Timestamp,
        _ connection: any SQLConnection
    ) throws {
        try connection.run(
            insertAudit,
            [
                .integer(app.number), .integer(try next(.audit, of: app, connection)), .integer(now.milliseconds),
                .text(event), .integer(user.number), .optional(other?.number), .optional(record),
            ])
    }

    static let all = [count, selectLast, insertCounter, skipTo, selectUser, insertAudit]

    private static let count = SQLStatement(
        """
        INSERT INTO backend_counters (app_id, name, last_number) VALUES ($1, $2, 1)
        ON CONFLICT (app_id, name) DO UPDATE SET last_number = backend_counters.last_number + 1 RETURNING last_number
        """)
    private static let selectLast = SQLStatement(
        "SELECT last_number FROM backend_counters WHERE app_id = $1 AND name = $2")
    private static let insertCounter = SQLStatement(
        "INSERT INTO backend_counters (app_id, name, last_number) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING")
    private static let skipTo = SQLStatement(
        """
        UPDATE backend_counters SET last_number = $3
        WHERE app_id = $1 AND name = $2 AND last_number <= $3 AND last_number >= $4
        """)
    private static let selectUser = SQLStatement("SELECT user_id FROM users WHERE app_id = $1 AND user_id = $2")
    private static let insertAudit = SQLStatement(
        """
        INSERT INTO backend_audit (app_id, entry_id, happened_at, event, user_id, other_user_id, record_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """)
}
