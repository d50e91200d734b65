extension SQLJobStore {
    static func all(_ dialect: SQLDialect) -> [SQLStatement] {
        [
            countUnfinished, nextNumber, insert, select, list, claim(dialect), hold, checkpoint, release, releaseAll, releaseOwn,
            sweep, selectMark, moveMark,
        ]
    }

    static let countUnfinished = SQLStatement(
        "SELECT COUNT(*) FROM jobs WHERE hub_id = $1 AND state IN ('waiting', 'running')")
    /// Numbers are never given twice: the files of a job are named after its number.
    static let nextNumber = SQLStatement(
        """
        INSERT INTO hub_files (hub_id, last_job, feedback_mark) VALUES ($1, 1, 0)
        ON CONFLICT (hub_id) DO UPDATE SET last_job = hub_files.last_job + 1 RETURNING last_job
        """)
    static let insert = SQLStatement(
        """
        INSERT INTO jobs (hub_id, number, kind, state, output, folder, inputs, created_at, updated_at, ready_at, total, done,
            file, line, file_offset, cursor_key, succeeded, failed, output_size, failed_size, pending_output, pending_failed,
            epoch, attempts)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, 0, 0)
        """)
    static let select = SQLStatement(composed: "SELECT \(JobRows.columns) FROM jobs WHERE hub_id = $1 AND number = $2")
    static let list = SQLStatement(
        composed: "SELECT \(JobRows.columns) FROM jobs WHERE hub_id = $1 ORDER BY number DESC LIMIT $2")

    /// The oldest job of a hub goes first, and the others of that hub wait until it is over.
    static func claim(_ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(
            composed: """
                WITH next AS MATERIALIZED (
                    SELECT hub_id, number FROM jobs j
                    WHERE state IN ('waiting', 'running') AND ready_at <= $3 AND (owner IS NULL OR leased_until <= $3)
                        AND NOT EXISTS (SELECT 1 FROM jobs o
                            WHERE o.hub_id = j.hub_id AND o.number < j.number AND o.state IN ('waiting', 'running'))
                    ORDER BY ready_at, hub_id LIMIT 1\(dialect.skipLocked))
                UPDATE jobs SET owner = $1, leased_until = $2, epoch = epoch + 1, state = 'running'
                WHERE (hub_id, number) IN (SELECT hub_id, number FROM next)
                RETURNING \(JobRows.columns)
                """)
    }

    /// Locks the row of a lease that still holds.
    static let hold = SQLStatement(
        "UPDATE jobs SET epoch = epoch WHERE hub_id = $1 AND number = $2 AND epoch = $3 AND owner IS NOT NULL")
    static let checkpoint = SQLStatement(
        """
        UPDATE jobs SET total = $4, done = $5, file = $6, line = $7, file_offset = $8, cursor_key = $9, succeeded = $10,
            failed = $11, output_size = $12, failed_size = $13, pending_output = $14, pending_failed = $15, state = $16,
            failure = $17, leased_until = $18, updated_at = $19, attempts = 0,
            owner = CASE WHEN $20 = 1 THEN NULL ELSE owner END
        WHERE hub_id = $1 AND number = $2 AND epoch = $3 AND owner IS NOT NULL
        """)
    static let release = SQLStatement(
        """
        UPDATE jobs SET owner = NULL, leased_until = NULL, ready_at = $4, updated_at = $5, attempts = attempts + 1
        WHERE hub_id = $1 AND number = $2 AND epoch = $3 AND owner IS NOT NULL
        """)
    /// A process that died counts as no attempt. The moment makes the job ready also after the clock was set back.
    private static let freed = "UPDATE jobs SET owner = NULL, leased_until = NULL, ready_at = $1"
    static let releaseAll = SQLStatement(composed: freed + " WHERE owner IS NOT NULL")
    static let releaseOwn = SQLStatement(composed: freed + " WHERE owner = $2")
    static let sweep = SQLStatement(
        """
        DELETE FROM jobs WHERE (hub_id, number) IN (
            SELECT hub_id, number FROM jobs WHERE state IN ('completed', 'failed') AND updated_at < $1 LIMIT $2)
        """)
    static let selectMark = SQLStatement("SELECT feedback_mark FROM hub_files WHERE hub_id = $1")
    static let moveMark = SQLStatement(
        """
        INSERT INTO hub_files (hub_id, last_job, feedback_mark) VALUES ($1, 0, $3)
        ON CONFLICT (hub_id) DO UPDATE SET feedback_mark = excluded.feedback_mark WHERE hub_files.feedback_mark = $2
        """)
}
