import PostgresDatabase
import PushHub
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServiceErrors
import SharedAccess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What a server refuses to start on, told in its own words. Nothing is created or migrated, and no row is written.
extension Doctor {
    /// Whether the rows of the data directory and those of the settings are the same.
    static func databaseFileCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("database file") {
            do {
                try NodeStorage.requireWholeRows(settings)
            } catch {
                return .bad(sentence(error), mend: "see From SQLite to PostgreSQL in Documentation/Operations.md")
            }
            guard settings.database == nil else { return .good("none is left to be moved into PostgreSQL") }
            let path = filePath(settings)
            return .good(isFileThere(settings) ? path : "\(path) will be made at the first start")
        }
    }

    /// Whether this program may use the database.
    static func schemaCheck(_ settings: Settings, _ migrator: SchemaMigrator = SchemaMigrator()) -> DoctorCheck {
        DoctorCheck("schema") {
            await finding(settings, mend: "see Upgrades and From SQLite to PostgreSQL in Documentation/Operations.md") {
                database in
                let (found, known) = (try await step(of: database, knowing: migrator.known), migrator.known)
                guard found > 0 else { return .good("the database is empty; the first start makes its tables") }
                return .good(found == known ? "\(found), up to date" : "\(found); the start of the server makes it \(known)")
            }
        }
    }

    /// Whether the master key opens what the database has sealed.
    static func masterKeyCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("master key") {
            let path = settings.dataDirectory + "/" + MasterKeyFile.name
            let mend = "set master-key to the key that the database was made with, or bring back \(path)"
            do {
                let key = try masterKey(settings, path)
                return await finding(settings, mend: mend) { try await tried(key, on: $0, settings) }
            } catch {
                return .bad(sentence(error), mend: mend)
            }
        }
    }

    /// `nil` when the first start would make it: reading it then would make it now.
    private static func masterKey(_ settings: Settings, _ path: String) throws -> MasterKey? {
        guard settings.masterKey != nil || FileManager.default.fileExists(atPath: path) else { return nil }
        return try MasterKeyFile.key(settings)
    }

    /// Opens what a start opens.
    private static func tried(
        _ key: MasterKey?, on database: any SQLDatabase, _ settings: Settings
    ) async throws -> DoctorCheck.Finding {
        let known = SchemaMigrator().known
        let found: Int?
        do {
            found = try await step(of: database, knowing: known)
        } catch SQLFault.newerSchema, SQLFault.unreleasedSchema {
            // The schema has a check of its own.
            found = nil
        }
        guard found != 0 else { return .good("the database holds nothing yet that it would have to open") }
        guard found == known else {
            return .notice("it can be tried on schema \(known) only", mend: "see what is said of the schema")
        }
        // A new key, which a start would make, opens no more than any other that is not the right one.
        let box = SecretBox(key ?? .random())
        let hubs = HubRegistry(store: SQLHubStore(database), box: box, clock: .system)
        let name = try HubRegistry.name(settings.notifications.hubName)
        if try await hubs.hub(named: name) != nil { _ = try await hubs.rules(of: name) }
        _ = try await hubs.rules(of: nil)
        return .good("it opens the keys of the hub and those for all hubs")
    }

    /// Looks at the database that is there. One that does not answer has a check of its own.
    static func finding(
        _ settings: Settings, mend: String,
        none: () async throws -> DoctorCheck.Finding = { .good("there is no database yet") },
        _ look: (any SQLDatabase) async throws -> DoctorCheck.Finding
    ) async -> DoctorCheck.Finding {
        let isElsewhere = settings.database != nil
        do {
            return try await NodeDatabase.explained(settings) { () async throws -> DoctorCheck.Finding in
                do {
                    guard let database = try existing(settings) else { return try await none() }
                    defer { try? database.close() }
                    return try await look(database)
                } catch SQLFault.unavailable(_) where isElsewhere, SQLFault.misconfigured(_) where isElsewhere {
                    return .notice("it is not known while the database does not answer", mend: "see what is said of the database")
                }
            }
        } catch {
            return .bad(sentence(error), mend: mend)
        }
    }

    /// Opens a database, and does not make one: a file is opened as a command does it beside a server, and only if it holds something.
    static func existing(_ settings: Settings) throws -> (any SQLDatabase)? {
        if let place = settings.database {
            return try connect(to: place)
        }
        guard isFileThere(settings) else { return nil }
        return try SQLiteDatabase(path: filePath(settings), access: .command)
    }

    private static func filePath(_ settings: Settings) -> String { settings.dataDirectory + "/clarion.sqlite" }

    /// An empty file is what a start leaves that was cut off at once.
    private static func isFileThere(_ settings: Settings) -> Bool {
        var status = stat()
        return stat(filePath(settings), &status) == 0 && status.st_size > 0
    }

    /// The last step of the schema; 0 for an empty database. Throws `SQLFault.newerSchema` and `unreleasedSchema` as the migrator does,
    /// which would make its table where there is none.
    private static func step(of database: any SQLDatabase, knowing known: Int) async throws -> Int {
        guard try await database.tableNames().contains(SchemaMigrator.table) else { return 0 }
        let found = try await database.read { try SchemaMigrator.version($0) }
        guard found <= known else { throw SQLFault.newerSchema(found: found, known: known) }
        guard found > 0 else { return 0 }
        let oldest = try await SchemaFence(database).oldest()
        guard oldest <= known else { throw SQLFault.newerSchema(found: oldest, known: known) }
        return found
    }

    private static func sentence(_ error: any Error) -> String {
        (error as? ServiceError)?.detail ?? "it cannot be looked at: \(error)"
    }
}
