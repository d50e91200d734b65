import PushHub
import RichPushModel

/// The work that is to be dispatched.
public struct SQLSliceQueue: SliceQueue {
    let database: any SQLDatabase
    private let leaseStatement: SQLStatement

    /// Creates the store.
    public init(_ database: any SQLDatabase) {
        self.database = database
        leaseStatement = Self.lease(database.dialect)
    }

    public func lease(_ request: LeaseRequest) async throws -> [SliceLease] {
        let statement = leaseStatement
        return try await database.writing { connection in
            var leases: [SliceLease] = []
            func take(_ weight: SliceWeight, _ limit: Int) throws {
                guard limit > 0 else { return }
                leases += try connection.rows(statement, Self.values(request, weight, limit)).map(Self.lease)
            }
            try take(.small, min(request.smallLimit, request.limit))
            try take(.large, min(request.largeLimit, request.limit - leases.count))
            try take(.single, request.singleLimit)
            for lease in leases { try Self.markDispatching(lease, request.now, connection) }
            return leases
        }
    }

    public func renew(_ lease: SliceLease, until: Timestamp) async throws -> Bool {
        try await database.writing { connection in
            try connection.run(Self.renew, Self.key(lease) + [.integer(until.milliseconds)]) > 0
        }
    }

    public func releaseAll(of owner: String?, at now: Timestamp) async throws -> Int {
        try await database.writing { connection in
            guard let owner else { return try connection.run(Self.releaseAll, []) }
            return try connection.run(Self.releaseOwn, [.text(owner)])
        }
    }
}

extension SQLSliceQueue {
    /// The slice and the epoch of the lease: `$1` to `$4` of every conditional statement.
    static func key(_ lease: SliceLease) -> [SQLValue] {
        [
            .integer(lease.id.hub.number), .text(lease.id.notification.text), .integer(lease.id.number), .integer(lease.epoch),
        ]
    }

    private static func values(_ request: LeaseRequest, _ weight: SliceWeight, _ limit: Int) -> [SQLValue] {
        [
            .text(request.owner), .integer(request.until.milliseconds), .integer(request.now.milliseconds),
            .integer(weight.rawValue), .integer(Int64(limit)),
        ]
    }

    private static func lease(_ row: SQLRow) throws -> SliceLease {
        guard let notification = NotificationID(try row.text(1)) else { throw SQLFault.unexpectedColumn(1) }
        return SliceLease(
            id: SliceID(hub: HubID(try row.integer(0)), notification: notification, number: try row.integer(2)),
            cursor: SliceKey(try row.integer(3)), last: SliceKey(try row.integer(4)),
            weight: SliceWeight(rawValue: try row.integer(5)) ?? .large, walked: Int(try row.integer(6)),
            failures: Int(try row.integer(7)), stalledSince: try row.optionalInteger(8).map(Timestamp.init(milliseconds:)),
            epoch: try row.integer(9))
    }

    private static func markDispatching(_ lease: SliceLease, _ now: Timestamp, _ connection: any SQLConnection) throws {
        try connection.run(
            markDispatching,
            [.integer(lease.id.hub.number), .text(lease.id.notification.text), .integer(now.milliseconds)])
    }

    static func all(_ dialect: SQLDialect) -> [SQLStatement] {
        [lease(dialect), markDispatching, renew, releaseAll, releaseOwn] + checkpointStatements + pageStatements
            + AudienceWalk.all
    }

    /// `ready_at` orders the queue. A leased slice stays where it is and is found again when its lease has run out. What is due
    /// is looked for once: looked for again for each row, as a planner may, rows that were locked meanwhile would make the
    /// limit count anew.
    private static func lease(_ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(
            composed: """
                WITH due AS MATERIALIZED (
                    SELECT hub_id, notification_id, slice FROM slices
                    WHERE weight = $4 AND ready_at <= $3 AND (owner IS NULL OR leased_until <= $3)
                    ORDER BY ready_at LIMIT $5\(dialect.skipLocked))
                UPDATE slices SET owner = $1, leased_until = $2, epoch = epoch + 1
                WHERE (hub_id, notification_id, slice) IN (SELECT hub_id, notification_id, slice FROM due)
                RETURNING hub_id, notification_id, slice, cursor_key, last_key, weight, walked, failures, stalled_since, epoch
                """)
    }

    private static let markDispatching = SQLStatement(
        """
        UPDATE notifications SET state = 'dispatching', started_at = COALESCE(started_at, $3)
        WHERE hub_id = $1 AND notification_id = $2 AND state IN ('scheduled', 'accepted')
        """)
    private static let renew = SQLStatement(
        """
        UPDATE slices SET leased_until = $5
        WHERE hub_id = $1 AND notification_id = $2 AND slice = $3 AND epoch = $4 AND owner IS NOT NULL
        """)
    private static let releaseOwn = SQLStatement("UPDATE slices SET owner = NULL, leased_until = NULL WHERE owner = $1")
    private static let releaseAll = SQLStatement(
        "UPDATE slices SET owner = NULL, leased_until = NULL WHERE owner IS NOT NULL")
}
