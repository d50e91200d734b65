import ClarionTesting
import EngineTesting
import Foundation
import RichPushModel
import Testing

@testable import PostgresDatabase
@testable import SQLStorage

extension PostgreSQLTests {
    @Suite("Upgrades")
    struct UpgradeTests {
        private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

        /// The schema with which tables were laid out anew the last time, and the one before the last steps.
        private static let released = [5, 13]

        /// A database as a version with this schema left it, from its dump in `Fixtures`.
        private func old(_ schema: Int) async throws -> TemporaryDatabase {
            let store = try await TemporaryDatabase()
            let dump = try String(contentsOf: Self.fixtures.appending(path: "schema-\(schema).sql"), encoding: .utf8)
            _ = try await store.server.run(script: "\\connect \(store.name)\n" + dump)
            return store
        }

        /// What the server says of every column and index.
        private static let shape = """
            SELECT table_name, column_name,
                data_type || is_nullable || COALESCE(collation_name, '') || COALESCE(column_default, '') || is_identity
            FROM information_schema.columns WHERE table_schema = 'public'
            UNION ALL SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2, 3
            """

        @Test("a database of every released schema becomes what a new one is", arguments: released)
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

        @Test("no row is lost on the way, and those of devices keep all they say", arguments: released)
        func rows(_ schema: Int) async throws {
            let old = try await old(schema).database
            let tables = try await old.tableNames()
            var before: [String: Int64] = [:]
            for table in tables { before[table] = try await old.number("SELECT COUNT(*) FROM \(table)") }
            let columns =
                "record_id, slice_key, kind, platform, handle, tags, user_id, registered_at, expires_at, parked_at, version"
            let devices = try await old.rows("SELECT \(columns) FROM devices ORDER BY slice_key")
            try await SchemaMigrator().migrate(old, at: Timestamp(seconds: 9))
            for table in tables where table != "schema_steps" {
                #expect(try await old.number("SELECT COUNT(*) FROM \(table)") == before[table], "\(table)")
            }
            #expect(try await old.rows("SELECT \(columns) FROM devices ORDER BY slice_key") == devices && devices.count == 6)
            #expect(before.values.count { $0 > 0 } > 20)
        }

        @Test("slices of a paced send that is under way have its pace between them afterwards")
        func paces() async throws {
            let old = try await old(13).database
            try await SchemaMigrator().migrate(old, at: Timestamp(seconds: 9))
            let shares = try await old.rows(
                "SELECT notification_id, pushes_per_second FROM slices ORDER BY notification_id, slice")
            #expect(
                shares == [
                    [.text("paced"), .integer(33)], [.text("paced"), .integer(33)], [.text("paced"), .integer(33)],
                    [.text("slow"), .integer(1)], [.text("slow"), .integer(1)], [.text("unpaced"), .null],
                ])
        }

        @Test("every fixture is one of these")
        func fixtures() throws {
            let files = try FileManager.default.contentsOfDirectory(atPath: Self.fixtures.path()).sorted()
            #expect(files == Self.released.map { "schema-\($0).sql" }.sorted())
        }
    }
}
