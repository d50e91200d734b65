import ClarionTesting
import Foundation
import SQLStorage
import Testing

@testable import PostgresDatabase

extension PostgreSQLTests {
    @Suite("Held locks")
    struct HeldLockTests {
        private static let intoHeld = SQLStatement("INSERT INTO held (id) VALUES ($1)")
        private static let intoFree = SQLStatement("INSERT INTO free (id) VALUES ($1)")
        private static let slowly = SQLStatement("SELECT pg_sleep(60), $1::bigint")

        /// Tables without a unique rule: what is written twice shows. One connection of each kind: all share it.
        private func prepared(_ change: (inout PostgresLimits) -> Void) async throws -> TemporaryDatabase {
            var limits = TemporaryDatabase.limits
            (limits.writers, limits.readers) = (1, 1)
            change(&limits)
            let store = try await TemporaryDatabase(limits: limits)
            try await store.database.write { try $0.script("CREATE TABLE held (id BIGINT); CREATE TABLE free (id BIGINT)") }
            return store
        }

        private struct End {
            let fault: SQLFault?
            let took: Duration

            func says(_ text: String) -> Bool { fault.map { "\($0)".contains(text) } ?? false }
        }

        /// Runs the works at the same time, and none before all of them wait.
        private func together(
            _ store: TemporaryDatabase, _ works: [@Sendable (PostgresDatabase) async throws -> Void]
        ) async -> [End] {
            let gate = DispatchSemaphore(value: 0)
            let (runs, asked) = (Counter(), Counter())
            async let first: Void? = try? store.database.write { _ in if runs.next() == 1 { gate.wait() } }
            _ = await eventually { runs.value > 0 }
            let ends = await withTaskGroup(of: (Int, End).self) { group in
                for (number, work) in works.enumerated() {
                    group.addTask {
                        let start = ContinuousClock.now
                        var fault: SQLFault?
                        _ = asked.next()
                        do { try await work(store.database) } catch { fault = error as? SQLFault ?? .outcomeUnknown }
                        return (number, End(fault: fault, took: ContinuousClock.now - start))
                    }
                }
                _ = await eventually { asked.value == works.count }
                try? await Task.sleep(for: .milliseconds(50))
                gate.signal()
                return await group.reduce(into: [Int: End]()) { $0[$1.0] = $1.1 }
            }
            _ = await first
            return works.indices.compactMap { ends[$0] }
        }

        /// Writes, every other one of the second kind.
        private func writes(_ count: Int, _ one: SQLStatement, _ other: SQLStatement)
            -> [@Sendable (PostgresDatabase) async throws -> Void]
        {
            (0..<count).map { number in
                let statement = number.isMultiple(of: 2) ? one : other
                return { database in _ = try await database.write { try $0.rows(statement, [.integer(Int64(number))]) } }
            }
        }

        private func counts(_ table: String, in store: TemporaryDatabase) async throws -> [[SQLValue]] {
            try await store.database.rows("SELECT COUNT(*), COUNT(DISTINCT id) FROM \(table)")
        }

        @Test("writes that a held table blocks cost those beside them one wait, and end by themselves with nothing written")
        func blockedWrites() async throws {
            let store = try await prepared { ($0.statement, $0.lock) = (.seconds(8), .seconds(1)) }
            let held = try await HeldTable("held", in: store)
            let ends = await together(store, writes(40, Self.intoHeld, Self.intoFree))
            try await held.end()
            for (number, end) in ends.enumerated() {
                if number.isMultiple(of: 2) {
                    #expect(end.says("lock_not_available") && end.took >= .seconds(7) && end.took < .seconds(20), "\(end)")
                } else {
                    #expect(end.fault == nil && end.took < .seconds(7), "\(end)")
                }
            }
            #expect(try await counts("held", in: store) == [[.integer(0), .integer(0)]])
            #expect(try await counts("free", in: store) == [[.integer(20), .integer(20)]])
        }

        @Test("writes that were blocked for a while are written when the table is free, each once")
        func waited() async throws {
            let store = try await prepared { $0.lock = .milliseconds(300) }
            let held = try await HeldTable("held", in: store)
            async let ends = together(store, writes(40, Self.intoHeld, Self.intoFree))
            #expect(await eventually { (try? await counts("free", in: store)) == [[.integer(20), .integer(20)]] })
            try await Task.sleep(for: .milliseconds(700))
            try await held.end()
            let all = await ends
            #expect(all.count == 40)
            #expect(all.allSatisfy { $0.fault == nil })
            #expect(try await counts("held", in: store) == [[.integer(20), .integer(20)]])
            #expect(try await counts("free", in: store) == [[.integer(20), .integer(20)]])
        }

        @Test("reads that a held table blocks leave the others their turn")
        func blockedReads() async throws {
            let store = try await prepared { ($0.statement, $0.lock) = (.seconds(8), .seconds(1)) }
            let held = try await HeldTable("held", in: store)
            let ends = await together(
                store,
                (0..<16).map { number in
                    let table = number.isMultiple(of: 2) ? "held" : "free"
                    return { _ = try await $0.number("SELECT COUNT(*) FROM \(table)") }
                })
            try await held.end()
            for (number, end) in ends.enumerated() {
                if number.isMultiple(of: 2) {
                    #expect(end.says("lock_not_available") && end.took < .seconds(20), "\(end)")
                } else {
                    #expect(end.fault == nil && end.took < .seconds(7), "\(end)")
                }
            }
        }

        @Test("however many statements take too long, all are answered in time, and what was not begun is not written")
        func slow() async throws {
            let store = try await prepared { ($0.statement, $0.queue) = (.seconds(2), .seconds(3)) }
            let ends = await together(store, writes(24, Self.slowly, Self.intoFree))
            for (number, end) in ends.enumerated() {
                #expect(end.took < .seconds(14), "\(end)")
                if number.isMultiple(of: 2) {
                    #expect(end.says("query_canceled"), "\(end)")
                } else {
                    #expect(end.fault == nil || end.says("not begun"), "\(end)")
                }
            }
            let written = Int64(ends.enumerated().count { !$0.offset.isMultiple(of: 2) && $0.element.fault == nil })
            #expect(written > 0)
            #expect(try await counts("free", in: store) == [[.integer(written), .integer(written)]])
        }

        @Test("a write that is not done when its life is over is undone")
        func life() async throws {
            let store = try await prepared { $0.life = .seconds(5) }
            let error = await #expect(throws: SQLFault.self) {
                try await store.database.write { connection in
                    _ = try connection.run(Self.intoFree, [.integer(1)])
                    try connection.script("SELECT pg_sleep(5.5)")
                }
            }
            #expect("\(String(describing: error))".contains("open for too long"))
            #expect(try await counts("free", in: store) == [[.integer(0), .integer(0)]])
            try await store.database.write { _ = try $0.run(Self.intoFree, [.integer(2)]) }
            #expect(try await counts("free", in: store) == [[.integer(1), .integer(1)]])
        }

        @Test("a statement whose plan a change of the schema made useless is prepared anew, and no caller notices")
        func plan() async throws {
            let store = try await prepared { _ in }
            #expect(try await store.database.rows("SELECT * FROM free").isEmpty)
            _ = try await store.psql("ALTER TABLE free ADD COLUMN name TEXT; INSERT INTO free VALUES (1, 'one')")
            #expect(try await store.database.rows("SELECT * FROM free") == [[.integer(1), .text("one")]])
        }
    }
}
