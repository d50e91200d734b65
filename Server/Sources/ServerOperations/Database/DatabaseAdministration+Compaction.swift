import LongWork
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServerStorage
import ServiceErrors

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
    /// `report` gets the cost in a sentence, and why it ended early when others did not let it write within `lockTimeout`.
    ///
    /// Throws `ServiceError` with a sentence for the operator: for PostgreSQL, for an older file without `rewrites`, when the disk has
    /// no room to write it anew, and when other programs do not let it do that within `lockTimeout`.
    public func compact(
        rewrites: Bool, lockTimeout: Duration = .seconds(30), clock: any ServiceClock = .system,
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
                isComplete = try await Self.giveBack(before, of: database, at: file, lockTimeout, clock, progress, report)
            } else {
                let cost = try Self.cost(of: before, at: file, rewrites: rewrites)
                report("Writing \(file) anew: \(cost.sentence)")
                try cost.requireRoom { DiskSpace.free(at: $0) }
                try await Self.rewrite(before, of: database, at: file, lockTimeout, progress)
            }
            let isCut = try await database.emptyLog(clock: clock)
            return Compaction(before: before.bytes, after: try await database.space().bytes, isCut: isCut, isComplete: isComplete)
        }
    }

    /// Whether all were given back.
    private static func giveBack(
        _ before: SQLiteDatabase.Space, of database: SQLiteDatabase, at file: String, _ lockTimeout: Duration,
        _ clock: any ServiceClock, _ progress: WorkProgress, _ report: (String) -> Void
    ) async throws -> Bool {
        progress.begin("giving free pages back", total: before.freeBytes)
        let step = Int64(SQLiteDatabase.compactionStep) * before.pageSize
        do {
            try await database.giveBackFreePages(clock: clock, lockTimeout: lockTimeout) { done, _ in
                progress.advance(to: done * step)
            }
            return true
        } catch let fault as SQLFault where fault.isBusy {
            let reason = othersWrote(file, lockTimeout)
            report("\(reason), and free space is left; run this again when they write less")
            return false
        }
    }

    private static func othersWrote(_ file: String, _ lockTimeout: Duration) -> String {
        let seconds = lockTimeout.components.seconds
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
        _ before: SQLiteDatabase.Space, of database: SQLiteDatabase, at file: String, _ lockTimeout: Duration,
        _ progress: WorkProgress
    ) async throws {
        let log = database.logBytes
        progress.begin("writing the file anew", total: before.usedBytes * 2) { max(0, database.logBytes - log) }
        do {
            try await database.rewrite(lockTimeout: lockTimeout) { progress.advance(to: min($0, before.usedBytes)) }
        } catch let fault as SQLFault where fault.isBusy {
            let reason = othersWrote(file, lockTimeout)
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

/// What it costs to write a database file anew. The engine makes the new file as a temporary one first and copies it into the log, which
/// lies beside the old file.
struct RewriteCost {
    /// Bytes of the new file.
    let bytes: Int64
    /// Where the log lies.
    let folder: String
    /// Where the engine makes temporary files.
    let temporary: String

    init(bytes: Int64, file: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.bytes = bytes
        folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        // The order of the engine; it passes over folders that it cannot write.
        let candidates = [environment["SQLITE_TMPDIR"], environment["TMPDIR"], "/var/tmp", "/usr/tmp", "/tmp"].compactMap(\.self)
        temporary = candidates.first { FileManager.default.fileExists(atPath: $0 + "/.") && access($0, W_OK | X_OK) == 0 } ?? "."
    }

    /// The cost as a sentence.
    var sentence: String {
        """
        that needs \(megabytes) MB of free disk in \(folder) and as much in \(temporary) (SQLITE_TMPDIR names another folder) until it is \
        done, and no server can write meanwhile: what it has to write fails after 5 seconds
        """
    }

    /// Throws `notReady` with a sentence where there is less room than needed. `freeSpace` returns the free bytes of a folder's disk,
    /// `nil` when they cannot be found; then nothing is refused.
    func requireRoom(_ freeSpace: (String) -> Int64?) throws(ServiceError) {
        let isOneDisk = Self.device(folder) == Self.device(temporary)
        try require(isOneDisk ? bytes * 2 : bytes, in: folder, freeSpace)
        if !isOneDisk { try require(bytes, in: temporary, freeSpace) }
    }

    private func require(_ bytes: Int64, in folder: String, _ freeSpace: (String) -> Int64?) throws(ServiceError) {
        guard let free = freeSpace(folder), free < bytes else { return }
        throw ServiceError(
            .notReady,
            """
            the disk of \(folder) has \(DatabaseAdministration.megabytes(free)) MB free, and \
            \(DatabaseAdministration.megabytes(bytes)) MB are needed; nothing was done
            """)
    }

    /// Rounded up.
    private var megabytes: Int64 { (bytes + 999_999) / 1_000_000 }

    private static func device(_ path: String) -> UInt64? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(truncatingIfNeeded: status.st_dev) : nil
    }
}
