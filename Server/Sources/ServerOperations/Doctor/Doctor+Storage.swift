import ContentStorage
import Logging
import PostgresDatabase
import PushHub
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServerSettings
import ServerStorage
import ServiceErrors
import SharedAccess

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

/// What a server refuses to start on, with its own messages. Nothing is created or migrated, and no row is written.
extension Doctor {
    /// Whether the rows of the data directory and those of the settings are the same.
    static func databaseFileCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("database file") {
            do {
                try NodeStorage.requireWholeRows(settings)
            } catch {
                return .bad(
                    sentence(error),
                    remedy: "see Backup and restoration, and From SQLite to PostgreSQL, in Documentation/Operations.md")
            }
            guard settings.database == nil else { return .good("none is left to be moved into PostgreSQL") }
            let path = filePath(settings)
            return .good(isFileThere(settings) ? path : "\(path) will be made at the first start")
        }
    }

    /// Whether this program may use the database.
    static func schemaCheck(_ settings: Settings, _ migrator: SchemaMigrator = SchemaMigrator()) -> DoctorCheck {
        DoctorCheck("schema") {
            await finding(settings, remedy: "see Upgrades and From SQLite to PostgreSQL in Documentation/Operations.md") {
                database in
                let (found, known) = (try await step(of: database, knowing: migrator.known), migrator.known)
                guard found > 0 else {
                    try ContentsWithoutDatabase.refuseEmpty(settings)
                    return .good("the database is empty; the first start makes its tables")
                }
                if found == known { try await ContentsWithoutDatabase.refuseNew(database, settings) }
                return .good(found == known ? "\(found), up to date" : "\(found); the start of the server makes it \(known)")
            }
        }
    }

    /// Whether the master key opens what the database has sealed.
    static func masterKeyCheck(_ settings: Settings) -> DoctorCheck {
        DoctorCheck("master key") {
            let path = settings.dataDirectory + "/" + MasterKeyFile.name
            let remedy = "set master-key to the key that the database was made with, or bring back \(path)"
            do {
                let key = try MasterKeyFile.existing(settings)
                let none = DoctorCheck.Finding.good("the database holds nothing yet that it would have to open")
                return await finding(settings, remedy: remedy) { database in
                    try await opening(database, with: key, settings, none: none) { hubs in
                        // What a start opens.
                        let name = try HubRegistry.name(settings.notifications.hubName)
                        if try await hubs.hub(named: name) != nil { _ = try await hubs.rules(of: name) }
                        _ = try await hubs.rules(of: nil)
                        return .good("it opens the keys of the hub and those for all hubs")
                    }
                }
            } catch {
                return .bad(sentence(error), remedy: remedy)
            }
        }
    }

    /// Looks at the hubs of a database of this program's schema. Throws what a start refuses, a missing master key among it.
    static func opening(
        _ database: any SQLDatabase, with key: MasterKey?, _ settings: Settings, none: DoctorCheck.Finding,
        _ look: (HubRegistry) async throws -> DoctorCheck.Finding
    ) async throws -> DoctorCheck.Finding {
        let known = SchemaMigrator().known
        let found: Int?
        do {
            found = try await step(of: database, knowing: known)
        } catch SQLFault.newerSchema, SQLFault.unreleasedSchema {
            // The schema has a check of its own.
            found = nil
        }
        guard found != 0 else { return none }
        guard found == known else {
            return .notice("it can be tried on schema \(known) only", remedy: "see what is said of the schema")
        }
        if key == nil, try await MasterKeyFile.holdsSecrets(database) { throw MasterKeyFile.missing(settings) }
        return try await look(
            HubRegistry(store: SQLHubStore(database), box: SecretBox(key ?? .random()), clock: .system))
    }

    /// Looks at the database that is there. One that does not answer has a check of its own.
    static func finding(
        _ settings: Settings, remedy: String,
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
                    return .notice(
                        "it is not known while the database does not answer", remedy: "see what is said of the database")
                }
            }
        } catch {
            return .bad(sentence(error), remedy: remedy)
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

    static func sentence(_ error: any Error) -> String {
        (error as? ServiceError)?.detail ?? "it cannot be checked: \(error)"
    }
}

extension Doctor {
    /// Asks PostgreSQL for the time; `nil` when the database is a file in the data directory.
    static func databaseCheck(_ settings: Settings) -> DoctorCheck? {
        guard let place = settings.database else { return nil }
        return DoctorCheck("database") {
            do {
                let database = try connect(to: place)
                defer { database.close() }
                // A direct query: a storage port does not pass on the database's message.
                _ = try await database.read { try $0.rows(SQLStatement("SELECT 1"), []) }
                let clock = NodeClock(.system)
                try await clock.measure { try await SQLNodeStore(database).time() }
                let ahead = clock.ahead.wholeMilliseconds
                guard abs(ahead) > 2_000 else { return .good("\(place.url) answers") }
                return .notice(
                    "\(place.url) answers; its clock differs from this machine's by \(abs(ahead)) ms",
                    remedy: "let both machines keep the time by NTP; the database's counts until then")
            } catch {
                let reason =
                    switch error {
                    case SQLFault.unavailable(let reason), SQLFault.misconfigured(let reason): reason
                    case let error as ServiceError: error.detail ?? error.code.rawValue
                    default: "it cannot be opened"
                    }
                return .bad(
                    "\(place.url): \(reason)", remedy: "look at database-url; the log of a server that starts says more")
            }
        }
    }

