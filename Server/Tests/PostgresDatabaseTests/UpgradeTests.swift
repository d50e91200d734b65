import ClarionTesting
import EngineTesting
import RichPushModel
import Testing

@testable import PostgresDatabase
@testable import SQLStorage

extension PostgreSQLTests {
    @Suite("Upgrades")
    struct UpgradeTests {
        /// A database as a version with this schema left it.
        private func old(_ schema: Int) async throws -> TemporaryDatabase {
            let store = try await TemporaryDatabase()
            _ = try await store.server.run(
                script: "\\connect \(store.name)\n" + ReleasedSchema.script(schema, .postgresql))
            return store
        }

        /// What the server says of every column and index, the order of columns aside.
        private static let shape = """
            SELECT table_name, column_name,
                data_type || is_nullable || COALESCE(collation_name, '') || COALESCE(column_default, '') || is_identity
            FROM information_schema.columns WHERE table_schema = 'public'
            UNION ALL SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2, 3
            """

        @Test("a database of every released schema becomes what a new one is", arguments: ReleasedSchema.all)
        func shapes(_ schema: Int) async throws {
            let old = try await old(schema)
            let steps = try await SchemaMigrator().migrate(old.database, at: Timestamp(seconds: 9))
            #expect(steps == Array(schema + 1..<Migration.all.count + 1))
            let new = try await TemporaryDatabase()
            try await SchemaMigrator().migrate(new.database, at: Timestamp(seconds: 9))
            let fresh = try await new.database.rows(Self.shape)
            #expect(try await old.database.rows(Self.shape) == fresh)
            #expect(fresh.count > 200)
        }

        @Test("the same holds for the version after this one", arguments: ReleasedSchema.all)
        func nextShapes(_ schema: Int) async throws {
            let old = try await old(schema)
            try await NextVersion.migrator.migrate(old.database, at: Timestamp(seconds: 9))
            let new = try await TemporaryDatabase()
            try await NextVersion.migrator.migrate(new.database, at: Timestamp(seconds: 9))
            #expect(try await old.database.rows(Self.shape) == new.database.rows(Self.shape))
        }

        @Test("every promise of upgrades holds on PostgreSQL", arguments: UpgradePromise.all, ReleasedSchema.all)
        func promises(_ promise: UpgradePromise, _ schema: Int) async throws {
            try await promise.check(try await old(schema).database)
        }
    }
}
