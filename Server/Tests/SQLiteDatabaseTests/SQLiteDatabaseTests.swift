import Foundation
import NIOConcurrencyHelpers
import RichPushModel
import SQLStorage
import SQLiteDatabase
import Testing

@Suite("SQLite database")
struct SQLiteDatabaseTests {
    private static let create = "CREATE TABLE numbers (id INTEGER PRIMARY KEY, text TEXT UNIQUE, bytes BLOB)"
    private static let insert = SQLStatement("INSERT INTO numbers (id, text, bytes) VALUES ($1, $2, $3)")
    private static let count = SQLStatement("SELECT COUNT(*) FROM numbers")

    private func prepared() async throws -> TemporaryStore {
        let store = try await TemporaryStore()
        try await store.database.write { try $0.script(Self.create) }
        return store
    }

    private func count(_ store: TemporaryStore) async throws -> Int64 {
        try await store.database.read { try $0.row(Self.count, [])?.integer(0) ?? -1 }
    }

    @Test("values are bound by number, whatever their order in the text")
    func binding() async throws {
        let store = try await prepared()
        let row = try await store.database.read {
            try $0.row(SQLStatement("SELECT $2, $1, $2, $3, $4"), [.text("one"), .integer(2), .null, .bytes([3, 0])])
        }
        #expect(row?.values == [.integer(2), .text("one"), .integer(2), .null, .bytes([3, 0])])
    }

