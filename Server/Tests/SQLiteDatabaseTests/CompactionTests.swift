import Foundation
import GRDB
import RichPushModel
import SQLStorage
import Synchronization
import Testing

@testable import SQLiteDatabase

@Suite("A compaction of the database file")
struct CompactionTests {
    private static let create = "CREATE TABLE filling (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL)"
    private static let insert = SQLStatement("INSERT INTO filling (number, bytes) VALUES ($1, zeroblob(6000))")

    /// Each pause advances the clock without waiting.
    private struct HastyClock: ServiceClock {
        var now: Timestamp { Timestamp(seconds: 1) }
        var uptime: Duration { .zero }
        func sleep(for duration: Duration) async throws { try Task.checkCancellation() }
    }

    private struct Stop: Error {}

    /// Fills a database with a thousand pages of rows and deletes all but every tenth, which lie all over the file.
    private static func fill(_ database: any SQLDatabase) async throws {
        try await database.write { connection in
            try connection.script(create)
            for number in 1...1000 { try connection.run(insert, [.integer(Int64(number))]) }
        }
        try await database.write { try $0.script("DELETE FROM filling WHERE number % 10 <> 0") }
    }

    private static func size(_ path: String) throws -> Int64 {
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size]
        return try #require((size as? UInt64).map(Int64.init) ?? (size as? Int64))
    }

    private static func number(_ database: any SQLDatabase, _ text: String) async throws -> Int64? {
        let statement = SQLStatement(composed: text)
        return try await database.read { try $0.row(statement, [])?.integer(0) }
    }

    private static func integrity(_ database: any SQLDatabase) async throws -> String? {
        let check = SQLStatement("PRAGMA integrity_check")
        return try await database.read { try $0.row(check, [])?.text(0) }
    }

    /// How long the connection that writes waits for locks, in milliseconds.
    private static func busyTimeout(_ database: SQLiteDatabase) async throws -> Int64? {
        try await database.outsideTransaction { try Int64.fetchOne($0, sql: "PRAGMA busy_timeout") }
    }

    @Test("the file gets as short as what is left needs, beside a server that has it open, and every row is kept")
    func shrinks() async throws {
        let store = try await TemporaryStore()
        try await Self.fill(store.database)
        let command = try SQLiteDatabase(path: store.path, access: .command)
        let before = try await command.space()
        #expect(before.isIncremental && before.freePages > 800, "\(before)")
        try await command.giveBackFreePages(clock: HastyClock())
        #expect(try await command.emptyLog(clock: HastyClock()))
        let after = try await command.space()
        #expect(after.freePages == 0 && after.pages <= before.pages - before.freePages, "\(after)")
        #expect(try Self.size(store.path) == after.bytes)
        #expect(command.logBytes == 0)
        #expect(try await Self.number(store.database, "SELECT COUNT(*) FROM filling WHERE length(bytes) = 6000") == 100)
        #expect(try await Self.integrity(store.database) == "ok")
        try command.close()
    }

    @Test("a writer beside it waits for one step at most: each transaction moves a bounded number of pages, and frees the lock")
    func steps() async throws {
        let store = try await TemporaryStore()
        try await Self.fill(store.database)
        let command = try SQLiteDatabase(path: store.path, access: .command)
        let (before, server) = (try await command.space(), store.database)
        let lengths = Mutex([before.pages])
        try await command.giveBackFreePages(clock: HastyClock()) { done, _ in
            let pages = try await Self.number(server, "PRAGMA page_count")
            lengths.withLock { $0.append(pages ?? 0) }
            // It would wait for 5 seconds and fail, if the compaction kept the lock.
            try await server.write { _ = try $0.run(Self.insert, [.integer(10_000 + done)]) }
        }
        let found = lengths.withLock { $0 }
        #expect(found.count > 6, "\(found)")
        for (former, next) in zip(found, found.dropFirst()) {
            // One page more when the end of the file was a page of the engine's own.
            #expect(former - next <= Int64(SQLiteDatabase.compactionStep) + 1, "\(found)")
        }
        #expect(try await Self.number(server, "SELECT COUNT(*) FROM filling WHERE number > 10000") == Int64(found.count - 1))
        try command.close()
    }

    @Test("one that ends between two steps leaves a sound file, and the next one goes on")
    func cutOff() async throws {
        let store = try await TemporaryStore()
        try await Self.fill(store.database)
        let command = try SQLiteDatabase(path: store.path, access: .command)
        let before = try await command.space()
        await #expect(throws: Stop.self) {
            try await command.giveBackFreePages(clock: HastyClock()) { done, _ in if done == 3 { throw Stop() } }
        }
        // What a process leaves behind that is killed: the file and its log, with nothing closed.
        let copy = store.folder + "/killed"
        for end in ["", "-wal"] { try FileManager.default.copyItem(atPath: store.path + end, toPath: copy + end) }
        let killed = try SQLiteDatabase(path: copy, access: .server)
        #expect(try await Self.integrity(killed) == "ok")
        let between = try await killed.space()
        #expect(between.freePages < before.freePages && between.freePages > 0, "\(between)")
        try await killed.giveBackFreePages(clock: HastyClock())
        #expect(try await killed.space().freePages == 0)
        #expect(try await Self.number(killed, "SELECT COUNT(*) FROM filling") == 100)
        try killed.close()
        try command.close()
    }

    @Test("an older file is left alone by steps and by being opened; rewritten, it goes in steps and keeps its page size")
    func older() async throws {
        let store = try await TemporaryStore()
        let old = store.folder + "/old"
        try DatabaseQueue(path: old).inDatabase { try $0.execute(sql: "PRAGMA page_size = 4096; CREATE TABLE first (number)") }
        let database = try SQLiteDatabase(path: old, access: .server)
        try await Self.fill(database)
        let before = try await database.space()
        #expect(!before.isIncremental && before.freePages > 800, "\(before)")
        try await database.giveBackFreePages(clock: HastyClock())
        #expect(try await database.space() == before)
        try await database.rewrite()
        #expect(try await database.emptyLog(clock: HastyClock()))
        let after = try await database.space()
        #expect(after.isIncremental && after.freePages == 0, "\(after)")
        // Documentation/Operations.md says so: another size needs a backup and its restoration.
        #expect(after.pageSize == 4096)
        #expect(try Self.size(old) == after.bytes && after.bytes < before.bytes / 4)
        #expect(try await Self.integrity(database) == "ok")
        #expect(try await Self.number(database, "SELECT COUNT(*) FROM filling") == 100)
        try database.close()
    }

    @Test("writing an older file anew says how much of it has been read")
    func reading() async throws {
        let store = try await TemporaryStore()
        let old = store.folder + "/old"
        try DatabaseQueue(path: old).inDatabase { access in
            try access.execute(
                sql: """
                    CREATE TABLE filling (bytes BLOB NOT NULL);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
                    INSERT INTO filling SELECT zeroblob(1000) FROM n
                    """)
        }
        let database = try SQLiteDatabase(path: old, access: .command)
        let used = try await database.space().usedBytes
        let reports = Mutex<[Int64]>([])
        try await database.rewrite { bytes in reports.withLock { $0.append(bytes) } }
        let found = reports.withLock { $0 }
        #expect(found.last.map { $0 > used / 2 && $0 <= used } == true, "\(found) of \(used)")
        try database.close()
    }

    @Test("a copy can be compacted in steps, of an older file as well")
    func copies() async throws {
        let store = try await TemporaryStore()
        let old = store.folder + "/old"
        try DatabaseQueue(path: old).inDatabase { try $0.execute(sql: "CREATE TABLE first (number)") }
        for (path, copy) in [(old, "/copy-old"), (store.path, "/copy-new")] {
            let database = try SQLiteDatabase(path: path, access: .command)
            try await database.backUp(to: store.folder + copy)
            try database.close()
            let copied = try SQLiteDatabase(path: store.folder + copy, access: .server)
            #expect(try await copied.space().isIncremental, "\(copy)")
            try copied.close()
        }
    }

    @Test("to open a file again writes nothing into it")
    func opening() async throws {
        let store = try await TemporaryStore()
        let database = try #require(store.database as? SQLiteDatabase)
        // The library writes an empty transaction into an empty log.
        _ = try await database.write { try $0.script("CREATE TABLE noted (number INTEGER)") }
        let written = database.logBytes
        #expect(written > 0)
        let command = try SQLiteDatabase(path: store.path, access: .command)
        #expect(try await command.space().isIncremental)
        #expect(database.logBytes == written)
        try command.close()
    }

    @Test("a reader that keeps the log lets no write of a server fail, and the caller learns that the file is not cut")
    func readerBeside() async throws {
        let store = try await TemporaryStore()
        try await Self.fill(store.database)
        let server = try #require(store.database as? SQLiteDatabase)
        // A fifth of what it waits otherwise: an attempt that keeps the write lock for long fails one of the writes below.
        try await server.outsideTransaction { try $0.execute(sql: "PRAGMA busy_timeout = 1000") }
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let reader = try DatabaseQueue(path: store.path, configuration: configuration)
        try await reader.writeWithoutTransaction { try $0.execute(sql: "BEGIN; SELECT COUNT(*) FROM filling") }
        let command = try SQLiteDatabase(path: store.path, access: .command)
        let isDone = Mutex(false)
        async let isCut = {
            defer { isDone.withLock { $0 = true } }
            return try await command.emptyLog(clock: HastyClock())
        }()
        var number: Int64 = 10_000
        repeat {
            number += 1
            try await server.write { [number] in _ = try $0.run(Self.insert, [.integer(number)]) }
        } while !isDone.withLock { $0 }
        let cut = try await isCut
        #expect(!cut)
        #expect(server.lastWriteFault == nil)
        try await reader.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try await command.emptyLog(clock: HastyClock()))
        #expect(try await Self.busyTimeout(command) == 5000)
        try command.close()
    }

    @Test("a step waits for another writer as long as its caller says, and what was given back before stays so")
    func writerBeside() async throws {
        let store = try await TemporaryStore()
        try await Self.fill(store.database)
        let command = try SQLiteDatabase(path: store.path, access: .command)
        let before = try await command.space()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: store.path, configuration: configuration)
        await #expect(throws: SQLFault.unavailable(reason: "SQLITE_BUSY: database is locked")) {
            try await command.giveBackFreePages(clock: HastyClock(), lockTimeout: .zero) { done, _ in
                if done == 3 { try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") } }
            }
        }
        #expect(try await command.space().pages < before.pages)
        #expect(try await Self.busyTimeout(command) == 5000)
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try await command.giveBackFreePages(clock: HastyClock(), lockTimeout: .zero)
        #expect(try await command.space().freePages == 0)
        try command.close()
    }

    @Test("a file is not written anew while another program writes: that ends with its timeout, and the file is as it was")
    func busy() async throws {
        let store = try await TemporaryStore()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: store.path, configuration: configuration)
        let command = try SQLiteDatabase(path: store.path, access: .command)
        let before = try await command.space()
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        await #expect(throws: SQLFault.unavailable(reason: "SQLITE_BUSY: database is locked")) {
            try await command.rewrite(lockTimeout: .zero)
        }
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try await command.space() == before)
        try command.close()
    }
}
