import EngineTesting
import RichPushModel
import Testing

@testable import PostgresDatabase
@testable import SQLStorage

extension PostgreSQLTests {
    @Suite("Schema")
    struct SchemaTests {
        @Test("nodes that start together bring the schema up to date once, step by step")
        func together() async throws {
            let store = try await TemporaryDatabase()
            let nodes = try [store.database, store.another(), store.another(), store.another()]
            let migrator = NextVersion.migrator
            let steps = try await withThrowingTaskGroup { group in
                for node in nodes { group.addTask { try await migrator.migrate(node, at: Timestamp(seconds: 1)) } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(steps.sorted() == Array(1...migrator.known))
            #expect(try await SchemaMigrator.version(of: store.database) == migrator.known)
        }

        @Test("a step that fails leaves nothing behind, and a newer schema is refused")
        func failures() async throws {
            let store = try await TemporaryDatabase()
            try await SchemaMigrator().migrate(store.database, at: Timestamp(seconds: 1))
            let last = Migration.all.count
            let broken = Migration(number: last + 1, name: "broken") { _ in "CREATE TABLE half (id BIGINT); CREATE NONSENSE;" }
            await #expect(throws: SQLFault.self) {
                try await SchemaMigrator(Migration.all + [broken]).migrate(store.database, at: Timestamp(seconds: 2))
            }
            #expect(try await store.database.number("SELECT COUNT(*) FROM pg_tables WHERE tablename = 'half'") == 0)
            let next = Migration(number: last + 1, name: "next") { _ in "CREATE TABLE next_thing (id BIGINT)" }
            #expect(
                try await SchemaMigrator(Migration.all + [next]).migrate(store.database, at: Timestamp(seconds: 3)) == [last + 1])
            await #expect(throws: SQLFault.newerSchema(found: last + 1, known: last)) {
                try await SchemaMigrator().migrate(store.database, at: Timestamp(seconds: 4))
            }
        }

        @Test("a program below the fence refuses the database, though it knows every step that was run")
        func fence() async throws {
            let store = try await TemporaryDatabase()
            try await SchemaMigrator().migrate(store.database, at: Timestamp(seconds: 1))
            let known = SchemaMigrator().known
            let harmless = Migration(number: known + 1, name: "harmless") { _ in "SELECT 1" }
            let harmful = Migration(number: known + 2, name: "harmful", oldestBeside: known + 2) { _ in "SELECT 1" }
            #expect(try await SchemaMigrator().fence(of: store.database) == nil)
            #expect(try await SchemaMigrator(Migration.all + [harmless]).fence(of: store.database) == nil)
            let newer = SchemaMigrator(Migration.all + [harmless, harmful])
            #expect(try await newer.fence(of: store.database) == known + 2)
            let fence = SchemaFence(store.database)
            #expect(try await fence.oldest() == 0)
            try await fence.raise(to: known + 2)
            try await fence.raise(to: known)
            #expect(try await fence.oldest() == known + 2)
            await #expect(throws: SQLFault.newerSchema(found: known + 2, known: known)) {
                try await SchemaMigrator().migrate(store.database, at: Timestamp(seconds: 2))
            }
            await #expect(throws: SQLFault.newerSchema(found: known + 2, known: known)) {
                try await SchemaMigrator().requireCurrent(store.database, at: Timestamp(seconds: 2))
            }
            #expect(try await newer.migrate(store.database, at: Timestamp(seconds: 3)) == [known + 1, known + 2])
        }

        @Test("every text column compares bytewise, whatever the database's own order")
        func collation() async throws {
            let database = try await PostgreSQLPool.ofProcess().take()
            let others = try await database.rows(
                """
                SELECT table_name, column_name FROM information_schema.columns
                WHERE table_schema = 'public' AND data_type = 'text' AND COALESCE(collation_name, '') <> 'C'
                """)
            #expect(others == [])
            #expect(
                try await database.number("SELECT COUNT(*) FROM information_schema.columns WHERE data_type = 'text'") ?? 0 > 50)
            database.close()
        }

        @Test("no statement reads a table of devices from end to end for one of them")
        func plans() async throws {
            let database = try await PostgreSQLPool.ofProcess().take()
            let texts = TransactionText(PostgresLimits())
            let settings = texts.read.split(separator: ";").dropFirst().map { "\($0);" }.joined()
            let ofWholeHubs = ["SELECT COUNT(*) FROM devices", "SELECT COUNT(*) FROM (SELECT slice_key FROM devices"]
            var looked = 0
            for (number, statement) in SQLStatement.all(.postgresql).enumerated()
            where statement.text.contains("devices") || statement.text.contains("device_tags") {
                guard !ofWholeHubs.contains(where: { statement.text.hasPrefix($0) }) else { continue }
                let count = statement.appearance.max() ?? 0
                let nulls = count == 0 ? "" : "(" + Array(repeating: "NULL", count: count).joined(separator: ", ") + ")"
                let plan = try await database.write { connection in
                    try connection.script(
                        "\(settings) SET LOCAL plan_cache_mode = force_generic_plan; PREPARE p\(number) AS \(statement.text)")
                    return try connection.rows(SQLStatement(composed: "EXPLAIN EXECUTE p\(number)\(nulls)"), []).map {
                        try $0.text(0)
                    }
                }
                looked += 1
                let isWide = plan.contains { $0.contains("Seq Scan on devices") || $0.contains("Seq Scan on device_tags") }
                #expect(!isWide, "\(statement.text): \(plan.joined(separator: "\n"))")
            }
            #expect(looked > 30)
            database.close()
        }
    }
}
