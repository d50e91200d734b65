import PostgresDatabase
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServiceErrors

/// Which database the settings mean, and what an operator is told of it.
enum NodeDatabase {
    static func open(_ settings: Settings, _ access: NodeStorage.Access) throws -> any SQLDatabase {
        guard let place = settings.database else { return try openFile(settings, access) }
        try NodeStorage.makeDirectory(settings.dataDirectory)
        return try explained(settings) {
            try PostgresDatabase(place.url, limits: PostgresLimits(connections: place.connections), pooler: place.pooler)
        }
    }

    /// Opens the database file of the data directory, whether the settings name a database elsewhere or not.
    static func openFile(_ settings: Settings, _ access: NodeStorage.Access) throws -> SQLiteDatabase {
        try NodeStorage.makeDirectory(settings.dataDirectory)
        return try explained(settings) {
            let path = settings.dataDirectory + "/clarion.sqlite"
            // Only who has the lock knows that nobody is putting the file away at this moment.
            return try SQLiteDatabase(path: path, access: access == .server ? .server : .command) {
                try RetiredDatabaseFile(path: path).requireNotRetired()
            }
        }
    }

    /// How a step of a start waits for a database that others may be starting; a file in the data directory is not waited for.
    static func patiently<Value>(
        _ settings: Settings, _ clock: any ServiceClock, _ step: () async throws -> Value
    ) async throws -> Value {
        guard settings.database != nil else { return try await step() }
        return try await StartPatience(clock: clock, place: place(settings))(step)
    }

    /// Brings the schema to what this program needs, as far as the access allows.
    static func prepare(
        _ database: any SQLDatabase, _ settings: Settings, _ access: NodeStorage.Access, _ clock: any ServiceClock,
        _ migrator: SchemaMigrator = SchemaMigrator()
    ) async throws {
        try await explained(settings) {
            switch access {
            case .server:
                let takeover = SchemaTakeover(database: database, clock: clock, migrator: migrator)
                try await patiently(settings, clock) { _ = try await takeover.run() }
            // Beside a running server of another version a change of the schema would break that server.
            case .command: try await migrator.requireCurrent(database, at: clock.now)
            }
        }
    }

    /// Faults of the database become sentences for the operator.
    static func explained<Value>(_ settings: Settings, _ work: () async throws -> Value) async throws -> Value {
        do { return try await work() } catch let fault as SQLFault {
            throw ServiceError(.storageUnavailable, sentence(fault, settings))
        }
    }

    private static func explained<Value>(_ settings: Settings, _ work: () throws -> Value) throws -> Value {
        do { return try work() } catch let fault as SQLFault {
            throw ServiceError(.storageUnavailable, sentence(fault, settings))
        }
    }

    private static func place(_ settings: Settings) -> String {
        settings.database.map { "at \($0.url)" } ?? "in \(settings.dataDirectory)"
    }

    private static func sentence(_ fault: SQLFault, _ settings: Settings) -> String {
        let place = place(settings)
        return switch fault {
        case .lockedByAnotherProcess:
            "another server uses \(settings.dataDirectory); stop it, or name another directory for this one"
        case .newerSchema(DatabaseMove.mark, _):
            "a move into the database \(place) is not finished; run clarion database move again"
        case .newerSchema(let found, let known):
            "the database \(place) has schema \(found), this version knows up to \(known); run the newer version of clarion"
        case .olderSchema(let found, let known):
            """
            the database \(place) has schema \(found), this command needs \(known); start this version's server once, or stop \
            the server and run clarion database upgrade
            """
        case .unreleasedSchema:
            """
            the database \(place) was made by a development version before 1.0; there is no upgrade from it. Start on an empty \
            database, or go on with the version that made this one
            """
        case .unavailable(let reason), .misconfigured(let reason): "the database \(place) cannot be used: \(reason)"
        case .damaged(let reason):
            "the database \(place) is damaged or is none (\(reason)); restore a backup, see Backup and restoration in Documentation/Operations.md"
        default: "the database \(place) cannot be opened: \(fault)"
        }
    }
}
