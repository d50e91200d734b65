import Dispatch
import Logging
import RichPushModel
import SQLStorage

/// PostgreSQL as the one store of many nodes: a bounded number of connections, each owned by a thread that runs the closures.
///
/// Nothing is connected before the first use. Writes are serializable transactions, reads see one snapshot; conflicts are retried. A
/// caller whose task is cancelled waits for a second at most, so that a hanging server does not keep a process from ending; its work
/// may still be done. While the server cannot be reached, every call fails at once with `SQLFault.unavailable`.
public final class PostgresDatabase: SQLDatabase {
    public let dialect = SQLDialect.postgresql
    private let writes: WorkQueue<any PendingWork>
    private let reads: WorkQueue<any PendingWork>
    private let clock: any ServiceClock
    private let health: WriteHealth
    private let grace: Duration
    private let sizes: (readers: Int, writers: Int)

    public var lastWriteFault: String? { health.lastFault }

    public var load: DatabaseLoad {
        DatabaseLoad(reads: reads.load(of: sizes.readers), writes: writes.load(of: sizes.writers), commits: health.commits)
    }
    public var sinceLastKeptWrite: Duration? { health.sinceLastKept }

    /// Prepares the connections to a database. A pooler that `pooler` does not name is detected at the first statement it loses. Throws
    /// `SQLFault.misconfigured` on a machine without PostgreSQL's client library.
    public init(
        _ url: DatabaseURL, limits: PostgresLimits = PostgresLimits(), pooler: DatabasePooler = .session,
        clock: any ServiceClock = .system, logger: Logger = Logger(label: "clarion.database")
    ) throws {
        let library = try LibPQ.loaded()
        self.clock = clock
        grace = limits.grace
        sizes = (limits.readers, limits.writers)
        health = WriteHealth(clock: clock, logger: logger)
        writes = WorkQueue(limit: limits.waiting)
        reads = WorkQueue(limit: limits.waiting)
        let context = PostgresWorker.Context(
            link: .init(library: library, url: url, clock: clock, limits: limits, canceller: Canceller()),
            texts: TransactionText(limits), health: health, gate: ConnectionGate(pooler, logger: logger))
        for number in 0..<limits.writers {
            PostgresWorker.start(named: "clarion-pg-w\(number)", writes, context, writes: true)
        }
        for number in 0..<limits.readers {
            PostgresWorker.start(named: "clarion-pg-r\(number)", reads, context, writes: false)
        }
    }

    deinit { close() }

    /// Ends the connections once they have done what they hold. What is called afterwards fails with `unavailable`.
    public func close() {
        for work in writes.stop() + reads.stop() { work.fail(Self.closed) }
    }

    static let closed = SQLFault.unavailable(reason: "the database is closed")

    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await run(on: reads, isAlone: false, abandoned: .unavailable(reason: "the caller was cancelled"), body)
    }

    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await run(on: writes, isAlone: false, abandoned: .outcomeUnknown, body)
    }

    public func writeAlone<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await run(on: writes, isAlone: true, abandoned: .outcomeUnknown, body)
    }

    private func run<Result: Sendable>(
        on queue: WorkQueue<any PendingWork>, isAlone: Bool, abandoned: SQLFault,
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        let caller = WaitingCaller<Result>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                caller.wait(continuation)
                let work = TypedWork(since: clock.uptime, isAlone: isAlone, body: body, caller: caller)
                switch queue.submit(work) {
                case .taken: break
                case .full: work.fail(SQLFault.unavailable(reason: "too many transactions wait"))
                case .stopped: work.fail(Self.closed)
                }
            }
        } onCancel: {
            DispatchQueue.global().asyncAfter(deadline: .now() + grace / .seconds(1)) { caller.answer(.failure(abandoned)) }
        }
    }
}

/// The settings of a PostgreSQL server that decide whether an acknowledged write is kept, as the server reports them.
///
/// Each transaction sets for itself what a transaction can set; of that only `synchronous_commit` stands here, so that operators
/// need not wonder. The rest only the operator of the server can change.
public struct PostgresSettings: Hashable, Sendable {
    /// What a setting means for the writes that were acknowledged.
    public struct Finding: Hashable, Sendable {
        /// How much it weighs.
        public enum Weight: Hashable, Sendable {
            /// A crash or a loss of power of the database's machine can lose what was acknowledged.
            case loses
            /// Something can be lost under a condition that the sentence names.
            case risks
            /// Nothing is lost, because each write sets for itself what it needs.
            case covered
        }

