import Foundation
import GRDB
import GRDBSQLite
import SQLStorage
import Testing

@testable import SQLiteDatabase

@Suite("Columns that are read where they lie")
struct SQLiteColumnsTests {
    @Test("the engine is made for several threads, and every connection that rows are read from has no lock of its own")
    func locks() async throws {
        #expect(sqlite3_threadsafe() != 0)
        let store = try await TemporaryStore()
        let select = SQLStatement("SELECT 1")
        let check: @Sendable (any SQLConnection) throws -> Bool = { connection in
            var isWithoutLock = false
            try connection.forEachRow(select, []) { isWithoutLock = ($0 as? SQLiteColumns)?.isWithoutLock == true }
            return isWithoutLock
        }
        let reads = try await store.database.read(check)
        let writes = try await store.database.write(check)
        #expect(reads)
        #expect(writes)
        // What the two are compared with: a connection that has one.
        var serialised: OpaquePointer?
        sqlite3_open_v2(":memory:", &serialised, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, nil)
        defer { sqlite3_close(serialised) }
        #expect(sqlite3_db_mutex(serialised) != nil)
    }

    @Test("a row has each column as its type is, and a number with a fraction as null")
    func types() async throws {
        let store = try await TemporaryStore()
        let select = SQLStatement("SELECT 7, 'a' || char(0) || 'é', '', x'00ff', x'', NULL, 1.5 WHERE 1 = $1")
        let read = try await store.database.read { try $0.rows(select, [.integer(1)]) }
        let expected: [SQLValue] = [
            .integer(7), .text("a\u{0}é"), .text(""), .bytes([0, 255]), .bytes([]), .null, .null,
        ]
        #expect(read == [SQLRow(expected)])
        #expect(try await store.database.read { try $0.rows(select, [.integer(2)]) }.isEmpty)
    }

    /// In a process of its own, since it takes the engine's memory away.
    @Test("a text that there is no memory for is an error, and not an empty text")
    func memory() async {
        await #expect(processExitsWith: .success) {
            struct Wrong: Error {}
            var database: OpaquePointer?
            var statement: OpaquePointer?
            sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
            // Texts of another encoding are converted when they are read, which takes memory.
            let script = "PRAGMA encoding = 'UTF-16'; CREATE TABLE t AS SELECT printf('%.*c', 1000000, 'x') AS x, '' AS y"
            guard sqlite3_exec(database, script, nil, nil, nil) == SQLITE_OK,
                sqlite3_prepare_v2(database, "SELECT x, y FROM t", -1, &statement, nil) == SQLITE_OK,
                let row = statement, sqlite3_step(row) == SQLITE_ROW
            else { throw Wrong() }
            let columns = SQLiteColumns(row)
            sqlite3_hard_heap_limit64(sqlite3_memory_used() + 10_000)
            do {
                _ = try columns.text(0)
                throw Wrong()
            } catch let error as DatabaseError where error.resultCode == .SQLITE_NOMEM {}
            // A value that could not be converted is null from then on: it is asked once.
            sqlite3_hard_heap_limit64(0)
            sqlite3_reset(statement)
            guard sqlite3_step(statement) == SQLITE_ROW else { throw Wrong() }
            sqlite3_hard_heap_limit64(sqlite3_memory_used() + 10_000)
            var bytes: [UInt8] = []
            do {
                _ = try columns.appendTexts(from: 0, to: &bytes)
                throw Wrong()
            } catch let error as DatabaseError where error.resultCode == .SQLITE_NOMEM {}
            sqlite3_hard_heap_limit64(0)
            sqlite3_reset(statement)
            guard sqlite3_step(statement) == SQLITE_ROW, try columns.text(0).count == 1_000_000, try columns.text(1).isEmpty
            else {
                throw Wrong()
            }
        }
    }
}