    @Test("an error undoes its own write and none that shares the commit")
    func savepoints() async throws {
        let store = try await prepared()
        await withTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    try? await store.database.write { connection in
                        try connection.run(Self.insert, [.integer(Int64(number)), .text("\(number)"), .null])
                        if number % 3 == 0 { throw SQLFault.duplicate }
                    }
                }
            }
        }
        #expect(try await count(store) == 133)
    }

    @Test("a refusal before anything was written costs those that share its commit nothing")
    func refusals() async throws {
        let store = try await prepared()
        let attempts = NIOLockedValueBox(0)
        await withTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    try? await store.database.write { connection in
                        attempts.withLockedValue { $0 += 1 }
                        guard try connection.row(Self.count, []) != nil, number % 3 > 0 else { throw SQLFault.duplicate }
                        try connection.run(Self.insert, [.integer(Int64(number)), .text("\(number)"), .null])
                    }
                }
            }
        }
        #expect(try await count(store) == 133)
        #expect(attempts.withLockedValue { $0 } == 200)
    }

    @Test("a full disk is named, and stays named until a write is kept")
    func full() async throws {
        let store = try await prepared()
        let large: [SQLValue] = [.integer(1), .null, .bytes(Array(repeating: 7, count: 200_000))]
        #expect(store.database.lastWriteFault == nil)
        try await store.database.write { try $0.script("PRAGMA max_page_count = 1") }
        await #expect(throws: SQLFault.self) { try await store.database.write { _ = try $0.run(Self.insert, large) } }
        #expect(store.database.lastWriteFault == "SQLITE_FULL")
        try await store.database.write { _ = try $0.row(Self.count, []) }
        #expect(store.database.lastWriteFault == "SQLITE_FULL", "a write that changes nothing proves nothing")
        try await store.database.write { try $0.script("PRAGMA max_page_count = 100000") }
        await #expect(throws: SQLFault.self) {
            try await store.database.write { _ = try $0.run(SQLStatement("INSERT INTO nowhere VALUES (1)"), []) }
        }
        try await store.database.write { _ = try $0.run(Self.insert, large) }
        #expect(store.database.lastWriteFault == nil)
    }

    @Test("a broken unique rule is a duplicate, a broken statement a refusal without values")
    func faults() async throws {
        let store = try await prepared()
        let values: [SQLValue] = [.integer(1), .text("secret-value"), .null]
        try await store.database.write { _ = try $0.run(Self.insert, values) }
        await #expect(throws: SQLFault.duplicate) { try await store.database.write { _ = try $0.run(Self.insert, values) } }
        do {
            try await store.database.write {
                _ = try $0.run(SQLStatement("UPDATE numbers SET text = $1, no = 2"), [.text("secret-value")])
            }
            Issue.record("the statement is wrong")
        } catch {
            #expect(error is SQLFault)
            #expect(!"\(error)".contains("secret-value"))
        }
        await #expect(throws: SQLFault.self) { try await store.database.read { _ = try $0.run(Self.insert, values) } }
    }

    @Test("a file with a page that is not the engine's, and one that is no database, are damaged, and say so")
    func damage() async throws {
        let store = try await prepared()
        try await store.database.write { connection in
            for number in 1...2_000 {
                _ = try connection.run(Self.insert, [.integer(Int64(number)), .text("text \(number)"), .null])
            }
        }
        let places = try await store.database.read { connection in
            let root = SQLStatement("SELECT rootpage FROM sqlite_master WHERE name = 'numbers'")
            return (
                page: try connection.row(root, [])?.integer(0) ?? 0,
                size: try connection.row(SQLStatement("PRAGMA page_size"), [])?.integer(0) ?? 0
            )
        }
        try store.database.close()
        try #require(places.page > 1 && places.size > 0)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: store.path))
        try file.seek(toOffset: UInt64((places.page - 1) * places.size))
        try file.write(contentsOf: Data(repeating: 0xA5, count: Int(places.size)))
        try file.close()
        let damaged = try SQLiteDatabase(path: store.path, access: .server)
        let select = SQLStatement("SELECT MAX(bytes) FROM numbers")
        await #expect(throws: SQLFault.damaged(reason: "SQLITE_CORRUPT")) { try await damaged.read { try $0.row(select, []) } }
        try damaged.close()
        try Data(repeating: 0xA5, count: 20_000).write(to: URL(fileURLWithPath: store.path))
        #expect(throws: SQLFault.damaged(reason: "SQLITE_NOTADB")) {
            try SQLiteDatabase(path: store.path, access: .server).close()
        }
    }

    @Test("a second server is refused, a command is not, and the lock ends with the first")
    func lock() async throws {
        let store = try await prepared()
        #expect(throws: SQLFault.lockedByAnotherProcess(path: store.path + ".lock")) {
            _ = try SQLiteDatabase(path: store.path, access: .server)
        }
        let command = try SQLiteDatabase(path: store.path, access: .command)
        try await command.write { _ = try $0.run(Self.insert, [.integer(1), .null, .null]) }
        #expect(try await count(store) == 1)
        try command.close()
        try store.database.close()
        await #expect(throws: SQLFault.self) { try await count(store) }
        try SQLiteDatabase(path: store.path, access: .server).close()
    }

    @Test("the files are for their owner alone, in write-ahead mode with full synchronisation")
    func files() async throws {
        let store = try await prepared()
        for suffix in ["", "-wal", "-shm", ".lock"] {
            let mode = try FileManager.default.attributesOfItem(atPath: store.path + suffix)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(suffix)")
        }
        let pragmas = try await store.database.write { connection in
            try ["PRAGMA journal_mode", "PRAGMA synchronous", "PRAGMA foreign_keys"].map {
                try connection.rows(SQLStatement(composed: $0), []).first?.values.first
            }
        }
        #expect(pragmas == [.text("wal"), .integer(2), .integer(1)])
    }

    @Test("migrations run once, in order, and a newer schema is refused")
    func migrations() async throws {
        let store = try await TemporaryStore()
        let last = Migration.all.count
        #expect(try await SchemaMigrator().migrate(store.database, at: Timestamp(seconds: 2)) == [])
        let next = Migration(number: last + 1, name: "next") { _ in
            "CREATE TABLE next_thing (id INTEGER); CREATE TABLE other (id INTEGER);"
        }
        #expect(try await SchemaMigrator(Migration.all + [next]).migrate(store.database, at: Timestamp(seconds: 3)) == [last + 1])
        await #expect(throws: SQLFault.newerSchema(found: last + 1, known: last)) {
            try await SchemaMigrator().migrate(store.database, at: Timestamp(seconds: 4))
        }
    }

    @Test("a migration that fails leaves nothing behind")
    func failedMigration() async throws {
        let store = try await TemporaryStore()
        let broken = Migration(number: Migration.all.count + 1, name: "broken") { _ in
            "CREATE TABLE half (id INTEGER); CREATE NONSENSE;"
        }
        await #expect(throws: SQLFault.self) {
            try await SchemaMigrator(Migration.all + [broken]).migrate(store.database, at: Timestamp(seconds: 3))
        }
        await #expect(throws: SQLFault.self) {
            try await store.database.read { _ = try $0.rows(SQLStatement("SELECT * FROM half"), []) }
        }
        #expect(try await SchemaMigrator().migrate(store.database, at: Timestamp(seconds: 2)) == [])
    }

    @Test("reading and writing go on in a cancelled task: what happened must be stored")
    func cancellation() async throws {
        let store = try await prepared()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await store.database.write { _ = try $0.run(Self.insert, [.integer(1), .null, .null]) }
            return try await count(store)
        }
        task.cancel()
        #expect(try await task.value == 1)
    }
}
