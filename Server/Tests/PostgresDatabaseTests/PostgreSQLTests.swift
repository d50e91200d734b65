import ClarionTesting
import Logging
import PostgresDatabase
import SQLStorage
import Testing

/// Everything that needs a server, and leaves it running: they share one.
@Suite("PostgreSQL", .sharedPostgreSQL)
struct PostgreSQLTests {}

/// A database of its own on a server of the tests.
final class TemporaryDatabase: Sendable {
    let name: String
    let server: ThrowAwayPostgreSQL
    let database: PostgresDatabase

    static var quiet: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

    /// Limits for tests: few connections, since many tests run at the same time.
    static var limits: PostgresLimits {
        var limits = PostgresLimits()
        (limits.writers, limits.readers) = (2, 2)
        // What a busy machine does late is no hanging server; the tests of one say so.
        limits.grace = .seconds(120)
        return limits
    }

    init(
        on server: ThrowAwayPostgreSQL? = SharedPostgreSQL.server, limits: PostgresLimits = TemporaryDatabase.limits,
        template: String? = nil
    ) async throws {
        self.server = try #require(server)
        name = "test_\(UInt64.random(in: 0 ... .max))"
        _ = try await self.server.run(script: "CREATE DATABASE \(name)" + (template.map { " TEMPLATE \($0)" } ?? ""))
        database = try Self.open(self.server, name, limits)
    }

    /// Another connection to the same database, which the database sees as another process.
    func another(limits: PostgresLimits = TemporaryDatabase.limits) throws -> PostgresDatabase {
        try Self.open(server, name, limits)
    }

    private static func open(
        _ server: ThrowAwayPostgreSQL, _ name: String, _ limits: PostgresLimits
    ) throws -> PostgresDatabase {
        try PostgresDatabase(DatabaseURL(server.url(database: name)), limits: limits, logger: quiet)
    }

    /// What the operator's own tool says, as one line.
    func psql(_ text: String) async throws -> String {
        try await server.run(script: "\(text);\n", database: name).split(separator: "\n").joined(separator: " ")
    }
}

extension SQLDatabase {
    func rows(_ text: String, _ values: [SQLValue] = []) async throws -> [[SQLValue]] {
        let statement = SQLStatement(composed: text)
        return try await read { try $0.rows(statement, values).map(\.values) }
    }

    func number(_ text: String) async throws -> Int64? {
        let statement = SQLStatement(composed: text)
        return try await read { try $0.row(statement, [])?.optionalInteger(0) }
    }
}
