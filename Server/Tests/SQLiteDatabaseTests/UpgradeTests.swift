import EngineTesting
import Foundation
import RichPushModel
import SQLStorage
import SQLiteDatabase
import Testing

@Suite("Upgrades")
struct UpgradeTests {
    /// A database as a version with this schema left it.
    private final class Old: Sendable {
        let folder = NSTemporaryDirectory() + "clarion-upgrade-\(UUID().uuidString)"
        let database: SQLiteDatabase

        init(schema: Int) async throws {
            let script = try ReleasedSchema.script(schema, .sqlite)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            database = try SQLiteDatabase(path: folder + "/clarion.sqlite", access: .server)
            try await database.write { try $0.script(script) }
        }

        deinit {
            try? database.close()
            try? FileManager.default.removeItem(atPath: folder)
        }
    }

    /// What `CREATE` says of every table and index, white space and the order of columns aside.
    private static let shape = SQLStatement(
        """
        SELECT type, name, tbl_name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'
        UNION ALL SELECT m.name, c.name, c.type || c."notnull" || c.pk || COALESCE(c.dflt_value, '')
        FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'
        UNION ALL SELECT m.name, 'index column', c.seqno || c.name FROM sqlite_master m JOIN pragma_index_info(m.name) c
        WHERE m.type = 'index' ORDER BY 1, 2, 3
        """)

    private func shape(_ database: any SQLDatabase) async throws -> [[SQLValue]] {
        try await database.read { try $0.rows(Self.shape, []).map(\.values) }
    }

    @Test("a database of every released schema becomes what a new one is", arguments: ReleasedSchema.all)
    func shapes(_ schema: Int) async throws {
        let old = try await Old(schema: schema)
        let steps = try await SchemaMigrator().migrate(old.database, at: Timestamp(seconds: 9))
        #expect(steps == Array(schema + 1..<Migration.all.count + 1))
        let new = try await TemporaryStore()
        let fresh = try await shape(new.database)
        #expect(try await shape(old.database) == fresh)
        #expect(fresh.count > 400)
    }

    @Test("the same holds for the version after this one", arguments: ReleasedSchema.all)
    func nextShapes(_ schema: Int) async throws {
        let old = try await Old(schema: schema)
        try await NextVersion.migrator.migrate(old.database, at: Timestamp(seconds: 9))
        let new = try await TemporaryStore()
        try await NextVersion.migrator.migrate(new.database, at: Timestamp(seconds: 9))
        #expect(try await shape(old.database) == shape(new.database))
    }

    @Test("every promise of upgrades holds on SQLite", arguments: UpgradePromise.all, ReleasedSchema.all)
    func promises(_ promise: UpgradePromise, _ schema: Int) async throws {
        // Named, so that its folder stays until the check has ended.
        let old = try await Old(schema: schema)
        try await promise.check(old.database)
    }

    @Test("a command begins an empty database, and the steps of this version are in it")
    func beginning() async throws {
        let folder = NSTemporaryDirectory() + "clarion-upgrade-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let database = try SQLiteDatabase(path: folder + "/clarion.sqlite", access: .command)
        try await SchemaMigrator().requireCurrent(database, at: Timestamp(seconds: 9))
        #expect(try await SchemaMigrator.version(of: database) == Migration.all.count)
        try database.close()
    }

    @Test("every released schema has its files: one for each engine, and one with the rows")
    func fixtures() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: ReleasedSchema.folder.path()).sorted()
        let expected = ReleasedSchema.all.flatMap { schema in
            ["postgresql", "rows", "sqlite"].map { "schema-\(schema).\($0).sql" }
        }
        #expect(files == expected.sorted())
    }
}