    /// Without a log: the findings already say what the connection reports.
    static func connect(to place: Settings.Database) throws -> PostgresDatabase {
        try PostgresDatabase(
            place.url, limits: PostgresLimits(connections: 2), pooler: place.pooler,
            logger: Logger(label: "clarion.database") { _ in SwiftLogNoOpLogHandler() })
    }
}

extension Doctor {
    /// Whether the settings of PostgreSQL keep what was acknowledged; `nil` when the database is a file, which sets them for itself.
    static func databaseSafetyCheck(_ settings: Settings) -> DoctorCheck? {
        guard settings.database != nil else { return nil }
        return DoctorCheck("kept writes") {
            await finding(settings, remedy: "see Which settings keep what was acknowledged in Documentation/PostgreSQL.md") {
                database in
                let findings = try await DatabaseSafety.findings(database, settings)
                guard let first = findings.first else { return .good("the server's settings keep every acknowledged write") }
                let found = findings.map(\.sentence).joined(separator: "; ")
                let remedies = findings.map(\.remedy).joined(separator: "; ")
                return DatabaseSafety.refusal(of: first, settings) == nil
                    ? .notice(found, remedy: remedies) : .bad(found, remedy: remedies)
            }
        }
    }
}

extension Doctor {
    /// Writes, lists, reads and removes a few bytes; `nil` when contents lie in the data directory.
    static func contentStoreCheck(_ settings: Settings) -> DoctorCheck? {
        guard let place = settings.contentStore else { return nil }
        return DoctorCheck("content store") {
            var options = S3Options(place)
            (options.attemptDeadline, options.requestDeadline) = (.seconds(3), .seconds(5))
            let name = "bucket \(place.location.bucket) at \(place.location.endpoint)"
            do {
                let store = try S3ContentStore(options)
                let condition = await Result.awaiting { try await store.condition() }
                await store.shutDown()
                switch try condition.get() {
                case .good: return .good("\(name) can be written and read")
                case .unavailable(let sentence):
                    return .bad(
                        "\(name): \(sentence)",
                        remedy: "let the machine reach it; a server starts, and is not ready before it does"
                    )
                case .refused(let sentence):
                    return .bad("\(name): \(sentence)", remedy: "look at the settings that begin with s3-")
                }
            } catch {
                return .bad(
                    (error as? ServiceError)?.detail ?? "\(name) cannot be checked", remedy: "see Documentation/Settings.md")
            }
        }
    }
}

extension Doctor {
    /// Whether the contents in the bucket are those of the database, as a start wants it; `nil` when contents lie in the data directory.
    static func contentOwnerCheck(_ settings: Settings) -> DoctorCheck? {
        guard let place = settings.contentStore else { return nil }
        return DoctorCheck("owner of contents") {
            var options = S3Options(place)
            (options.attemptDeadline, options.requestDeadline) = (.seconds(3), .seconds(5))
            do {
                let bucket = try S3ContentStore(options)
                let mark = await Result.awaiting { try await bucket.owner() }
                await bucket.shutDown()
                return await ownerFinding(settings, place, try mark.get())
            } catch {
                return .notice(
                    "it is not known while the content store cannot be read", remedy: "see what is said of the content store")
            }
        }
    }

    private static func ownerFinding(
        _ settings: Settings, _ place: Settings.ContentStore, _ mark: S3OwnerMark?
    ) async -> DoctorCheck.Finding {
        let bucket = ContentOwnership.name(of: place)
        func judged(_ owner: ContentOwner?, at place: String) -> DoctorCheck.Finding {
            let standing = BucketOwnership(bucket: mark, database: owner, place: place)
            if let refusal = standing.refusal(bucket: bucket) { return .bad(refusal, remedy: ownerRemedy) }
            return .good(
                standing == .own
                    ? "those of this database" : "owned by no database yet; the first start makes them this database's")
        }
        return await finding(settings, remedy: ownerRemedy, none: { judged(nil, at: "") }) { database in
            let claimant = try await BucketOwner(database, settings)
            return judged(try await claimant.store.owner(), at: claimant.place)
        }
    }

    private static let ownerRemedy = "see One bucket and two databases in Documentation/Operations.md"
}

extension Result where Failure == any Error {
    /// What asynchronous work came to.
    static func awaiting(_ work: () async throws -> Success) async -> Result {
        do { return .success(try await work()) } catch { return .failure(error) }
    }
}
