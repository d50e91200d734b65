import Logging
import PostgresDatabase
import SQLStorage
import ServerSettings
import ServiceErrors

/// Whether the settings of a PostgreSQL server keep what Clarion has acknowledged. A database file sets all of this for itself.
package enum DatabaseSafety {
    /// What is found before a start, and tells the log what the operator has to know.
    ///
    /// Throws `not-ready` with the remedy when a crash of the database loses acknowledged writes and no setting allows that.
    package static func require(_ database: any SQLDatabase, _ settings: Settings, logger: Logger) async throws {
        for finding in try await findings(database, settings) {
            if let refusal = refusal(of: finding, settings) { throw ServiceError(.notReady, refusal) }
            logger.warning(
                "The settings of the database can lose acknowledged writes",
                metadata: ["error_detail": "\(finding.sentence); \(finding.remedy)"])
        }
    }

    /// Why a server may not use a database with such a setting; `nil` when it may.
    package static func refusal(of finding: PostgresSettings.Finding, _ settings: Settings) -> String? {
        guard finding.weight == .loses, let place = settings.database, !place.isWithoutFsync else { return nil }
        return "\(place.url): \(finding.sentence); \(finding.remedy), or allow it with database-without-fsync"
    }

    /// Nothing for a database file.
    package static func findings(_ database: any SQLDatabase, _ settings: Settings) async throws -> [PostgresSettings.Finding] {
        guard let server = database.driver as? PostgresDatabase else { return [] }
        return try await NodeDatabase.explained(settings) { try await server.settings().findings }
    }
}
