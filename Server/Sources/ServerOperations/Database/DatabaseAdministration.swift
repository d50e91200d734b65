import PostgresDatabase
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServerSettings
import ServerStorage
import ServiceErrors

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
    public func upgrade() async throws -> (from: Int, to: Int) {
        try await NodeStorage.upgrade(settings, clock: .system)
    }

    /// A node that serves the database.
    public struct Node: Hashable, Sendable {
        public var name: String
        public var role: String
        public var version: String
        public var startedAt: Timestamp
        public var seenAt: Timestamp
        /// Whether it said a moment ago that it is there.
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
    /// mistake. `progress` gets a line now and then.
    ///
    /// Throws `ServiceError` with a sentence for the operator: while a server runs on the file, among others.
    public func move(progress: @escaping @Sendable (String) -> Void) async throws -> [(table: String, rows: Int)] {
        guard let place = settings.database else {
            throw ServiceError(.notReady, "database-url does not say where to move to")
        }
        let path = settings.dataDirectory + "/clarion.sqlite"
        let file = RetiredDatabaseFile(path: path)
        try file.requireOne()
        if file.isThere, try await finishMove(file) {
            progress("the move before was whole but for its last step, which is done now")
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
            let owner = try await ContentClaimant(old, fileSettings)
            counts = try await move(old, to: place, progress) { new in
                try await owner.hand(to: ContentClaimant(new, settings))
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
        _ old: any SQLDatabase, to place: Settings.Database, _ progress: @escaping @Sendable (String) -> Void,
        retiring: (_ new: any SQLDatabase) async throws -> Void
    ) async throws -> [(table: String, rows: Int)] {
        let new = try NodeDatabase.open(settings, .server)
        defer { try? new.close() }
        let now = SystemClock().now
        return try await NodeDatabase.explained(settings) {
            // A database that a move before marked is newer than this program, as far as the migrator knows.
            do { try await SchemaMigrator().migrate(new, at: now) } catch SQLFault.newerSchema(DatabaseMove.mark, _) {}
            do {
                return try await DatabaseMove(from: old, to: new) { phase, table, rows in
                    if rows.isMultiple(of: 50_000) || rows < 500 { progress("\(phase.rawValue) \(table): \(rows)") }
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
