import Foundation
import PushHub
import RichPushModel
import SQLStorage
import SQLiteDatabase
import Testing

@Suite("Upgrades")
struct UpgradeTests {
    /// A database as a version with this schema left it, from its dump in `Fixtures`.
    private final class Old: Sendable {
        let folder = NSTemporaryDirectory() + "clarion-upgrade-\(UUID().uuidString)"
        let database: SQLiteDatabase

        init(schema: Int) async throws {
            let dump = try String(contentsOf: UpgradeTests.fixtures.appending(path: "schema-\(schema).sql"), encoding: .utf8)
            // The statements of the dump without its own transaction: a write is one.
            let script = dump.split(separator: "\n").filter { !["BEGIN TRANSACTION;", "COMMIT;"].contains($0) }
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            database = try SQLiteDatabase(path: folder + "/clarion.sqlite", access: .server)
            try await database.write { try $0.script(script.joined(separator: "\n")) }
        }

        deinit {
            try? database.close()
            try? FileManager.default.removeItem(atPath: folder)
        }

        func rows(_ text: String) async throws -> [SQLRow] {
            let statement = SQLStatement(composed: text)
            return try await database.read { try $0.rows(statement, []) }
        }
    }

    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    /// The steps of one version belong together: 1 and 2 came with the first, 3 and 4 with the second. The one before the last
    /// is here as well, because that step lays tables out anew.
    private static let released = [2, 4, 5]

    /// What `CREATE` says of every table and index, white space aside.
    private static let shape = """
        SELECT type, name, tbl_name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'
        UNION ALL SELECT m.name, c.name, c.type || c."notnull" || c.pk FROM sqlite_master m JOIN pragma_table_info(m.name) c
        WHERE m.type = 'table'
        UNION ALL SELECT m.name, 'index column', c.seqno || c.name FROM sqlite_master m JOIN pragma_index_info(m.name) c
        WHERE m.type = 'index' ORDER BY 1, 2, 3
        """

    @Test("a database of every released schema becomes what a new one is", arguments: released)
    func shapes(_ schema: Int) async throws {
        let old = try await Old(schema: schema)
        let steps = try await SchemaMigrator().migrate(old.database, at: Timestamp(seconds: 9))
        #expect(steps == Array(schema + 1..<Migration.all.count + 1))
        let new = try await TemporaryStore()
        let shape = SQLStatement(composed: Self.shape)
        let fresh = try await new.database.read { try $0.rows(shape, []) }
        #expect(try await old.rows(Self.shape) == fresh)
        #expect(fresh.count > 100)
    }

    @Test("no row is lost on the way", arguments: released)
    func counts(_ schema: Int) async throws {
        let old = try await Old(schema: schema)
        let tables = try await old.rows("SELECT name FROM sqlite_master WHERE type = 'table'").map { try $0.text(0) }
        var before: [String: [SQLRow]] = [:]
        for table in tables { before[table] = try await old.rows("SELECT COUNT(*) FROM \(table)") }
        try await SchemaMigrator().migrate(old.database, at: Timestamp(seconds: 9))
        for table in tables where table != "schema_steps" {
            #expect(try await old.rows("SELECT COUNT(*) FROM \(table)") == before[table], "\(table)")
            let isFilled = try await !old.rows("SELECT 1 FROM \(table) LIMIT 1").isEmpty
            #expect(isFilled || ["slices", "pending_targets"].contains(table), "\(table) of schema \(schema) has no row to try")
        }
    }

    @Test("from schema 2: every notification that is over has its end, and no other")
    func ends() async throws {
        let old = try await Old(schema: 2)
        try await SchemaMigrator().migrate(old.database, at: Timestamp(seconds: 9))
        let ends = try await old.rows("SELECT ended_at FROM rich_notifications ORDER BY rich_id").map {
            try $0.optionalInteger(0)
        }
        #expect(ends == [1_780_000_003_000, 1_780_000_002_000, 1_780_000_005_000, nil])
    }

