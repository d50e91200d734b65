import ClarionTesting
import Foundation
import SQLStorage
import Synchronization
import Testing

@testable import SQLiteDatabase

@Suite("Connections that only read", .timeLimit(.minutes(10)))
struct ReaderPoolTests {
    private static let create = "CREATE TABLE numbers (number INTEGER NOT NULL)"
    private static let insert = SQLStatement("INSERT INTO numbers (number) VALUES ($1)")
    private static let count = SQLStatement("SELECT COUNT(*) FROM numbers")

    /// One connection, on which a read is under way until it is let go.
    private final class Bench: Sendable {
        let store: TemporaryStore
        let pool: ReaderPool
        /// What was read, in that order.
        let read = Mutex<[Int]>([])
        private let gate = DispatchSemaphore(value: 0)

        init(bound: Int = ReaderPool.bound) async throws {
            store = try await TemporaryStore()
            try await store.database.write { try $0.script(ReaderPoolTests.create) }
            pool = try ReaderPool(path: store.path, size: 1, bound: bound)
        }

        func hold() async throws {
            try await pool.run { [self] _ in
                read.withLock { $0.append(0) }
                gate.wait()
            }
        }

        func note(_ number: Int) async throws { try await pool.run { [self] _ in read.withLock { $0.append(number) } } }

        func letGo() { gate.signal() }
    }

    @Test("reads that find no free connection are done in the order in which they came")
    func line() async throws {
        let bench = try await Bench()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await bench.hold() }
            #expect(await eventually { bench.read.withLock { !$0.isEmpty } })
            for number in 1...20 {
                group.addTask { try await bench.note(number) }
                #expect(await eventually { bench.pool.waitingCount == number })
            }
            bench.letGo()
            try await group.waitForAll()
        }
        #expect(bench.read.withLock { $0 } == Array(0...20))
        #expect(bench.pool.waitingCount == 0)
        try await bench.note(21)
    }

    @Test("more than may wait are refused at once, and those before them are read")
    func bound() async throws {
        let bench = try await Bench(bound: 2)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await bench.hold() }
            #expect(await eventually { bench.read.withLock { !$0.isEmpty } })
            for number in 1...2 {
                group.addTask { try await bench.note(number) }
                #expect(await eventually { bench.pool.waitingCount == number })
            }
            await #expect(throws: SQLFault.unavailable(reason: "too many reads wait")) { try await bench.note(3) }
            bench.letGo()
            try await group.waitForAll()
        }
        #expect(bench.read.withLock { $0 } == [0, 1, 2])
    }

    @Test("when it is closed, running reads end well, and waiting and later ones fail")
    func closing() async throws {
        let bench = try await Bench()
        let closed = SQLFault.unavailable(reason: "the database is closed")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await bench.hold() }
            #expect(await eventually { bench.read.withLock { !$0.isEmpty } })
            group.addTask { await #expect(throws: closed) { try await bench.note(1) } }
            #expect(await eventually { bench.pool.waitingCount == 1 })
            group.addTask {
                try await withCheckedThrowingContinuation { continuation in
                    Thread { continuation.resume(with: Result { try bench.pool.close() }) }.start()
                }
            }
            #expect(await eventually { bench.pool.waitingCount == 0 })
            bench.letGo()
            try await group.waitForAll()
        }
        await #expect(throws: closed) { try await bench.note(2) }
        #expect(bench.read.withLock { $0 } == [0])
    }

    @Test("all that is read at once is of one moment, and the next read is of a later one")
    func moment() async throws {
        let bench = try await Bench()
        let (begun, written) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let counts = bench.pool.run { connection -> [Int64] in
            defer { begun.signal() }
            let before = try connection.row(Self.count, [])?.integer(0) ?? -1
            begun.signal()
            written.wait()
            return [before, try connection.row(Self.count, [])?.integer(0) ?? -1]
        }
        await withCheckedContinuation { continuation in
            Thread {
                begun.wait()
                continuation.resume()
            }.start()
        }
        let write = await Task { try await bench.store.database.write { _ = try $0.run(Self.insert, [.integer(1)]) } }.result
        written.signal()
        try write.get()
        #expect(try await counts == [0, 0])
        #expect(try await bench.pool.run { try $0.row(Self.count, [])?.integer(0) } == 1)
    }

    @Test("a database that is closed leaves its file alone, with everything in it")
    func log() async throws {
        let store = try await TemporaryStore()
        try await store.database.write { try $0.script(Self.create) }
        _ = try await store.database.read { try $0.row(Self.count, []) }
        #expect(FileManager.default.fileExists(atPath: store.path + "-wal"))
        try store.database.close()
        #expect(!FileManager.default.fileExists(atPath: store.path + "-wal"))
    }

    @Test("a read that fails leaves its connection as it was, and one that writes is refused")
    func failing() async throws {
        struct Wrong: Error {}
        let bench = try await Bench()
        await #expect(throws: Wrong.self) { try await bench.pool.run { _ in throw Wrong() } }
        await #expect(throws: SQLFault.self) {
            _ = try await bench.pool.run { try $0.rows(SQLStatement("SELECT nothing FROM nowhere"), []) }
        }
        await #expect(throws: SQLFault.self) { _ = try await bench.pool.run { try $0.run(Self.insert, [.integer(1)]) } }
        try await bench.store.database.write { _ = try $0.run(Self.insert, [.integer(2)]) }
        #expect(try await bench.pool.run { try $0.row(Self.count, [])?.integer(0) } == 1)
    }
}
