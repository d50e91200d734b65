import LongWork
import PostgresDatabase
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServerSettings
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

/// What the operator does with the database itself.
public struct DatabaseAdministration: Sendable {
    let settings: Settings

    /// Works on the data directory of these settings.
    public init(settings: Settings) { self.settings = settings }

    /// Brings the schema up to date, as the start of the server does; returns the schema's number before and after. Throws when a
    /// server runs on the database.
    public func upgrade(progress: WorkProgress = WorkProgress()) async throws -> (from: Int, to: Int) {
        try await NodeStorage.upgrade(settings, clock: .system, progress: progress)
    }

    /// A node that serves the database.
    public struct Node: Hashable, Sendable {
        public var name: String
        public var role: String
        public var version: String
        public var startedAt: Timestamp
        public var seenAt: Timestamp
        /// Whether it announced itself recently.
        public var isPresent: Bool
        /// Whether it is there and pushes leave from it. A role that this version does not know is a newer one's, which may send.
        public var sends: Bool { isPresent && NodeRole(rawValue: role)?.dispatches ?? true }
    }

    /// The nodes that serve the database, or did within the last hour without taking leave. None for a file in the data directory.
    public func nodes() async throws -> [Node] {
        guard settings.database != nil else { return [] }
        return try await NodeStorage.during(command: settings) { storage in
            let now = storage.clock.now
            return try await SQLNodeStore(storage.database).members(seenSince: now - .seconds(3600)).map { member in
                Node(
                    name: member.id, role: member.role, version: member.version, startedAt: member.startedAt,
                    seenAt: member.seenAt, isPresent: now - member.seenAt < NodeMembership.absence)
            }
        }
    }

    /// Moves the database file of the data directory into the PostgreSQL database of the settings, which has to be empty: all or
    /// nothing, with every row read back and compared. The file keeps its rows and gets another name, so that no server starts on it by
    /// mistake. `report` gets a sentence when there was only the end of an earlier move to do.
    ///
    /// Throws `ServiceError` with a sentence for the operator: while a server runs on the file, among others.
    public func move(
        progress: WorkProgress = WorkProgress(), report: (String) -> Void
    ) async throws -> [(table: String, rows: Int)] {
        guard let place = settings.database else {
            throw ServiceError(.notReady, "database-url does not say where to move to")
        }
        let path = settings.dataDirectory + "/clarion.sqlite"
        let file = RetiredDatabaseFile(path: path)
        try file.requireOne()
        if file.isThere, try await finishMove(file) {
            report("the move before was whole but for its last step, which is done now")
            return []
        }
        guard FileManager.default.fileExists(atPath: path) else { throw ServiceError(.notFound, "there is no \(path)") }
        var fileSettings = settings
        fileSettings.database = nil
        let old = try NodeDatabase.openFile(fileSettings, .server)
        let counts: [(table: String, rows: Int)]
        do {
            try await NodeDatabase.prepare(old, fileSettings, .server, .system)
            // Its lock is kept until it has its other name, so that no server starts on it in between.
            let owner = try await BucketOwner(old, fileSettings)
            counts = try await move(old, to: place, progress) { new in
                try await owner.hand(to: BucketOwner(new, settings))
                try old.close { try file.put() }
            }
        } catch {
            try? old.close()
            throw error
        }
        return counts
    }

    /// Brings a move to its end that was cut off when the file had been put away; whether there was one.
    private func finishMove(_ file: RetiredDatabaseFile) async throws -> Bool {
        let new = try NodeDatabase.open(settings, .server)
        defer { try? new.close() }
        return try await NodeDatabase.explained(settings) {
            guard try await SchemaMigrator.version(of: new) == DatabaseMove.mark else { return false }
            try file.put()
            return try await DatabaseMove.finish(new)
        }
    }

    private func move(
        _ old: any SQLDatabase, to place: Settings.Database, _ progress: WorkProgress,
        retiring: (_ new: any SQLDatabase) async throws -> Void
    ) async throws -> [(table: String, rows: Int)] {
        let new = try NodeDatabase.open(settings, .server)
        defer { try? new.close() }
        let now = SystemClock().now
        return try await NodeDatabase.explained(settings) {
            // A database that a move before marked is newer than this program, as far as the migrator knows.
            do { try await SchemaMigrator().migrate(new, at: now) } catch SQLFault.newerSchema(DatabaseMove.mark, _) {}
            progress.begin("counting rows")
            do {
                return try await DatabaseMove(from: old, to: new) { step in
                    switch step {
                    case .began(let phase, let rows):
                        progress.begin(phase.rawValue, total: Int64(rows), unit: .counted("rows"))
                    case .advanced(let rows, let table): progress.advance(to: Int64(rows), at: table)
                    }
                }.run(at: now) { try await retiring(new) }
            } catch let fault as DatabaseMove.Fault { throw Self.explained(fault, place) }
        }
    }

