import Foundation
import GRDB
import RichPushModel
import SQLStorage
import SQLiteDatabase
import Synchronization
import Testing

@Suite("A copy of a database in use")
struct BackupTests {
    private static let create = "CREATE TABLE pairs (number INTEGER NOT NULL)"
    private static let insert = SQLStatement("INSERT INTO pairs (number) VALUES ($1)")

    @Test("it is of one moment, whole and private, while a server writes; and it is never written over another file")
    func consistent() async throws {
        let store = try await TemporaryStore()
        try await store.database.write { try $0.script(Self.create) }
        let writing = Task {
            var count: Int64 = 0
            while !Task.isCancelled {
                let number = count
                // Half of a pair must never be seen.
                try await store.database.write { connection in
                    for _ in 1...2 { try connection.run(Self.insert, [.integer(number)]) }
                }
                count += 1
            }
            return count
        }
        let command = try SQLiteDatabase(path: store.path, access: .command)
        for number in 1...3 {
            let path = store.folder + "/copy-\(number)"
            try await command.backUp(to: path)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let copy = try SQLiteDatabase(path: path, access: .server)
            #expect(try await SchemaMigrator().migrate(copy, at: Timestamp(seconds: 9)).isEmpty)
            let check = SQLStatement("PRAGMA integrity_check")
            #expect(try await copy.read { try $0.row(check, [])?.text(0) } == "ok")
            let halves = SQLStatement("SELECT COUNT(*) FROM (SELECT number FROM pairs GROUP BY number HAVING COUNT(*) <> 2)")
            #expect(try await copy.read { try $0.row(halves, [])?.integer(0) } == 0)
            try copy.close()
            await #expect(throws: SQLFault.unavailable(reason: "\(path) exists already")) { try await command.backUp(to: path) }
        }
        writing.cancel()
        #expect(try await writing.value > 0)
        await #expect(throws: SQLFault.self) { try await command.backUp(to: "/nowhere/at/all") }
        try command.close()
    }

    @Test("it says how much of the database has been read while it is made, up to all of it but the free pages")
    func progress() async throws {
        let store = try await TemporaryStore()
        try await store.database.write { connection in
            try connection.script(
                """
                CREATE TABLE filling (bytes BLOB NOT NULL);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 16000)
                INSERT INTO filling SELECT zeroblob(2000) FROM n
                """)
        }
        let command = try SQLiteDatabase(path: store.path, access: .command)
        let used = try await command.space().usedBytes
        let reports = Mutex<[Int64]>([])
        try await command.backUp(to: store.folder + "/copy") { bytes in reports.withLock { $0.append(bytes) } }
        let found = reports.withLock { $0 }
        #expect(found.count > 5 && found == found.sorted(), "\(found)")
        // A page or so of each table and index is read twice, which is little of a database of this size.
        let last = try #require(found.last)
        #expect(last > used / 2, "\(found) of \(used)")
        #expect(last <= used + used / 100, "\(found) of \(used)")
        try command.close()
    }

    @Test("it is the way back after an upgrade: the older program refuses the newer file and goes on with the copy from before")
    func wayBack() async throws {
        let store = try await TemporaryStore()
        try await store.database.write { connection in
            try connection.script(Self.create)
            try connection.run(Self.insert, [.integer(1)])
        }
        let path = store.folder + "/before.sqlite"
        let command = try SQLiteDatabase(path: store.path, access: .command)
        try await command.backUp(to: path)
        try command.close()
        let older = SchemaMigrator()
        let step = Migration(number: older.known + 1, name: "a step of a newer version", oldestBeside: older.known + 1) { _ in
            "CREATE TABLE novelties (number INTEGER NOT NULL)"
        }
        _ = try await SchemaMigrator(Migration.all + [step]).migrate(store.database, at: Timestamp(seconds: 1))
        let refusal = SQLFault.newerSchema(found: older.known + 1, known: older.known)
        await #expect(throws: refusal) { _ = try await older.migrate(store.database, at: Timestamp(seconds: 2)) }
        let copy = try SQLiteDatabase(path: path, access: .server)
        #expect(try await older.migrate(copy, at: Timestamp(seconds: 3)).isEmpty)
        let count = SQLStatement("SELECT COUNT(*) FROM pairs")
        #expect(try await copy.read { try $0.row(count, [])?.integer(0) } == 1)
        try copy.close()
    }

    @Test("a file keeps the pages that it was made with, also of an earlier version; a new one and a copy have those of this one")
    func pages() async throws {
        let store = try await TemporaryStore()
        let (old, copy) = (store.folder + "/old", store.folder + "/copied")
        try DatabaseQueue(path: old).inDatabase { try $0.execute(sql: "PRAGMA page_size = 4096; CREATE TABLE pairs (number)") }
        let database = try SQLiteDatabase(path: old, access: .server)
        try await database.write { _ = try $0.run(Self.insert, [.integer(7)]) }
        try await database.backUp(to: copy)
        #expect(try await Self.number(database, "PRAGMA page_size") == 4096)
        #expect(try await Self.number(database, "PRAGMA wal_autocheckpoint") == 8192, "the log is as long as with larger pages")
        try database.close()
        let copied = try SQLiteDatabase(path: copy, access: .server)
        #expect(try await Self.number(copied, "PRAGMA page_size") == 8192)
        #expect(try await Self.number(copied, "SELECT number FROM pairs") == 7)
        try copied.close()
        #expect(try await Self.number(store.database, "PRAGMA page_size") == 8192)
        #expect(try await Self.number(store.database, "PRAGMA wal_autocheckpoint") == 4096)
    }

    private static func number(_ database: any SQLDatabase, _ text: String) async throws -> Int64? {
        // By the writer, whose settings these are.
        let statement = SQLStatement(composed: text)
        return try await database.write { try $0.row(statement, [])?.integer(0) }
    }
}