    @Test(
        "from schema 4 and 5: records keep all they say, twins know of each other, counts are those of APNs", arguments: [4, 5])
    func newLayout(_ schema: Int) async throws {
        let old = try await Old(schema: schema)
        let columns = "record_id, slice_key, kind, platform, handle, tags, user_id, registered_at, expires_at, parked_at, version"
        let before = try await old.rows("SELECT \(columns) FROM devices ORDER BY slice_key")
        let tags = try await old.rows("SELECT * FROM device_tags ORDER BY hub_id, tag, slice_key")
        let tallies = try await old.rows("SELECT notification_id, slice, outcome, targets FROM tallies ORDER BY 1, 2, 3")
        try await SchemaMigrator().migrate(old.database, at: Timestamp(seconds: 9))
        #expect(try await old.rows("SELECT \(columns) FROM devices ORDER BY slice_key") == before && before.count == 6)
        #expect(try await old.rows("SELECT * FROM device_tags ORDER BY hub_id, tag, slice_key") == tags && tags.count == 7)
        let after = "SELECT notification_id, slice, outcome, targets FROM tallies WHERE platform = 'apns' ORDER BY 1, 2, 3"
        #expect(try await old.rows(after) == tallies && !tallies.isEmpty)
        let twins = try await old.rows("SELECT record_id FROM devices WHERE shares_handle = 1 ORDER BY 1").map { try $0.text(0) }
        #expect(twins == ["twin-1", "twin-2"])
        let sends = try await old.rows("SELECT DISTINCT format, is_direct FROM notifications")
        #expect(sends.map(\.values) == [[.text("apns"), .integer(0)]])
    }

    @Test("who has a name that no tag could hold before is found by it, and when it goes nothing is left")
    func addresses() async throws {
        let old = try await Old(schema: 5)
        try await SchemaMigrator(Array(Migration.all.prefix(8))).migrate(old.database, at: Timestamp(seconds: 9))
        try await old.database.write {
            try $0.script("UPDATE devices SET user_id = 'auth0|42', record_id = 'a,b' WHERE record_id = 'twin-1'")
            try $0.script("UPDATE devices SET kind = 'installation', tags = '' WHERE record_id = 'a,b'")
            try $0.script("DELETE FROM device_tags WHERE slice_key = (SELECT slice_key FROM devices WHERE record_id = 'a,b')")
        }
        try await SchemaMigrator().migrate(old.database, at: Timestamp(seconds: 9))
        let left = """
            SELECT tag FROM device_tags WHERE tag IN ('$userid:{auth0|42}', '$installationid:{a,b}') ORDER BY tag
            """
        #expect(try await old.rows(left).map { try $0.text(0) } == ["$installationid:{a,b}", "$userid:{auth0|42}"])
        let hub = HubID(try await old.rows("SELECT hub_id FROM devices WHERE record_id = 'a,b'")[0].integer(0))
        let devices = SQLDeviceStore(old.database)
        #expect(try await devices.devices(DeviceListRequest(.tag(Tag.addressedUser("auth0|42")!)), in: hub).records.count == 1)
        #expect(try await devices.remove(RecordID("a,b")!, in: hub))
        #expect(try await old.rows(left).isEmpty)
    }

    @Test("a command changes no schema: it refuses an older and a newer one, and begins an empty one")
    func commands() async throws {
        let old = try await Old(schema: 2)
        let known = Migration.all.count
        await #expect(throws: SQLFault.olderSchema(found: 2, known: known)) {
            try await SchemaMigrator().requireCurrent(old.database, at: Timestamp(seconds: 9))
        }
        #expect(try await old.rows("SELECT MAX(number) FROM schema_steps").first?.values == [.integer(2)])
        #expect(try await old.rows("SELECT name FROM pragma_table_info('rich_notifications') WHERE name = 'ended_at'").isEmpty)
        try await SchemaMigrator().migrate(old.database, at: Timestamp(seconds: 9))
        try await SchemaMigrator().requireCurrent(old.database, at: Timestamp(seconds: 9))
        await #expect(throws: SQLFault.newerSchema(found: known, known: 2)) {
            try await SchemaMigrator(Array(Migration.all.prefix(2))).requireCurrent(old.database, at: Timestamp(seconds: 9))
        }
    }

    @Test("every released schema but the last has its fixture")
    func fixtures() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.fixtures.path()).sorted()
        #expect(files == Self.released.map { "schema-\($0).sql" })
    }
}
