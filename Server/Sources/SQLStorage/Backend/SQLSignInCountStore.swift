import AppBackend
import RichPushModel

/// The counts of failed sign-ins of one app.
public struct SQLSignInCountStore: SignInCountStore {
    private let database: any SQLDatabase
    private let app: AppID

    /// Creates the store.
    public init(_ database: any SQLDatabase, app: AppID = .standard) {
        self.database = database
        self.app = app
    }

    public func counts(for attempt: SignInAttempt) async throws -> SignInCounts {
        try await database.reading { [app] connection in
            var found: [SignInCount] = []
            for key in Self.keys(attempt, app) { found.append(try connection.row(Self.select, key).map(Self.count) ?? .zero) }
            return SignInCounts(here: found[0], account: found[1], source: found[2])
        }
    }

    public func change<Result: Sendable>(
        _ attempt: SignInAttempt, onlyHere: Bool, at now: Timestamp,
        _ body: @escaping @Sendable (inout SignInCounts) -> Result
    ) async throws -> Result {
        try await database.writing { [app] connection in
            // Always in this order, as in every function here, so that two never wait for each other.
            let keys = Self.keys(attempt, app).prefix(onlyHere ? 1 : 3)
            let found = try keys.map { key in
                try connection.row(Self.lock, key + [.integer(now.milliseconds)]).map(Self.count) ?? .zero
            }
            var counts = SignInCounts(here: found[0])
            if !onlyHere { (counts.account, counts.source) = (found[1], found[2]) }
            let result = body(&counts)
            for (key, (old, new)) in zip(keys, zip(found, [counts.here, counts.account, counts.source])) where old != new {
                try connection.run(Self.update, key + Self.values(new))
            }
            return result
        }
    }

    public func forget(account: String) async throws {
        try await database.writing { [app] connection in
            for statement in [Self.deleteHere, Self.deleteAccount] {
                try connection.run(statement, [.integer(app.number), .text(account)])
            }
        }
    }

    public func removeIdle(before moment: Timestamp, limit: Int) async throws -> Int {
        try await database.writing { [app] connection in
            let due = try connection.rows(
                Self.selectIdle, [.integer(app.number), .integer(moment.milliseconds), .integer(Int64(limit))])
            // The order in which an attempt locks its rows: of both, of the account, of the network.
            let ranked = try due.map { row in (row, try row.text(0).isEmpty ? 2 : row.text(1).isEmpty ? 1 : 0) }
            for rank in 0...2 {
                for (row, _) in ranked.filter({ $0.1 == rank }) {
                    try connection.run(Self.deleteIdle, [.integer(app.number)] + row.values + [.integer(moment.milliseconds)])
                }
            }
            return due.count
        }
    }

    private static func keys(_ attempt: SignInAttempt, _ app: AppID) -> [[SQLValue]] {
        // The row of an account alone has an empty source, which no caller may have.
        let source = attempt.source.prefix.isEmpty ? "-" : attempt.source.prefix
        return [(attempt.account, source), (attempt.account, ""), ("", source)].map { account, source in
            [.integer(app.number), .text(account), .text(source)]
        }
    }

    private static func count(_ row: SQLRow) throws -> SignInCount {
        SignInCount(
            failures: try row.integer(0), lastAt: Timestamp(milliseconds: try row.integer(1)),
            blockedUntil: Timestamp(milliseconds: try row.integer(2)), knownUntil: Timestamp(milliseconds: try row.integer(3)))
    }

    private static func values(_ count: SignInCount) -> [SQLValue] {
        [
            .integer(count.failures), .integer(count.lastAt.milliseconds), .integer(count.blockedUntil.milliseconds),
            .integer(count.knownUntil.milliseconds), .integer(count.idleAt.milliseconds),
        ]
    }
}

extension SQLSignInCountStore {
    static let all = [select, lock, update, deleteHere, deleteAccount, selectIdle, deleteIdle]

    private static let select = SQLStatement(
        """
        SELECT failures, last_at, blocked_until, known_until FROM sign_in_counts
        WHERE app_id = $1 AND account = $2 AND source = $3
        """)
    /// Changes nothing that counts, and keeps the row for this transaction alone.
    private static let lock = SQLStatement(
        """
        INSERT INTO sign_in_counts (app_id, account, source, failures, last_at, blocked_until, known_until, idle_at)
        VALUES ($1, $2, $3, 0, 0, 0, 0, $4)
        ON CONFLICT (app_id, account, source) DO UPDATE SET idle_at = sign_in_counts.idle_at
        RETURNING failures, last_at, blocked_until, known_until
        """)
    private static let update = SQLStatement(
        """
        UPDATE sign_in_counts SET failures = $4, last_at = $5, blocked_until = $6, known_until = $7, idle_at = $8
        WHERE app_id = $1 AND account = $2 AND source = $3
        """)
    private static let deleteHere = SQLStatement(
        "DELETE FROM sign_in_counts WHERE app_id = $1 AND account = $2 AND source <> ''")
    private static let deleteAccount = SQLStatement(
        "DELETE FROM sign_in_counts WHERE app_id = $1 AND account = $2 AND source = ''")
    /// In an order that all nodes share.
    private static let selectIdle = SQLStatement(
        """
        SELECT account, source FROM sign_in_counts WHERE app_id = $1 AND idle_at < $2 ORDER BY idle_at, account, source LIMIT $3
        """)
    private static let deleteIdle = SQLStatement(
        "DELETE FROM sign_in_counts WHERE app_id = $1 AND account = $2 AND source = $3 AND idle_at < $4")
}