        public let weight: Weight
        /// What is so and what can be lost, as a sentence without secrets.
        public let sentence: String
        /// What the operator can do.
        public let remedy: String
    }

    /// The settings by name, with PostgreSQL's own words as values.
    let values: [String: String]
    /// Tables that a crash of the server empties.
    let unloggedTables: [String]
    /// How many replicas stream from the server.
    let replicas: Int

    /// What the operator has to know; nothing when all is well.
    public var findings: [Finding] {
        var found: [Finding] = []
        func note(_ weight: Finding.Weight, _ sentence: String, _ remedy: String) {
            found.append(Finding(weight: weight, sentence: sentence, remedy: remedy))
        }
        let reload = "in postgresql.conf and reload the server"
        if isOff("fsync") {
            let loss = "a loss of power at the database loses or damages acknowledged writes"
            note(.loses, "fsync is off: \(loss)", "set fsync = on \(reload)")
        }
        if !unloggedTables.isEmpty {
            let tables = unloggedTables.joined(separator: ", ")
            note(
                .loses, "a crash of the database empties these unlogged tables: \(tables)",
                "run ALTER TABLE … SET LOGGED for each of them")
        }
        if isOff("full_page_writes") {
            let risk = "a loss of power damages pages unless the file system never tears them"
            note(.risks, "full_page_writes is off: \(risk)", "set full_page_writes = on \(reload)")
        }
        for name in ["zero_damaged_pages", "ignore_checksum_failure"] where values[name] == "on" {
            note(.risks, "\(name) is on: rows on a damaged page are lost or changed without an error", "set \(name) = off")
        }
        if replicas > 0, values["synchronous_standby_names"]?.isEmpty ?? true {
            note(
                .risks, "\(replicas) replicas follow, none is synchronous: a failover can lose the last acknowledged writes",
                "name the replicas that may take over in synchronous_standby_names, see Documentation/PostgreSQL.md")
        }
        if isOff("synchronous_commit") {
            note(
                .covered, "synchronous_commit is off for this database; Clarion asks for it in each write",
                "nothing for Clarion; set synchronous_commit = on where other programs write into the database as well")
        }
        return found
    }

    private func isOff(_ name: String) -> Bool { values[name] == "off" }
}

extension PostgresDatabase {
    /// Asks the server for its settings. Throws `SQLFault`.
    public func settings() async throws -> PostgresSettings {
        try await read { connection in
            var values: [String: String] = [:]
            for row in try connection.rows(Self.selectSettings, []) { values[try row.text(0)] = try row.text(1) }
            return PostgresSettings(
                values: values, unloggedTables: try connection.rows(Self.selectUnlogged, []).map { try $0.text(0) },
                replicas: Int(try connection.row(Self.countReplicas, [])?.integer(0) ?? 0))
        }
    }

    private static let selectSettings = SQLStatement(
        """
        SELECT name, setting FROM pg_catalog.pg_settings WHERE name IN ('fsync', 'full_page_writes', 'ignore_checksum_failure', \
        'synchronous_commit', 'synchronous_standby_names', 'zero_damaged_pages')
        """)
    /// Of the schema in use, which is Clarion's own.
    private static let selectUnlogged = SQLStatement(
        """
        SELECT CAST(relname AS TEXT) FROM pg_catalog.pg_class WHERE relkind = 'r' AND relpersistence = 'u'
            AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = current_schema()) ORDER BY relname
        """)
    /// Only replicas of the whole server: those of logical replication never take over.
    private static let countReplicas = SQLStatement(
        """
        SELECT COUNT(*) FROM pg_catalog.pg_stat_replication WHERE NOT pid IN \
        (SELECT active_pid FROM pg_catalog.pg_replication_slots WHERE slot_type = 'logical' AND active_pid IS NOT NULL)
        """)
}
