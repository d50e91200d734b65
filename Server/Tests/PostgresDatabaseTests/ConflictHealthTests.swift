import ClarionTesting
import EngineTesting
import Logging
import SQLStorage
import Testing

@testable import PostgresDatabase

extension PostgreSQLTests {
    @Suite("Conflicts and what they say of the storage")
    struct ConflictHealthTests {
        private static let insert = SQLStatement("INSERT INTO numbers (id) VALUES ($1)")

        @Test("a write that is given up because others are in its way is no fault of the storage", arguments: ["40001", "40P01"])
        func givenUp(state: String) async throws {
            let store = try await TemporaryDatabase()
            try await store.database.write { try $0.script("CREATE TABLE numbers (id BIGINT PRIMARY KEY)") }
            var limits = TemporaryDatabase.limits
            limits.conflict = .milliseconds(50)
            let log = LogNotes()
            let url = try DatabaseURL(store.server.url(database: store.name))
            let database = try PostgresDatabase(url, limits: limits, logger: log.logger)
            let error = await #expect(throws: SQLFault.self) {
                try await database.write { connection in
                    _ = try connection.run(Self.insert, [.integer(1)])
                    try connection.script("DO $$ BEGIN RAISE EXCEPTION 'made' USING ERRCODE = '\(state)'; END $$")
                }
            }
            guard case .unavailable = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(database.lastWriteFault == nil)
            #expect(log.lines.allSatisfy { $0.level < .error })
            #expect(try await database.number("SELECT COUNT(*) FROM numbers") == 0)
            try await database.write { _ = try $0.run(Self.insert, [.integer(1)]) }
            database.close()
        }
    }
}
