import AppBackend
import RichPushModel

/// The counts of failed sign-ins.
extension SQLBackendStore {
    public func counts(for attempt: SignInAttempt) async throws -> SignInCounts {
        try await reading { transaction in
            let found = try SignInSQL.keys(attempt).map { account, source in
                try transaction.row(SignInSQL.select, account, source).map(SignInSQL.count) ?? .zero
            }
            return SignInCounts(here: found[0], account: found[1], source: found[2])
        }
    }

    public func change<Result: Sendable>(
        _ attempt: SignInAttempt, onlyHere: Bool, at now: Timestamp,
        _ body: @escaping @Sendable (inout SignInCounts) -> Result
    ) async throws -> Result {
        try await writing { transaction in
            // Always in this order, as in every function here, so that two never wait for each other.
            let keys = SignInSQL.keys(attempt).prefix(onlyHere ? 1 : 3)
            let found = try keys.map { account, source in
                try transaction.row(SignInSQL.lock, account, source, now).map(SignInSQL.count) ?? .zero
            }
            var counts = SignInCounts(here: found[0])
            if !onlyHere { (counts.account, counts.source) = (found[1], found[2]) }
            let result = body(&counts)
            for (key, (old, new)) in zip(keys, zip(found, [counts.here, counts.account, counts.source])) where old != new {
                try transaction.run(
                    SignInSQL.update, key.account, key.source, new.failures, new.lastAt, new.blockedUntil, new.knownUntil,
                    new.idleAt)
            }
            return result
        }
    }

    public func forget(account: String) async throws {
        try await writing { transaction in
            for statement in [SignInSQL.deleteHere, SignInSQL.deleteAccount] { try transaction.run(statement, account) }
        }
    }

    public func removeIdle(before moment: Timestamp, limit: Int) async throws -> Int {
        try await writing { transaction in
            let due = try transaction.rows(SignInSQL.selectIdle, moment, limit)
            // The order in which an attempt locks its rows: of both, of the account, of the network.
            let ranked = try due.map { row in (row, try row.text(0).isEmpty ? 2 : row.text(1).isEmpty ? 1 : 0) }
            for rank in 0...2 {
                for (row, _) in ranked.filter({ $0.1 == rank }) {
                    try transaction.run(SignInSQL.deleteIdle, row.values[0], row.values[1], moment)
                }
            }
            return due.count
        }
    }
}

extension SQLStatement { static let ofSignIns = SignInSQL.all }

private enum SignInSQL {
    static func keys(_ attempt: SignInAttempt) -> [(account: String, source: String)] {
        // The row of an account alone has an empty source, which no caller may have.
        let source = attempt.source.prefix.isEmpty ? "-" : attempt.source.prefix
        return [(attempt.account, source), (attempt.account, ""), ("", source)]
    }

    static func count(_ row: SQLRow) throws -> SignInCount {
        SignInCount(
            failures: try row.integer(0), lastAt: try row.moment(1), blockedUntil: try row.moment(2),
            knownUntil: try row.moment(3))
    }

    static let all = [select, lock, update, deleteHere, deleteAccount, selectIdle, deleteIdle]

    static let select = SQLStatement(
        """
        SELECT failures, last_at, blocked_until, known_until FROM sign_in_counts
        WHERE app_id = $1 AND account = $2 AND source = $3
        """)
    /// Changes nothing that counts, and keeps the row for this transaction alone.
    static let lock = SQLStatement(
        """
        INSERT INTO sign_in_counts (app_id, account, source, failures, last_at, blocked_until, known_until, idle_at)
        VALUES ($1, $2, $3, 0, 0, 0, 0, $4)
        ON CONFLICT (app_id, account, source) DO UPDATE SET idle_at = sign_in_counts.idle_at
        RETURNING failures, last_at, blocked_until, known_until
        """)
    static let update = SQLStatement(
        """
        UPDATE sign_in_counts SET failures = $4, last_at = $5, blocked_until = $6, known_until = $7, idle_at = $8
        WHERE app_id = $1 AND account = $2 AND source = $3
        """)
    static let deleteHere = SQLStatement("DELETE FROM sign_in_counts WHERE app_id = $1 AND account = $2 AND source <> ''")
    static let deleteAccount = SQLStatement("DELETE FROM sign_in_counts WHERE app_id = $1 AND account = $2 AND source = ''")
    /// In an order that all nodes share.
    static let selectIdle = SQLStatement(
        """
        SELECT account, source FROM sign_in_counts WHERE app_id = $1 AND idle_at < $2 ORDER BY idle_at, account, source LIMIT $3
        """)
    static let deleteIdle = SQLStatement(
        "DELETE FROM sign_in_counts WHERE app_id = $1 AND account = $2 AND source = $3 AND idle_at < $4")
}
