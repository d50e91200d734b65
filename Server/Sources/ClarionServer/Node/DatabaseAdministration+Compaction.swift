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
    /// `report` gets the cost and the progress in sentences, and why it ended early when others did not let it write within `patience`.
    ///
    /// Throws `ServiceError` with a sentence for the operator: for PostgreSQL, for an older file without `rewrites`, when the disk has
    /// no room to write it anew, and when other programs do not let it do that within `patience`.
    public func compact(
        rewrites: Bool, patience: Duration = .seconds(30), clock: any ServiceClock = .system,
        report: @escaping @Sendable (String) -> Void
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
                isComplete = try await Self.giveBack(before, of: database, at: file, patience, clock, report)
            } else {
                try await Self.rewrite(before, of: database, at: file, rewrites: rewrites, patience, report)
            }
            let isCut = try await database.emptyLog(clock: clock)
            return Compaction(before: before.bytes, after: try await database.space().bytes, isCut: isCut, isComplete: isComplete)
        }
    }

    /// Whether all were given back.
    private static func giveBack(
        _ before: SQLiteDatabase.Space, of database: SQLiteDatabase, at file: String, _ patience: Duration,
        _ clock: any ServiceClock, _ report: @escaping @Sendable (String) -> Void
    ) async throws -> Bool {
        do {
            try await database.giveBackFreePages(clock: clock, patience: patience) { done, steps in
                guard done * 10 / steps > (done - 1) * 10 / steps else { return }
                report("\(done * 100 / steps) % of \(megabytes(before.freeBytes)) MB are given back")
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
        try cost.requireRoom { Doctor.freeSpace(at: $0) }
        do { try await database.rewrite(patience: patience) } catch let fault as SQLFault where fault.isBusy {
            let reason = othersWrote(file, patience)
            throw ServiceError(.storageUnavailable, "\(reason), and nothing was done; stop the server and run this again")
        }
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
