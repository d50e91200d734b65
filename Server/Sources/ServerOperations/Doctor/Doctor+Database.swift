import Logging
import PostgresDatabase
import RichPushModel
import SQLStorage
import ServerSettings
import ServerStorage
import ServiceErrors

extension Doctor {
    /// Asks PostgreSQL for the time; `nil` when the database is a file in the data directory.
    static func databaseCheck(_ settings: Settings) -> DoctorCheck? {
        guard let place = settings.database else { return nil }
        return DoctorCheck("database") {
            do {
                let database = try connect(to: place)
                defer { database.close() }
                // By itself: a storage port keeps to itself what the database said.
                _ = try await database.read { try $0.rows(SQLStatement("SELECT 1"), []) }
                let clock = NodeClock(.system)
                try await clock.measure { try await SQLNodeStore(database).time() }
                let ahead = clock.ahead.wholeMilliseconds
                guard abs(ahead) > 2_000 else { return .good("\(place.url) answers") }
                return .notice(
                    "\(place.url) answers; its clock differs from this machine's by \(abs(ahead)) ms",
                    mend: "let both machines keep the time by NTP; the database's counts until then")
            } catch {
                let reason =
                    switch error {
                    case SQLFault.unavailable(let reason), SQLFault.misconfigured(let reason): reason
                    case let error as ServiceError: error.detail ?? error.code.rawValue
                    default: "it cannot be opened"
                    }
                return .bad(
                    "\(place.url): \(reason)", mend: "look at database-url; the log of a server that starts says more")
            }
        }
    }

    /// What it says of the database is in the findings; the log of its own would repeat it between them.
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
            await finding(settings, mend: "see Which settings keep what was acknowledged in Documentation/PostgreSQL.md") {
                database in
                let findings = try await DatabaseSafety.findings(database, settings)
                guard let first = findings.first else { return .good("the server's settings keep every acknowledged write") }
                let found = findings.map(\.sentence).joined(separator: "; ")
                let remedies = findings.map(\.remedy).joined(separator: "; ")
                return DatabaseSafety.refusal(of: first, settings) == nil
                    ? .notice(found, mend: remedies) : .bad(found, mend: remedies)
            }
        }
    }
}