    private static func explained(_ fault: DatabaseMove.Fault, _ place: Settings.Database) -> ServiceError {
        switch fault {
        case .notEmpty(let table):
            ServiceError(.conflict, "the database at \(place.url) is not empty: there are rows in \(table); name a new one")
        case .differs(let table):
            ServiceError(
                .conflict,
                "\(table) is not the same in both databases: something wrote meanwhile; stop it and run this again")
        case .changed:
            ServiceError(
                .conflict,
                "a command or another program wrote into the database file meanwhile: see that nothing does, and run this again")
        case .unstorable(let table):
            ServiceError(
                .invalidField,
                "PostgreSQL cannot keep a row of \(table): a text with a zero byte, or a handle of more than 2,600 bytes")
        }
    }
}

/// The database file and its copies.
extension DatabaseAdministration {
    /// Copies the database file as it is at one moment into a new file, while the server goes on. For PostgreSQL its own tools do that.
    ///
    /// Throws `ServiceError` with a sentence for the operator.
    public func backUp(to path: String, progress: WorkProgress = WorkProgress()) async throws {
        guard settings.database == nil else {
            throw ServiceError(.notReady, "the database is PostgreSQL; back it up with pg_dump")
        }
        let source = try databaseFile()
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        // The dot is in a folder and not in a file.
        guard FileManager.default.fileExists(atPath: folder + "/.") else {
            throw ServiceError(.notFound, "there is no folder \(folder) for the backup")
        }
        try await NodeDatabase.explained(settings) {
            // The copy could not be restored, and opening another program's file to copy it would change that file.
            guard try await DatabaseFileCheck.isOurs(source) else {
                throw ServiceError(.notReady, "\(source) is empty or no database of clarion")
            }
            let database = try SQLiteDatabase(path: source, access: .command)
            defer { try? database.close() }
            let total = try await database.space().usedBytes
            progress.begin("copying the database", total: total)
            try await database.backUp(to: path) { progress.advance(to: min($0, total)) }
        }
    }

    /// Looks for damage in the database file, or in another one: a backup. A server may be using it.
    ///
    /// Returns the file that was read. Throws `ServiceError` with what is wrong.
    public func check(_ path: String?, progress: WorkProgress = WorkProgress()) async throws -> String {
        guard path != nil || settings.database == nil else {
            throw ServiceError(.notReady, "the database is PostgreSQL; pg_amcheck looks for damage there")
        }
        let file = try path ?? databaseFile()
        var status = stat()
        guard stat(file, &status) == 0 else { throw ServiceError(.notFound, "there is no '\(file)' that can be read") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw ServiceError(.invalidField, "\(file) is no file") }
        let defects: [String]
        do {
            defects = try await DatabaseFileCheck.defects(of: file) { phase in
                switch phase {
                case .pages(let bytes): progress.begin("reading every page of \(Self.megabytes(bytes)) MB")
                case .indices: progress.begin("comparing every index with its table")
                }
            }
        } catch SQLFault.damaged(let reason) {
            defects = ["\(reason): the engine finds no way through it, or it is no database"]
        } catch SQLFault.unavailable(let reason), SQLFault.refused(_, let reason) {
            throw ServiceError(.storageUnavailable, "\(file) cannot be read: \(reason)")
        }
        guard !defects.isEmpty else { return file }
        let list = defects.map { "\n  \($0)" }.joined()
        let remedy =
            path == nil
            ? "restore a backup, see Backup and restoration in Documentation/Operations.md" : "it is no good as a backup"
        throw ServiceError(.storageUnavailable, "\(file) is damaged or is no database of clarion; \(remedy):\(list)")
    }

    /// The path of the database file. Throws `notFound` when there is none.
    func databaseFile() throws(ServiceError) -> String {
        let file = settings.dataDirectory + "/clarion.sqlite"
        guard FileManager.default.fileExists(atPath: file) else { throw ServiceError(.notFound, "there is no \(file)") }
        return file
    }
}
