import PostgresDatabase
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServiceErrors

/// Which database the settings mean, and what an operator is told of it.
enum NodeDatabase {
    /// How long a start waits for PostgreSQL, which may be starting at the same moment.
    private static let patience: Duration = .seconds(20)

    static func open(_ settings: Settings, _ access: NodeStorage.Access) throws -> any SQLDatabase {
        try NodeStorage.makeDirectory(settings.dataDirectory)
        do {
            if let place = settings.database {
                return try PostgresDatabase(
                    place.url, limits: PostgresLimits(connections: place.connections), pooler: place.pooler)
            }
            let path = settings.dataDirectory + "/clarion.sqlite"
            try RetiredDatabaseFile(path: path).requireNotRetired()
            return try SQLiteDatabase(path: path, access: access == .server ? .server : .command)
        } catch let fault as SQLFault {
            throw ServiceError(.storageUnavailable, sentence(fault, settings))
        }
    }

    /// Brings the schema to what this program needs, as far as the access allows.
    static func prepare(
        _ database: any SQLDatabase, _ settings: Settings, _ access: NodeStorage.Access, _ clock: any ServiceClock
    ) async throws {
        try await explained(settings) {
            switch access {
            case .server: try await migrate(database, waits: settings.database != nil, clock)
            // Beside a running server of another version a change of the schema would break that server.
            case .command: try await SchemaMigrator().requireCurrent(database, at: clock.now)
            }
        }
    }

    private static func migrate(_ database: any SQLDatabase, waits: Bool, _ clock: any ServiceClock) async throws {
        let end = clock.uptime + patience
        while true {
            do {
                try await SchemaTakeover(database: database, clock: clock).run()
                return
            } catch SQLFault.unavailable where waits && clock.uptime < end {
                try await clock.sleep(for: .seconds(1))
            }
        }
    }

    /// Faults of the database become sentences for the operator.
    static func explained<Value>(_ settings: Settings, _ work: () async throws -> Value) async throws -> Value {
        do { return try await work() } catch let fault as SQLFault {
            throw ServiceError(.storageUnavailable, sentence(fault, settings))
        }
    }

    private static func sentence(_ fault: SQLFault, _ settings: Settings) -> String {
        let place = settings.database.map { "at \($0.url)" } ?? "in \(settings.dataDirectory)"
        return switch fault {
        case .lockedByAnotherProcess:
            "another server uses \(settings.dataDirectory); stop it, or give this one another data-directory"
        case .newerSchema(DatabaseMove.mark, _):
            "a move into the database \(place) is not finished; run clarion database move again"
        case .newerSchema(let found, let known):
            "the database \(place) has schema \(found), this version knows up to \(known); run the newer version of clarion"
        case .olderSchema(let found, let known):
            """
            the database \(place) has schema \(found), this command needs \(known); start this version's server once, or stop \
            the server and run clarion database upgrade
            """
        case .unavailable(let reason): "the database \(place) cannot be used: \(reason)"
        default: "the database \(place) cannot be opened: \(fault)"
        }
    }
}
