import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServiceErrors

/// Makes the database file as short as its rows need.
extension DatabaseAdministration {
    /// What a compaction did to the file.
    public struct Compaction: Hashable, Sendable {
        /// Bytes that the pages of the file had before and have now.
        public var before, after: Int64
        /// Whether the file has that length already. Else a reader kept the log, and a later checkpoint of the server cuts the file.
        public var isCut: Bool
        /// Whether all of it was done. Else other programs wrote all the time, and free pages are left.
        public var isComplete: Bool
    }

    /// Gives the space of deleted rows in the database file back to the file system. A file that this version made is compacted in
    /// short transactions while a server uses it. An older file is written anew if `rewrites` is true, and left alone otherwise.
    /// `report` gets the cost in a sentence, and why it ended early when others did not let it write within `patience`.
    ///
    /// Throws `ServiceError` with a sentence for the operator: for PostgreSQL, for an older file without `rewrites`, when the disk has
    /// no room to write it anew, and when other programs do not let it do that within `patience`.
    public func compact(
        rewrites: Bool, patience: Duration = .seconds(30), clock: any ServiceClock = .system,
        progress: WorkProgress = WorkProgress(), report: (String) -> Void
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
            var isComplete = true
            if before.isIncremental {
                isComplete = try await Self.giveBack(before, of: database, at: file, patience, clock, progress, report)
            } else {
                let cost = try Self.cost(of: before, at: file, rewrites: rewrites)
                report("Writing \(file) anew: \(cost.sentence)")
                try cost.requireRoom { Doctor.freeSpace(at: $0) }
                try await Self.rewrite(before, of: database, at: file, patience, progress)
            }
            let isCut = try await database.emptyLog(clock: clock)
            return Compaction(before: before.bytes, after: try await database.space().bytes, isCut: isCut, isComplete: isComplete)
        }
    }

    /// Whether all were given back.
    private static func giveBack(
        _ before: SQLiteDatabase.Space, of database: SQLiteDatabase, at file: String, _ patience: Duration,
        _ clock: any ServiceClock, _ progress: WorkProgress, _ report: (String) -> Void
    ) async throws -> Bool {
        progress.begin("giving free pages back", total: before.freeBytes)
        let step = Int64(SQLiteDatabase.compactionStep) * before.pageSize
        do {
            try await database.giveBackFreePages(clock: clock, patience: patience) { done, _ in
                progress.advance(to: done * step)
            }
            return true
        } catch let fault as SQLFault where fault.isBusy {
            let reason = othersWrote(file, patience)
            report("\(reason), and free space is left; run this again when they write less")
            return false
        }
    }

    private static func othersWrote(_ file: String, _ patience: Duration) -> String {
        let seconds = patience.components.seconds
        return "other programs wrote into \(file) for \(seconds) seconds without a pause"
    }

    private static func cost(
        of before: SQLiteDatabase.Space, at file: String, rewrites: Bool
    ) throws(ServiceError) -> RewriteCost {
        let cost = RewriteCost(bytes: before.usedBytes, file: file)
        guard rewrites else {
            throw ServiceError(
                .conflict,
                """
                \(file) is of an earlier version, whose files cannot be compacted in steps; nothing was done. With --rewrite it is \
                written anew: \(cost.sentence)
                """)
        }
        return cost
    }

    /// Reads all pages in use, and then writes about as many into the log. The engine does not report the second half, but the log grows.
    private static func rewrite(
        _ before: SQLiteDatabase.Space, of database: SQLiteDatabase, at file: String, _ patience: Duration,
        _ progress: WorkProgress
    ) async throws {
        let log = database.logBytes
        progress.begin("writing the file anew", total: before.usedBytes * 2) { max(0, database.logBytes - log) }
        do {
            try await database.rewrite(patience: patience) { progress.advance(to: min($0, before.usedBytes)) }
        } catch let fault as SQLFault where fault.isBusy {
            let reason = othersWrote(file, patience)
            throw ServiceError(.storageUnavailable, "\(reason), and nothing was done; stop the server and run this again")
        }
        progress.begin("emptying the log")
    }

    /// Rounded down.
    static func megabytes(_ bytes: Int64) -> String { "\(bytes / 1_000_000)" }
}

extension SQLFault {
    /// Whether another connection had the lock.
    fileprivate var isBusy: Bool {
        guard case .unavailable(let reason) = self else { return false }
        return reason.hasPrefix("SQLITE_BUSY")
    }
}
