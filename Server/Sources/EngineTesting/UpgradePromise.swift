import RichPushModel
import SQLStorage
import Testing

/// One promise of upgrades, as a check that runs on any engine.
public struct UpgradePromise: Sendable, CustomTestStringConvertible {
    /// The promise as a statement.
    public let name: String
    /// Records an issue, or throws, when the promise is broken. Gets the database of a released version.
    public let check: @Sendable (any SQLDatabase) async throws -> Void

    public var testDescription: String { name }

    /// Every promise.
    public static let all = [
        noLoss, pieces, cutOff, fence, refusal,
        unreleased("that had come to its first step", steps: 1), unreleased("that had as many steps as now", steps: known),
        unreleased("that had more steps than this program knows", steps: 24),
    ]

    private static let known = SchemaMigrator().known
    private static let now = Timestamp(seconds: 9)

    private static let noLoss = UpgradePromise(name: "no row is lost, and devices keep all that they say") { database in
        let tables = try await database.tableNames().filter { $0 != SchemaMigrator.table }
        var before: [String: [[SQLValue]]] = [:]
        for table in tables { before[table] = try await database.all("SELECT COUNT(*) FROM \(table)") }
        let columns = "record_id, slice_key, kind, platform, handle, tags, user_id, order_number, registered_at, version, details"
        let devices = try await database.all("SELECT \(columns) FROM devices ORDER BY slice_key")
        try await NextVersion.migrator.migrate(database, at: now)
        for table in tables {
            #expect(try await database.all("SELECT COUNT(*) FROM \(table)") == before[table], "\(table)")
            let isFilled = before[table] != [[.integer(0)]]
            #expect(isFilled != ReleasedSchema.emptyTables.contains(table), "\(table) has no row to try")
        }
        #expect(try await database.all("SELECT \(columns) FROM devices ORDER BY slice_key") == devices && devices.count > 5)
    }

    private static let pieces = UpgradePromise(
        name: "a column that is filled in pieces has its value in every row afterwards, and every step is noted once"
    ) { database in
        let found = try await SchemaMigrator.version(of: database)
        let missing = Array(found + 1...NextVersion.migrator.known)
        #expect(try await NextVersion.migrator.migrate(database, at: now) == missing)
        let others = "SELECT record_id FROM devices WHERE address IS NULL OR address <> \(NextVersion.address)"
        #expect(try await database.all(others) == [])
        let steps = try await database.all("SELECT number FROM schema_steps ORDER BY number")
        #expect(steps == (1...NextVersion.migrator.known).map { [.integer(Int64($0))] })
        #expect(try await NextVersion.migrator.migrate(database, at: now) == [])
    }

    private static let cutOff = UpgradePromise(
        name:
            "an upgrade that fails keeps the steps before, leaves nothing of the one that failed, and goes on there the next time"
    ) { database in
        let failing = NextVersion.steps[2]
        let broken = Migration(number: failing.number, name: failing.name) { failing.script($0) + ";\nCREATE NONSENSE;" }
        let before = Migration.all + NextVersion.steps.prefix(2)
        await #expect(throws: SQLFault.self) { try await SchemaMigrator(before + [broken]).migrate(database, at: now) }
        #expect(try await SchemaMigrator.version(of: database) == failing.number - 1)
        let filled = try await database.all("SELECT slice_key FROM devices WHERE address IS NOT NULL")
        let quarter = try await database.all("SELECT slice_key FROM devices WHERE slice_key < \(Int64.min / 2)")
        #expect(Set(filled) == Set(quarter) && !quarter.isEmpty, "the first piece alone")
        let rest = NextVersion.steps.dropFirst(2).map(\.number)
        #expect(try await NextVersion.migrator.migrate(database, at: now) == rest)
        #expect(try await database.all("SELECT record_id FROM devices WHERE address IS NULL") == [])
    }

    private static let fence = UpgradePromise(
        name: "only the step that older nodes cannot live with asks for the fence, and it keeps this version out for good"
    ) { database in
        try await SchemaMigrator().migrate(database, at: now)
        let harmless = SchemaMigrator(Migration.all + NextVersion.steps.dropLast())
        #expect(try await SchemaMigrator().fence(of: database) == nil)
        #expect(try await harmless.fence(of: database) == nil)
        #expect(try await NextVersion.migrator.fence(of: database) == NextVersion.migrator.known)
        let fence = SchemaFence(database)
        try await fence.raise(to: NextVersion.migrator.known)
        try await fence.raise(to: known)
        #expect(try await fence.oldest() == NextVersion.migrator.known)
        let refusal = SQLFault.newerSchema(found: NextVersion.migrator.known, known: known)
        await #expect(throws: refusal) { try await SchemaMigrator().migrate(database, at: now) }
        await #expect(throws: refusal) { try await SchemaMigrator().requireCurrent(database, at: now) }
        try await NextVersion.migrator.migrate(database, at: now)
        #expect(try await NextVersion.migrator.fence(of: database) == nil)
    }

    private static let refusal = UpgradePromise(name: "a command changes no schema: it refuses an older and a newer one") {
        database in
        let found = try await SchemaMigrator.version(of: database)
        let next = NextVersion.migrator.known
        await #expect(throws: SQLFault.olderSchema(found: found, known: next)) {
            try await NextVersion.migrator.requireCurrent(database, at: now)
        }
        #expect(try await SchemaMigrator.version(of: database) == found)
        await #expect(throws: SQLFault.self, "there is no such column yet") {
            try await database.all("SELECT address FROM devices")
        }
        try await NextVersion.migrator.migrate(database, at: now)
        try await NextVersion.migrator.requireCurrent(database, at: now)
        await #expect(throws: SQLFault.newerSchema(found: next, known: known)) {
            try await SchemaMigrator().requireCurrent(database, at: now)
        }
        #expect(try await SchemaMigrator.version(of: database) == next)
    }

    /// Development versions had a first step of another name.
    private static func unreleased(_ what: String, steps: Int) -> UpgradePromise {
        UpgradePromise(name: "a database of a development version \(what) is refused for what it is, and stays as it is") {
            database in
            let others = steps < 2 ? "" : (2...steps).map { "INSERT INTO schema_steps VALUES (\($0), 'step \($0)', 1);" }.joined()
            try await database.write { connection in
                try connection.script("DELETE FROM schema_steps; INSERT INTO schema_steps VALUES (1, 'hub tables', 1); \(others)")
            }
            let migrator = NextVersion.migrator
            await #expect(throws: SQLFault.unreleasedSchema) { try await migrator.migrate(database, at: now) }
            await #expect(throws: SQLFault.unreleasedSchema) { try await migrator.requireCurrent(database, at: now) }
            await #expect(throws: SQLFault.unreleasedSchema) { try await migrator.fence(of: database) }
            await #expect(throws: SQLFault.unreleasedSchema) { try await SchemaMigrator.version(of: database) }
            #expect(try await database.all("SELECT COUNT(*) FROM schema_steps") == [[.integer(Int64(max(1, steps)))]])
        }
    }
}

extension SQLDatabase {
    @discardableResult
    fileprivate func all(_ text: String) async throws -> [[SQLValue]] {
        let statement = SQLStatement(composed: text)
        return try await read { try $0.rows(statement, []).map(\.values) }
    }
}
