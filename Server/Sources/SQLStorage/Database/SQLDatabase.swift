import ServiceErrors

/// A relational database as the storage ports need it: SQLite or PostgreSQL behind the same statements.
///
/// The closure is synchronous and runs on a thread of the driver, never on the cooperative pool. It may run more than
/// once (a driver repeats it after a serialization conflict or when it shares a commit with others), so it must have no
/// effect outside the database.
public protocol SQLDatabase: Sendable {
    /// What differs between the engines.
    var dialect: SQLDialect { get }

    /// Runs the closure in a read-only transaction on a consistent snapshot.
    func read<Result: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Result) async throws -> Result

    /// Runs the closure in a read-write transaction and returns once the commit is durable.
    ///
    /// Small writes that wait at the same time share one commit; each stays atomic by itself, and an error thrown by one
    /// undoes only that one. Throws `SQLFault.outcomeUnknown` when it cannot be known whether the commit happened.
    func write<Result: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Result) async throws -> Result

    /// The same for a change of the schema: alone among all processes that call this, and as long as it takes.
    func writeAlone<Result: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Result) async throws -> Result

    /// The engine's name of why the last write could not be kept, for example `SQLITE_FULL` or `disk_full`; `nil` since one was
    /// kept.
    var lastWriteFault: String? { get }

    /// How busy the connections are now, for metrics. Cheap: it asks the database nothing.
    var load: DatabaseLoad { get }
    /// How long ago a change was kept last; `nil` when none was, or where that is not known.
    var sinceLastKeptWrite: Duration? { get }

    /// The names of all tables, in no order.
    func tableNames() async throws -> [String]

    /// Ends all connections. What is called afterwards fails with `unavailable`.
    func close() throws
}

/// How busy a database's connections are at one moment.
public struct DatabaseLoad: Hashable, Sendable {
    /// One kind of connections.
    public struct Pool: Hashable, Sendable {
        /// Connections that may be open at the same time.
        public var size: Int
        /// Connections that work on something.
        public var inUse: Int
        /// Transactions that wait for a connection.
        public var waiting: Int

        /// Creates the numbers of one kind.
        public init(size: Int, inUse: Int, waiting: Int) {
            self.size = size
            self.inUse = inUse
            self.waiting = waiting
        }
    }

    /// Connections that only read.
    public var reads: Pool
    /// Connections that write.
    public var writes: Pool
    /// Commits that changed something since the database was opened. Small writes share one.
    public var commits: Int

    /// Creates the numbers of one moment.
    public init(reads: Pool, writes: Pool, commits: Int) {
        self.reads = reads
        self.writes = writes
        self.commits = commits
    }
}

extension SQLDatabase {
    /// For a database without connections of its own.
    public var load: DatabaseLoad {
        DatabaseLoad(reads: .init(size: 0, inUse: 0, waiting: 0), writes: .init(size: 0, inUse: 0, waiting: 0), commits: 0)
    }
    public var sinceLastKeptWrite: Duration? { nil }

    /// For an engine with one writer at a time.
    public func writeAlone<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await write(body)
    }
}

extension SQLFault {
    /// The error for the caller of a storage port: the one place where storage faults become service errors.
    public var serviceError: ServiceError {
        switch self {
        case .unavailable, .misconfigured, .lockedByAnotherProcess:
            ServiceError(.storageUnavailable, "the storage cannot be used now; nothing was written", retryAfter: 1)
        case .damaged(let reason):
            ServiceError(
                .storageUnavailable, "the database file is damaged (\(reason)); a backup has to be restored", retryAfter: 60)
        case .outcomeUnknown:
            ServiceError(.outcomeUnknown, "the storage broke while writing; the change may or may not be kept", retryAfter: 1)
        case .duplicate:
            ServiceError(.conflict, "it exists already")
        case .unstorable:
            ServiceError(.invalidField, "a text has a zero byte, or is longer than the database can keep it in an index")
        case .newerSchema:
            ServiceError(.notReady, "the database belongs to a newer version of this program")
        case .olderSchema:
            ServiceError(.notReady, "the database belongs to an older version of this program")
        case .unreleasedSchema:
            ServiceError(.notReady, "the database was made by a development version of this program")
        case .unexpectedColumn, .refused:
            ServiceError(.internal, "the storage refused a statement")
        }
    }
}

extension SQLDatabase {
    /// `read` for a storage port: faults arrive as `ServiceError`.
    public func reading<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        do { return try await read(body) } catch let fault as SQLFault { throw fault.serviceError }
    }

    /// `write` for a storage port: faults arrive as `ServiceError`.
    public func writing<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        do { return try await write(body) } catch let fault as SQLFault { throw fault.serviceError }
    }
}

extension SQLDatabase {
    /// The names of all tables, in no order.
    public func tableNames() async throws -> [String] {
        try await read { connection in try connection.rows(connection.dialect.tableNames, []).map { try $0.text(0) } }
    }
}

/// What a driver reports. None of the cases carries a value of a row.
public enum SQLFault: Error, Hashable, Sendable {
    /// The database cannot be used now; nothing was written.
    case unavailable(reason: String)
    /// The database refuses this program, or the program cannot speak to it. Only a change of settings or of the machine helps. Nothing
    /// was written.
    case misconfigured(reason: String)
    /// What is on the disk is not what the engine wrote, or no database at all: only a backup helps. The reason is the engine's name for it.
    case damaged(reason: String)
    /// The connection broke during the commit: the write may or may not have happened.
    case outcomeUnknown
    /// A unique constraint refused the write.
    case duplicate
    /// The database was written by a newer version of this program.
    case newerSchema(found: Int, known: Int)
    /// The database was written by an older version of this program, and the caller may not change its schema.
    case olderSchema(found: Int, known: Int)
    /// The database was made by a development version before the first release; there is no upgrade from it.
    case unreleasedSchema
    /// A value has a character or a length that the engine cannot keep; nothing was written.
    case unstorable
    /// Another process has the database open.
    case lockedByAnotherProcess(path: String)
    /// A statement returned another type than the code expects: a defect.
    case unexpectedColumn(Int)
    /// The engine refused a statement: a defect.
    case refused(code: Int, reason: String)
}
