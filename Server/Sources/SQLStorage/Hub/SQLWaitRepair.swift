import RichPushModel

/// Shortens waits that a clock which was set back made too long. Their moments lie farther ahead than any wait lasts.
///
/// Moments that a caller chose are left alone: schedules and expiries follow the calendar.
public struct SQLWaitRepair: Sendable {
    /// No wait of a slice, a target, a job or the outbox lasts longer, unless the push service asked for more. Such a wait is cut: one
    /// try too early is answered with the same request.
    public static let longestWait: Duration = .seconds(360)

    private let database: any SQLDatabase
    private let lease: Duration

    /// - Parameter lease: how long a lease of a slice or a job holds. One that seems to hold much longer ends after this time, unless its
    ///   owner renews it.
    public init(_ database: any SQLDatabase, lease: Duration) {
        self.database = database
        self.lease = lease
    }

    /// Shortens the waits in one transaction and returns how many rows it changed.
    public func run(at now: Timestamp) async throws -> Int {
        let moment = SQLValue.integer(now.milliseconds)
        let latest = SQLValue.integer((now + Self.longestWait).milliseconds)
        // Another node may have longer leases than this one.
        let latestLease = SQLValue.integer((now + max(lease * 2, Self.longestWait)).milliseconds)
        let leaseEnd = SQLValue.integer((now + lease).milliseconds)
        return try await database.writing { connection in
            var count = 0
            for statement in Self.waits { count += try connection.run(statement, [moment, latest]) }
            for statement in Self.leases { count += try connection.run(statement, [leaseEnd, latestLease]) }
            for statement in Self.beginnings { count += try connection.run(statement, [moment]) }
            return count
        }
    }
}

extension SQLWaitRepair {
    static let all = waits + leases + beginnings

    private static let waits = [
        SQLStatement("UPDATE slices SET ready_at = $1 WHERE ready_at > $2 AND epoch > 0"),
        SQLStatement(
            """
            UPDATE pending_targets
            SET first_at = CASE WHEN first_at > $1 THEN $1 ELSE first_at END,
                not_before = CASE WHEN not_before > $2 THEN $1 ELSE not_before END
            WHERE first_at > $1 OR not_before > $2
            """),
        SQLStatement("UPDATE jobs SET ready_at = $1 WHERE state IN ('waiting', 'running') AND ready_at > $2"),
        // What is tracked waits for the moment of its send, which may be scheduled.
        SQLStatement(
            """
            UPDATE rich_notifications SET work_at = $1
            WHERE work IS NOT NULL AND work_at > $2 AND (work <> 'track' OR due_at <= $1)
            """),
    ]
    private static let leases = [
        SQLStatement("UPDATE slices SET leased_until = $1 WHERE owner IS NOT NULL AND leased_until > $2"),
        SQLStatement("UPDATE jobs SET leased_until = $1 WHERE owner IS NOT NULL AND leased_until > $2"),
    ]
    private static let beginnings = [
        // What is not scheduled was ready when it was accepted. A wave keeps its moment.
        SQLStatement(
            """
            UPDATE slices SET ready_at = $1
            WHERE ready_at > $1 AND epoch = 0 AND (moment IS NULL OR moment <= $1) AND EXISTS (
                SELECT 1 FROM notifications n
                WHERE n.hub_id = slices.hub_id AND n.notification_id = slices.notification_id AND n.state = 'accepted')
            """),
        SQLStatement("UPDATE slices SET stalled_since = $1 WHERE stalled_since > $1"),
        // All moments of a count follow the clock, so that the wait after its last failure has its own length and no more.
        SQLStatement(
            """
            UPDATE sign_in_counts
            SET last_at = $1, blocked_until = blocked_until - (last_at - $1), known_until = known_until - (last_at - $1),
                idle_at = idle_at - (last_at - $1)
            WHERE last_at > $1
            """),
    ]
}
