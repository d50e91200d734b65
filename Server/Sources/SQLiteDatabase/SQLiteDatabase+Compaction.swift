import GRDB
import RichPushModel
import SQLStorage

/// Gives the pages of deleted rows back to the file system, in short transactions beside a running server.
extension SQLiteDatabase {
    /// The most pages, of whatever size the file has, that one transaction of a compaction moves; other writers wait for one such transaction at most.
    public static let compactionStep = 128
    /// The least time between two transactions of a compaction. A writer asks for the lock more often in its first tenth of a second.
    static let compactionPause: Duration = .milliseconds(25)
    /// How often `emptyLog` tries, and the time between two of its tries.
    private static let emptyingTries = 20
    private static let emptyingPause: Duration = .milliseconds(100)

    /// The pages of the file.
    public struct Space: Hashable, Sendable {
        public var pageSize: Int64
        /// Pages of the file, with the free ones.
        public var pages: Int64
        /// Pages that hold nothing since their rows were deleted. New rows use them first.
        var freePages: Int64
        /// Whether the file was made so that free pages can be given back without writing it anew.
        public var isIncremental: Bool

        /// Bytes of the file, when its log is empty.
        public var bytes: Int64 { pages * pageSize }
        public var freeBytes: Int64 { freePages * pageSize }
        /// Bytes of the other pages.
        public var usedBytes: Int64 { bytes - freeBytes }
    }

    /// Reads how many pages there are and how many are free. Throws `SQLFault`.
    public func space() async throws -> Space {
        try await read { try Self.measured($0) }
    }

    /// Gives back the pages that are free now, at most `compactionStep` in each transaction, and pauses between two of them. `progress`
    /// gets how many transactions are done and how many there will be at most. A process that ends in between leaves a sound file with
    /// fewer free pages.
    ///
    /// Does nothing for a file that is not incremental. The file gets shorter with `emptyLog`. Each transaction waits for the write lock
    /// for `lockTimeout` at most.
    ///
    /// Throws `SQLFault`, `unavailable` when others write all the time, what `progress` throws, and `CancellationError` between two
    /// transactions. What was given back until then stays so.
    public func giveBackFreePages(
        clock: any ServiceClock, lockTimeout: Duration = .seconds(30),
        progress: @Sendable (_ done: Int64, _ steps: Int64) async throws -> Void = { _, _ in }
    ) async throws {
        var space = try await space()
        guard space.isIncremental else { return }
        // Counted at the start: a server that deletes on and on must not keep a compaction from ending.
        let steps = (space.freePages + Int64(Self.compactionStep) - 1) / Int64(Self.compactionStep)
        var done: Int64 = 0
        while done < steps, space.freePages > 0 {
            let begun = clock.uptime
            space = try await outsideTransaction { access in
                try Self.waiting(lockTimeout, access) {
                    try access.inTransaction(.immediate) {
                        try access.execute(sql: "PRAGMA incremental_vacuum(\(Self.compactionStep))")
                        return .commit
                    }
                    return try Self.measured(SQLiteConnection(access))
                }
            }
            done += 1
            try await progress(done, steps)
            // As long as the transaction took: the other writers have half of the time at least.
            try await clock.sleep(for: max(Self.compactionPause, clock.uptime - begun))
        }
    }

    /// Writes all of the log into the file, which then gets as short as its pages are, and empties the log. Whether that was possible:
    /// not while a reader keeps the log, in which case the next checkpoint of a writer does it. Throws `SQLFault`, and
    /// `CancellationError` between two tries.
    public func emptyLog(clock: any ServiceClock) async throws -> Bool {
        for number in 1...Self.emptyingTries {
            if try await outsideTransaction({ try Self.triesToEmptyLog($0) }) { return true }
            if number < Self.emptyingTries { try await clock.sleep(for: Self.emptyingPause) }
        }
        return false
    }

    /// TRUNCATE has the write lock for all of its time, and its busy timeout would be part of that time: the writes of a server would
    /// fail because of a reader. So PASSIVE, which takes no write lock, copies the log first, and TRUNCATE waits for nothing. A reader
    /// that begins once all is copied reads the file alone, and does not block TRUNCATE.
    private static func triesToEmptyLog(_ access: Database) throws -> Bool {
        try waiting(.zero, access) {
            try access.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)")
            return try Int64.fetchOne(access, sql: "PRAGMA wal_checkpoint(TRUNCATE)") == 0
        }
    }

    /// Writes the whole file anew, without its free pages and so that the next compaction goes in steps. Pages keep their size, which
    /// the engine does not change while the file has a log. All other writers wait until the end. Waits for the write lock for
    /// `lockTimeout` at most.
    /// `reading` gets how many bytes of the file have been read, now and then; the engine writes when it has read them all.
    ///
    /// Throws `SQLFault.unavailable`: when others write all the time, and when the disk is full, in both cases with the file as it was.
    public func rewrite(
        lockTimeout: Duration = .seconds(30), reading: @escaping @Sendable (_ bytes: Int64) -> Void = { _ in }
    ) async throws {
        try await outsideTransaction { access in
            try Self.waiting(lockTimeout, access) {
                try PageReads.during(access, report: reading) {
                    try access.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
                }
            }
        }
    }

    /// Does the work on a connection with this busy timeout.
    private static func waiting<Result>(_ lockTimeout: Duration, _ access: Database, _ work: () throws -> Result) throws -> Result
    {
        let milliseconds = lockTimeout.components.seconds * 1000 + lockTimeout.components.attoseconds / 1_000_000_000_000_000
        let before = try Int64.fetchOne(access, sql: "PRAGMA busy_timeout") ?? 0
        try access.execute(sql: "PRAGMA busy_timeout = \(milliseconds)")
        defer { try? access.execute(sql: "PRAGMA busy_timeout = \(before)") }
        return try work()
    }

    private static func measured(_ connection: any SQLConnection) throws -> Space {
        func number(_ name: String) throws -> Int64 {
            try connection.row(SQLStatement(composed: "PRAGMA \(name)"), [])?.integer(0) ?? 0
        }
        return Space(
            pageSize: try number("page_size"), pages: try number("page_count"), freePages: try number("freelist_count"),
            isIncremental: try number("auto_vacuum") == 2)
    }
}

extension SQLiteDatabase {
    /// Copies the database as it is at one moment into a new file (mode 0600), while servers and commands go on reading and writing.
    /// The file is complete and on disk when this returns, and needs no other beside it. `reading` gets how many bytes of the
    /// database have been read, now and then.
    ///
    /// Throws `SQLFault.unavailable`: when there is something of that name, or when it cannot be written.
    public func backUp(
        to path: String, reading: @escaping @Sendable (_ bytes: Int64) -> Void = { _ in }
    ) async throws {
        // The engine accepts an empty file. Created here, it is never readable by other users.
        try DatabaseFile.createNew(at: path)
        do {
            try await copy(into: path, reading: reading)
            try DatabaseFile.synchronize(path)
            try DatabaseFile.keepName(of: path)
        } catch {
            DatabaseFile.remove(path)
            throw error
        }
    }
}
