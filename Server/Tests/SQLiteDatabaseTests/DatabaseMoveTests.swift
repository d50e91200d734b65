import ClarionTesting
import EngineTesting
import Foundation
import RichPushModel
import SQLiteDatabase
import Synchronization
import Testing

@testable import SQLStorage

@Suite("Moving a database to PostgreSQL")
struct DatabaseMoveTests {
    private let now = Timestamp(seconds: 9)

    /// A database with rows in every table, and so many devices besides.
    private func filled(devices: Int = 1_200) async throws -> TemporaryStore {
        let store = try await TemporaryStore()
        let devices = SQLStatement(composed: Self.manyDevices(devices))
        let script = try ReleasedSchema.script(1, .sqlite)
        let old = try SQLiteDatabase(path: store.folder + "/old.sqlite", access: .server)
        try await old.write { try $0.script(script) }
        try await SchemaMigrator().migrate(old, at: now)
        try old.close()
        try store.database.close()
        try FileManager.default.removeItem(atPath: store.path)
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + suffix) }
        try FileManager.default.moveItem(atPath: store.folder + "/old.sqlite", toPath: store.path)
        let again = try SQLiteDatabase(path: store.path, access: .server)
        try await again.write { connection in
            try connection.run(devices, [])
            try connection.script(
                """
                INSERT INTO feedback (hub_id, platform, handle, notification_id, reason, noted_at)
                VALUES (1, 'apns', 'AA', 'n', 'x', 1), (1, 'apns', 'BB', 'n', 'x', 1);
                DELETE FROM feedback WHERE handle = 'BB';
                UPDATE order_numbers SET last_value = last_value + 3;
                """)
        }
        try again.close()
        return store
    }

    private static func manyDevices(_ count: Int) -> String {
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO devices (hub_id, slice_key, record_id, kind, platform, handle, tags, created_at, registered_at, version, form,
            shares_handle, order_number)
        SELECT 7, (i * 7919) - 4000000000, 'device ' || i || ' ümläut', 'installation', 'apns', printf('%064X', i), '["a"]', i, i, 1,
            0, 0, i FROM n
        """
    }

    /// Moves into a database that is closed again.
    private func move(
        _ store: TemporaryStore, to new: any SQLDatabase,
        retiring: () async throws -> Void = {},
        progress: @escaping @Sendable (DatabaseMove.Progress) -> Void = { _ in }
    ) async throws -> [String: Int] {
        let old = try SQLiteDatabase(path: store.path, access: .server)
        defer { try? old.close() }
        let counts = try await DatabaseMove(from: old, to: new, progress: progress).run(at: now, retiring: retiring)
        return Dictionary(uniqueKeysWithValues: counts.map { ($0.table, $0.rows) })
    }

    private func count(_ table: String, in database: any SQLDatabase) async throws -> Int {
        let statement = SQLStatement(composed: "SELECT COUNT(*) FROM \(table)")
        return Int(try await database.read { try $0.row(statement, [])?.integer(0) ?? -1 })
    }

    @Test("every row of every table arrives as it was, and numbers that were given are not given again")
    func everything() async throws {
        let store = try await filled()
        let new = try await PostgreSQLPool.ofProcess().take()
        let moved = try await move(store, to: new)
        #expect(moved["devices"].map { $0 > 1_200 } == true && moved["users"].map { $0 > 0 } == true)
        #expect(moved.count > 25 && moved["nodes"] == nil && moved["schema_steps"] == nil)
        for (table, rows) in moved { #expect(try await count(table, in: new) == rows, "\(table)") }
        #expect(try await SchemaMigrator.version(of: new) == Migration.all.count)
        let insert = SQLStatement(
            """
            INSERT INTO feedback (hub_id, platform, handle, notification_id, reason, noted_at)
            VALUES (1, 'apns', 'CC', 'n', 'x', 1) RETURNING number
            """)
        let old = try SQLiteDatabase(path: store.path, access: .server)
        let expected = try await old.write { try $0.row(insert, [])?.integer(0) }
        let order = try await old.write { try OrderNumbers.mark($0) }
        try old.close()
        #expect(try await new.write { try OrderNumbers.mark($0) } == order && order.number > OrderNumbers.first)
        #expect(try await new.write { try $0.row(insert, [])?.integer(0) } == expected)
    }

    @Test("copying and comparing each say how many rows there are before they begin, and count up to them over all tables")
    func progress() async throws {
        let store = try await filled()
        let new = try await PostgreSQLPool.ofProcess().take()
        let steps = Mutex<[DatabaseMove.Progress]>([])
        let moved = try await move(store, to: new, progress: { step in steps.withLock { $0.append(step) } })
        let total = moved.values.reduce(0, +)
        let phases = steps.withLock { $0 }.split { if case .began = $0 { true } else { false } }
        #expect(steps.withLock { $0.first } == .began(.copying, rows: total))
        #expect(steps.withLock { $0 }.contains(.began(.comparing, rows: total)))
        #expect(phases.count == 2)
        for phase in phases {
            let rows = phase.compactMap { step in if case .advanced(let rows, _) = step { rows } else { nil as Int? } }
            #expect(rows == rows.sorted())
            #expect(rows.last == total)
            #expect(phase.contains { if case .advanced(_, "devices") = $0 { true } else { false } })
        }
    }

    @Test("a database that holds something is refused, and stays as it is")
    func notEmpty() async throws {
        let store = try await filled(devices: 10)
        let new = try await PostgreSQLPool.ofProcess().take()
        try await new.write { try $0.script("INSERT INTO hub_files VALUES (3, 1, 1)") }
        await #expect(throws: DatabaseMove.Fault.notEmpty(table: "hub_files")) { _ = try await move(store, to: new) }
        #expect(try await count("hub_files", in: new) == 1)
        #expect(try await count("devices", in: new) == 0)
        #expect(try await SchemaMigrator.version(of: new) == Migration.all.count)
    }

    @Test("a move that is cut off leaves a database that no server starts on, and the next one does it all")
    func cutOff() async throws {
        struct Cut: Error {}
        let store = try await filled()
        let new = try await PostgreSQLPool.ofProcess().take()
        let failing = FailingDatabase(new, failsAtWrite: 9)
        await #expect(throws: Cut.self) { _ = try await move(store, to: failing.throwing(Cut())) }
        await #expect(throws: SQLFault.newerSchema(found: DatabaseMove.mark, known: Migration.all.count)) {
            try await SchemaMigrator().migrate(new, at: now)
        }
        let moved = try await move(store, to: new)
        for (table, rows) in moved { #expect(try await count(table, in: new) == rows, "\(table)") }
        #expect(try await SchemaMigrator().migrate(new, at: now).isEmpty)
    }

    @Test("a move that is cut off when the old database is put away is gone on with, wherever it was")
    func cutOffAtTheEnd() async throws {
        struct Cut: Error {}
        let store = try await filled(devices: 10)
        let new = try await PostgreSQLPool.ofProcess().take()
        let refusal = SQLFault.newerSchema(found: DatabaseMove.mark, known: Migration.all.count)
        // Before it: the old database may have been used since, so everything is moved anew.
        await #expect(throws: Cut.self) { _ = try await move(store, to: new, retiring: { throw Cut() }) }
        await #expect(throws: refusal) { try await SchemaMigrator().migrate(new, at: now) }
        let old = try SQLiteDatabase(path: store.path, access: .server)
        try await old.write { try $0.script("INSERT INTO hub_files VALUES (9, 9, 9)") }
        try old.close()
        #expect(try await move(store, to: new)["hub_files"] == 2)
        #expect(try await !DatabaseMove.finish(new), "there is nothing to finish")
        // After it: there is nothing left to do but to say so.
        try await new.write {
            try $0.script("INSERT INTO schema_steps VALUES (\(DatabaseMove.mark), 'a move that is not finished', 1)")
        }
        #expect(try await !DatabaseMove.finish(new), "rows may be missing")
        let failing = FailingDatabase(new, failsAtWrite: .max)
        await #expect(throws: Cut.self) {
            _ = try await move(store, to: failing, retiring: { failing.fail(with: Cut()) })
        }
        await #expect(throws: refusal) { try await SchemaMigrator().migrate(new, at: now) }
        #expect(try await DatabaseMove.finish(new))
        #expect(try await SchemaMigrator().migrate(new, at: now).isEmpty)
        #expect(try await count("hub_files", in: new) == 2)
    }

    @Test(
        "a command that writes into the file meanwhile ends the move, though every row had been compared, and the next takes it all"
    )
    func disturbed() async throws {
        let store = try await filled(devices: 10)
        let new = try await PostgreSQLPool.ofProcess().take()
        let isComparing = Atomic(false)
        let disturbed = DisturbedDatabase(inner: new) {
            guard isComparing.exchange(false, ordering: .relaxed) else { return }
            let command = try SQLiteDatabase(path: store.path, access: .command)
            try await command.write { try $0.script("INSERT INTO hub_files VALUES (9, 9, 9)") }
            try command.close()
        }
        await #expect(throws: DatabaseMove.Fault.changed) {
            _ = try await move(
                store, to: disturbed, retiring: { Issue.record("the file must stay") },
                progress: { if case .began(.comparing, _) = $0 { isComparing.store(true, ordering: .relaxed) } })
        }
        #expect(try await !DatabaseMove.finish(new), "a row is missing")
        #expect(try await SchemaMigrator.version(of: new) == DatabaseMove.mark)
        #expect(try await move(store, to: new)["hub_files"] == 2)
    }

    @Test("a move that was whole is no more when another has begun and was cut off")
    func wholeNoMore() async throws {
        struct Cut: Error {}
        let store = try await filled(devices: 10)
        let new = try await PostgreSQLPool.ofProcess().take()
        await #expect(throws: Cut.self) { _ = try await move(store, to: new, retiring: { throw Cut() }) }
        let failing = FailingDatabase(new, failsAtWrite: 3)
        await #expect(throws: Cut.self) { _ = try await move(store, to: failing.throwing(Cut())) }
        #expect(try await !DatabaseMove.finish(new), "most rows are missing")
    }

    @Test("a row that comes out differently is noticed, and the database stays closed to servers")
    func differs() async throws {
        let store = try await filled()
        let new = try await PostgreSQLPool.ofProcess().take()
        try await new.write {
            try $0.script(
                """
                CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
                    IF NEW.record_id LIKE 'device 1199 %' THEN NEW.version := 2; END IF; RETURN NEW; END $body$;
                CREATE TRIGGER spoiled BEFORE INSERT ON devices FOR EACH ROW EXECUTE FUNCTION spoil();
                """)
        }
        await #expect(throws: DatabaseMove.Fault.differs(table: "devices")) { _ = try await move(store, to: new) }
        #expect(try await SchemaMigrator.version(of: new) == DatabaseMove.mark)
        try await new.write {
            try $0.script("DROP TRIGGER spoiled ON devices; DROP FUNCTION spoil()")
        }
        #expect(try await move(store, to: new)["devices"].map { $0 > 1_200 } == true)
    }

    @Test(
        "a million devices are moved", .enabled(if: ProcessInfo.processInfo.environment["LONG_TESTS"] == "1"),
        .timeLimit(.minutes(60)))
    func million() async throws {
        let store = try await filled(devices: 1_000_000)
        let new = try await PostgreSQLPool.ofProcess().take()
        let begin = ContinuousClock.now
        let moved = try await move(store, to: new)
        print("a million devices moved and compared in \(ContinuousClock.now - begin)")
        #expect(moved["devices"].map { $0 > 1_000_000 } == true)
    }
}

/// A database before each write of which something is done elsewhere.
private struct DisturbedDatabase: SQLDatabase {
    let inner: any SQLDatabase
    let disturb: @Sendable () async throws -> Void

    var dialect: SQLDialect { inner.dialect }
    var lastWriteFault: String? { inner.lastWriteFault }
    func close() throws {}
    func tableNames() async throws -> [String] { try await inner.tableNames() }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result { try await inner.read(body) }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await disturb()
        return try await inner.write(body)
    }
}

/// A database whose writes fail from some number on.
private final class FailingDatabase: SQLDatabase {
    private let inner: any SQLDatabase
    private let left: Mutex<Int>
    private let error: Mutex<any Error>

    init(_ inner: any SQLDatabase, failsAtWrite number: Int, error: any Error = CancellationError()) {
        self.inner = inner
        left = Mutex(number)
        self.error = Mutex(error)
    }

    func throwing(_ error: any Error) -> FailingDatabase {
        FailingDatabase(inner, failsAtWrite: left.withLock { $0 }, error: error)
    }

    /// From now on every write fails.
    func fail(with error: any Error) {
        left.withLock { $0 = 0 }
        self.error.withLock { $0 = error }
    }

    var dialect: SQLDialect { inner.dialect }
    var lastWriteFault: String? { inner.lastWriteFault }
    func close() throws {}
    func tableNames() async throws -> [String] { try await inner.tableNames() }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result { try await inner.read(body) }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        let fails = left.withLock { left in
            left -= 1
            return left < 0
        }
        if fails { throw error.withLock { $0 } }
        return try await inner.write(body)
    }
}
