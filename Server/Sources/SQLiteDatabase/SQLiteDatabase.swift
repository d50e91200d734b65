import GRDB
import Logging
import SQLStorage

/// SQLite as the one store of a node: WAL, a commit is on disk when it returns, one writer at a time, readers beside it.
///
/// Open it, run `SchemaMigrator` over it once, use it; `close()` ends it. Errors are `SQLFault`.
public final class SQLiteDatabase: SQLDatabase {
    /// Which kind of process opens the file.
    public enum Access: Sendable {
        /// The server: takes the lock beside the file, so that a second server is refused.
        case server
        /// A short command beside a running server: an ordinary WAL writer.
        case command
    }

    public let dialect = SQLDialect.sqlite
    /// Writes; what it could read with is never opened.
    private let pool: DatabasePool
    private let reads: ReaderPool
    private let lock: LockFile?
    private let writes: GroupCommit
    private let health: WriteHealth

    /// Why the last write could not be kept, for example `SQLITE_FULL` for a full disk; `nil` since one was kept.
    public var lastWriteFault: String? { health.lastFault }

    public var load: DatabaseLoad { DatabaseLoad(reads: reads.load, writes: writes.load, commits: health.commits) }
    public var sinceLastKeptWrite: Duration? { health.sinceLastKept }

    /// The size of the write-ahead log in bytes; 0 without one.
    public var logBytes: Int64 { DatabaseFile.size(of: path + "-wal") ?? 0 }

    private let path: String

    /// Opens the file, creating it (mode 0600) if absent. Throws `SQLFault.lockedByAnotherProcess` when another server has
    /// it, `unavailable` when it cannot be opened, and what `beforeOpening` throws, which runs once a server has the lock.
    public init(
        path: String, access: Access, logger: Logger = Logger(label: "clarion.database"),
        beforeOpening: () throws -> Void = {}
    ) throws {
        lock = access == .server ? try LockFile(path: path + ".lock") : nil
        try beforeOpening()
        try DatabaseFile.create(at: path)
        self.path = path
        pool = try FaultMapping.mapped { try Self.open(path) }
        reads = try FaultMapping.mapped { try ReaderPool(path: path, size: access == .server ? ReaderPool.size : 1) }
        health = WriteHealth(logger: logger)
        writes = GroupCommit(pool: pool, health: health)
    }

    /// Ends all connections and gives the lock back. What is called afterwards fails with `unavailable`.
    public func close() throws { try close {} }

    /// The same, with something to be done to the closed file before another server can have it.
    public func close(then body: () throws -> Void) throws {
        defer { lock?.release() }
        try FaultMapping.mapped {
            // The last connection to close empties the log, which a reader cannot do; so readers close first.
            let ended = Result { try reads.close() }
            try pool.close()
            try ended.get()
        }
        try body()
    }

    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await reads.run(body)
    }

    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await writes.run(body)
    }

    /// Writes a copy of one moment into an empty file. It only reads here, so writers in other processes are not held up.
    /// `reading` gets how many bytes have been read, now and then.
    func copy(into path: String, reading: @escaping @Sendable (Int64) -> Void) async throws {
        try await outsideTransaction { access in
            try PageReads.during(access, report: reading) { try access.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        }
    }

    /// Work of the engine that is no part of a transaction, on the connection that writes.
    func outsideTransaction<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
            pool.asyncWriteWithoutTransaction { access in
                continuation.resume(with: Swift.Result { try FaultMapping.mapped { try body(access) } })
            }
        }
    }

    /// In bytes.
    private static let pageSize = 8192
    /// Registrations touch pages all over the file: a commit of many must not spill its pages early, nor each be followed by
    /// copying them. Both are bounded: so many bytes of memory, and a log of about as many. One that a reader of another program kept
    /// from being emptied grows beyond that, and is cut to twice as many when it has been.
    private static let logSize = 32 << 20

    private static func open(_ path: String) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(5)
        configuration.label = "clarion"
        // Of a new file and of a copy; a file that is there keeps what it was made with. A send reads every page of its
        // audience: half as many are a tenth less processor time for all of the send.
        configuration.prepareDatabase { access in
            try access.execute(sql: "PRAGMA page_size = \(pageSize)")
            // So that a compaction can give free pages back in steps. Only where it is off, because it is a write where it is on.
            if try Int.fetchOne(access, sql: "PRAGMA auto_vacuum") == 0 {
                try access.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            }
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.writeWithoutTransaction { access in
            let pages = logSize / (try Int.fetchOne(access, sql: "PRAGMA page_size") ?? pageSize)
            // The library sets NORMAL for WAL, which may lose the last commits at a power cut; "accepted means kept".
            try access.execute(
                sql: """
                    PRAGMA synchronous = FULL; PRAGMA cache_size = -\(logSize / 1024); PRAGMA wal_autocheckpoint = \(pages);
                    PRAGMA journal_size_limit = \(2 * logSize); PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1
                    """)
            // On macOS fsync leaves the bytes in the memory of the disk; the last two ask for more there, and change nothing elsewhere.
            guard try Int.fetchOne(access, sql: "PRAGMA synchronous") == 2 else {
                throw SQLFault.unavailable(reason: "the engine does not wait for the disk: synchronous is not FULL")
            }
        }
        return pool
    }
}
