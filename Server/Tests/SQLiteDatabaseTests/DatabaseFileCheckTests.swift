import Foundation
import GRDB
import SQLStorage
import SQLiteDatabase
import Testing

@Suite("Looking for damage in a database file")
struct DatabaseFileCheckTests {
    private static let insert = SQLStatement("INSERT INTO words (id, word) VALUES ($1, $2)")

    private func filled() async throws -> TemporaryStore {
        let store = try await TemporaryStore()
        try await store.database.write { connection in
            try connection.script("CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT); CREATE INDEX by_word ON words (word)")
            for number in 1...2_000 {
                try connection.run(Self.insert, [.integer(Int64(number)), .text("confidential \(number)")])
            }
        }
        return store
    }

    /// Writes over a page of a closed file.
    private func damage(_ page: Int64, of size: Int64, in path: String) throws {
        try #require(page > 1 && size > 0)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64((page - 1) * size))
        try file.write(contentsOf: Data(repeating: 0xA5, count: Int(size)))
        try file.close()
    }

    private func number(_ statement: SQLStatement, in database: any SQLDatabase) async throws -> Int64 {
        try await database.read { try $0.row(statement, [])?.integer(0) ?? 0 }
    }

    @Test("a whole file has no defects, beside a server that has it open, closed, and as a copy; and stays as it is")
    func whole() async throws {
        let store = try await filled()
        let copy = store.folder + "/copy"
        let command = try SQLiteDatabase(path: store.path, access: .command)
        try await command.backUp(to: copy)
        #expect(try await DatabaseFileCheck.defects(of: store.path).isEmpty)
        try command.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: copy))
        #expect(try await DatabaseFileCheck.defects(of: copy).isEmpty)
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy)) == bytes)
        #expect(!FileManager.default.fileExists(atPath: copy + "-wal"))
        try store.database.close()
        #expect(try await DatabaseFileCheck.defects(of: store.path).isEmpty)
    }

    @Test("a page that is not the engine's is named, and nothing that stands on the others")
    func damaged() async throws {
        let store = try await filled()
        let last = try await number(SQLStatement("PRAGMA page_count"), in: store.database)
        let size = try await number(SQLStatement("PRAGMA page_size"), in: store.database)
        try store.database.close()
        try damage(last, of: size, in: store.path)
        let defects = try await DatabaseFileCheck.defects(of: store.path)
        #expect((1...DatabaseFileCheck.limit).contains(defects.count))
        #expect(defects.contains { $0.contains("\(last)") } && !defects.contains { $0.contains("confidential") }, "\(defects)")
    }

    @Test("an index that does not say what its table says is named")
    func inconsistent() async throws {
        let store = try await filled()
        try await store.database.write { connection in
            try connection.script(
                """
                PRAGMA writable_schema = ON;
                UPDATE sqlite_master SET sql = 'CREATE INDEX by_word ON words (id)' WHERE name = 'by_word'
                """)
        }
        try store.database.close()
        let defects = try await DatabaseFileCheck.defects(of: store.path)
        #expect(defects.count == DatabaseFileCheck.limit && defects.allSatisfy { $0.contains("by_word") }, "\(defects)")
    }

    @Test("a file in which the engine cannot find its way is damaged")
    func lost() async throws {
        let store = try await filled()
        let root = try await number(
            SQLStatement("SELECT rootpage FROM sqlite_master WHERE name = 'words'"), in: store.database)
        let size = try await number(SQLStatement("PRAGMA page_size"), in: store.database)
        try store.database.close()
        try damage(root, of: size, in: store.path)
        await #expect(throws: SQLFault.damaged(reason: "SQLITE_CORRUPT")) { try await DatabaseFileCheck.defects(of: store.path) }
    }

    @Test("a file that is empty, as a copy is that was cut off, and a database of another program are not ours")
    func foreign() async throws {
        let store = try await TemporaryStore()
        let (empty, other) = (store.folder + "/empty", store.folder + "/other")
        try Data().write(to: URL(fileURLWithPath: empty))
        try DatabaseQueue(path: other).inDatabase { try $0.execute(sql: "CREATE TABLE words (word TEXT)") }
        for path in [empty, other] {
            #expect(try await DatabaseFileCheck.defects(of: path) == ["there is no table of clarion in it"])
        }
    }

    @Test("a file that the engine cannot open has the reason of the system, as where a command opens it to write")
    func unopened() async throws {
        let store = try await filled()
        try store.database.close()
        let below = store.path + "/clarion.sqlite"
        let reason = "the database file cannot be opened: a part of the path is no folder (ENOTDIR)"
        await #expect(throws: SQLFault.unavailable(reason: reason)) { _ = try await DatabaseFileCheck.defects(of: below) }
        await #expect(throws: SQLFault.unavailable(reason: reason)) { _ = try await DatabaseFileCheck.isOurs(below) }
    }

    @Test("a file that is no database is damaged, and one that is not there cannot be read")
    func none() async throws {
        let store = try await TemporaryStore()
        let path = store.folder + "/other"
        try Data(repeating: 0xA5, count: 20_000).write(to: URL(fileURLWithPath: path))
        await #expect(throws: SQLFault.damaged(reason: "SQLITE_NOTADB")) { try await DatabaseFileCheck.defects(of: path) }
        let error = await #expect(throws: SQLFault.self) { try await DatabaseFileCheck.defects(of: store.folder + "/none") }
        #expect(error?.isUnavailable == true)
        #expect(!FileManager.default.fileExists(atPath: store.folder + "/none"))
    }
}

extension SQLFault {
    fileprivate var isUnavailable: Bool {
        if case .unavailable = self { true } else { false }
    }
}
