import SQLStorage

/// How transactions begin. Everything that is set is set for the transaction alone, so that it holds behind a pooler as well.
struct TransactionText: Hashable, Sendable {
    /// On one snapshot.
    let read: String
    /// As if every transaction ran alone: what the statements rely on where there is one writer holds with many, too.
    let write: String
    /// For changes of the schema: one after the other among all processes, each seeing what the one before has done.
    let alone: String

    /// The number of the lock for changes of the schema: the bytes of "clarion".
    static let lock = 0x63_6C_61_72_69_6F_6E

    /// Ends a transaction that writes. The commit is answered when it is on the disk, whatever the server, the database or the user has
    /// as `synchronous_commit`; `remote_apply`, which waits for more, stays.
    ///
    /// What counts is the setting at the moment of the commit, so it travels with the commit. At the beginning a statement that reads
    /// it would fix the snapshot before the transaction has its turn.
    static let commit = """
        SELECT pg_catalog.set_config('synchronous_commit', 'on', true) \
        WHERE pg_catalog.current_setting('synchronous_commit') IN ('off', 'local', 'remote_write'); COMMIT
        """

    /// For the rest of a transaction: how long it waits for a lock.
    static func patience(_ limit: Duration) -> String {
        "; SET LOCAL lock_timeout = \(max(1, Int64(limit / .milliseconds(1))))"
    }

    /// For the rest of a transaction that has read nothing yet: waits until those before it in the queue are through, at most so long.
    ///
    /// The lock is one of the transaction, which a pooler leaves alone, and is given in the order in which it was asked for. No
    /// statement that reads could do this: it would see what was there before it waited, and be in the others' way again.
    static func turn(_ limit: Duration) -> String { "\(patience(limit)); LOCK TABLE \(Migration.turnTable) IN EXCLUSIVE MODE" }

    init(_ limits: PostgresLimits) {
        let statement = limits.statement.components.seconds * 1000
        // Statements are written for plans that walk an index in order. Statistics, which are missing just after a load, must not
        // talk the server into another; and what reads a whole table would make every writer of it a conflict.
        let plans = ["seqscan", "bitmapscan", "hashjoin", "mergejoin"].map { "SET LOCAL enable_\($0) = off; " }.joined()
        // A connection that is lost in the middle holds its locks no longer than this.
        let idle = "SET LOCAL idle_in_transaction_session_timeout = \(2 * statement); "
        let each = "SET LOCAL statement_timeout = \(statement); \(idle)\(plans)SET LOCAL jit = off"
        read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \(each)"
        write = "BEGIN ISOLATION LEVEL SERIALIZABLE; \(each)"
        alone = """
            BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; \(idle)\
            SELECT pg_advisory_xact_lock(\(Self.lock))
            """
    }
}
