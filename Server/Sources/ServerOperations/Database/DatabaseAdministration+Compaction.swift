import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServerStorage
import ServiceErrors

/// Makes the database file as short as its rows need.
extension DatabaseAdministration {
    /// What a compaction did to the file.
    public struct Compaction: Hashable, Sendable {
        /// Bytes that the pages of the file had before and have now.
        public var before, after: Int64
        /// Whether the file has that length already. Else a reader kept the log, and a later checkpoint of the server cuts the file.
        public var isCut: Bool
    }

    /// Gives the space of deleted rows in the database file back to the file system. A file that this version made is compacted in
    /// short transactions while a server uses it. An older file is written anew if `rewrites` is true, and left alone otherwise.
    /// `report` gets the cost and the progress in sentences.
    ///
    /// Throws `ServiceError` with a sentence for the operator: for PostgreSQL, for an older file without `rewrites`, when the disk has
    /// no room to write it anew, and when other programs do not let it write within `patience`.
    public func compact(
        rewrites: Bool, patience: Duration = .seconds(30), report: @escaping @Sendable (String) -> Void
    ) async throws -> Compaction {
        guard settings.database == nil else {
            throw ServiceError(
                .notReady, "the database is PostgreSQL; its autovacuum makes the space of deleted rows free for new ones")
        }
        let file = try databaseFile()
        try NodeStorage.requireWholeRows(settings)
        return try await NodeDatabase.explained(settings) {
            guard try await DatabaseFileCheck.isOurs(file) else {
                throw ServiceError(.notReady, "\(file) is empty or no database of clarion")
            }
            let database = try SQLiteDatabase(path: file, access: .command)
            defer { try? database.close() }
            let before = try await database.space()
            if before.isIncremental {
                try await Self.giveBack(before, of: database, report)
            } else {
                try await Self.rewrite(before, of: database, at: file, rewrites: rewrites, patience, report)
            }
            let isCut = try await database.emptyLog()
            return Compaction(before: before.bytes, after: try await database.space().bytes, isCut: isCut)
        }
    }

    private static func giveBack(
        _ before: SQLiteDatabase.Space, of database: SQLiteDatabase, _ report: @escaping @Sendable (String) -> Void
    ) async throws {
        try await database.giveBackFreePages(clock: .system) { done, steps in
            guard done * 10 / steps > (done - 1) * 10 / steps else { return }
            report("\(done * 100 / steps) % of \(megabytes(before.freeBytes)) MB are given back")
        }
    }

    private static func rewrite(
        _ before: SQLiteDatabase.Space, of database: SQLiteDatabase, at file: String, rewrites: Bool, _ patience: Duration,
        _ report: @Sendable (String) -> Void
    ) async throws {
        let cost = RewriteCost(bytes: before.bytes - before.freeBytes, file: file)
        guard rewrites else {
            throw ServiceError(
                .conflict,
                """
                \(file) is of an earlier version, whose files cannot be compacted in steps; nothing was done. With --rewrite it is \
                written anew: \(cost.sentence)
                """)
        }
        report("Writing \(file) anew: \(cost.sentence)")
        try cost.requireRoom { DiskSpace.free(at: $0) }
        do { try await database.rewrite(patience: patience) } catch SQLFault.unavailable(let reason)
            where reason.hasPrefix("SQLITE_BUSY")
        {
            throw ServiceError(
                .storageUnavailable,
                """
                other programs wrote into \(file) for \(patience.components.seconds) seconds without a pause, and nothing was done; \
                stop the server and run this again
                """)
        }
    }

    /// Rounded down.
    static func megabytes(_ bytes: Int64) -> String { "\(bytes / 1_000_000)" }
}
