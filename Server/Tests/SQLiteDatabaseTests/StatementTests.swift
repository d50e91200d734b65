import ClarionTesting
import GRDB
import RichPushModel
import SQLStorage
import Testing

@testable import SQLiteDatabase

@Suite("Statements")
struct StatementTests {
    @Test("every statement prepares on SQLite")
    func sqlite() async throws {
        let store = try await TemporaryStore()
        try store.database.close()
        let queue = try DatabaseQueue(path: store.path)
        for statement in SQLStatement.all(.sqlite) {
            #expect(throws: Never.self, "\(statement.text)") { try queue.read { _ = try $0.makeStatement(sql: statement.text) } }
        }
    }

    @Test("every statement prepares on a throw-away PostgreSQL")
    func postgreSQL() async throws {
        let schema = [SchemaMigrator.tableText(.postgresql) + ";"] + Migration.all.map { $0.script(.postgresql) }
        let statements = SQLStatement.all(.postgresql).enumerated().map { "PREPARE s\($0) AS \($1.text);" }
        try await ThrowAwayPostgreSQL.with { server in
            _ = try await server.run(script: (schema + statements).joined(separator: "\n"))
            // A statement that is wrong is noticed.
            await #expect(throws: ThrowAwayPostgreSQL.Failure.self) {
                _ = try await server.run(script: "PREPARE wrong AS SELECT nothing FROM nowhere;")
            }
        }
    }

    @Test("migrations are numbered from 1 without gaps")
    func numbers() {
        #expect(Migration.all.map(\.number) == Array(1...Migration.all.count))
    }
}
