import ClarionTesting
import EngineTesting
import Foundation
import RichPushModel
import SQLStorage
import Synchronization
import Testing

@testable import PostgresDatabase

extension PostgreSQLTests {
    @Suite("Turns of writes")
    struct TurnTests {
        private static let insert = SQLStatement("INSERT INTO numbers (writer, number) VALUES ($1, $2)")
        private static let count = SQLStatement("UPDATE counters SET last = last + 1 WHERE id = $1 RETURNING last")

        /// How many wait for their turn.
        private static let waits = """
            SELECT COUNT(*) FROM pg_locks WHERE relation = '\(Migration.turnTable)'::regclass AND NOT granted
            """

        /// One connection that writes: who holds it up holds up all.
        private static var limits: PostgresLimits {
            var limits = TemporaryDatabase.limits
            (limits.writers, limits.readers) = (1, 1)
            return limits
        }

        private func prepared(_ change: (inout PostgresLimits) -> Void = { _ in }) async throws -> TemporaryDatabase {
            var limits = Self.limits
            change(&limits)
            let store = try await TemporaryDatabase(limits: limits)
            try await SchemaMigrator().migrate(store.database, at: Timestamp(seconds: 1))
            try await store.database.write {
                try $0.script(
                    """
                    CREATE TABLE counters (id BIGINT PRIMARY KEY, last BIGINT NOT NULL); INSERT INTO counters VALUES (1, 0);
                    CREATE TABLE numbers (writer BIGINT NOT NULL, number BIGINT NOT NULL)
                    """)
            }
            return store
        }

        /// Writes one row, after so many conflicts.
        private func write(_ number: Int64, conflicts: Int, runs: Counter, _ database: PostgresDatabase) async throws {
            try await database.write { connection in
                try connection.run(Self.insert, [.integer(0), .integer(number)])
                if runs.next() <= conflicts { try connection.script(PostgresDatabase.madeConflict) }
            }
        }

        private func numbers(_ store: TemporaryDatabase) async throws -> [[SQLValue]] {
            try await store.database.rows("SELECT number FROM numbers ORDER BY number")
        }

        @Test("writers on one row all get a fair part, though the database is a network away", arguments: [2, 4])
        func fair(writers: Int) async throws {
            let store = try await prepared()
            let proxy = try await FaultProxy(.socket(store.server.socketPath))
            proxy.slow(by: .microseconds(300))
            let url = try DatabaseURL("postgres://clarion@127.0.0.1:\(proxy.port)/\(store.name)")
            let nodes = try (0..<writers).map { _ in
                var limits = Self.limits
                limits.batch = 8
                return try PostgresDatabase(url, limits: limits, logger: TemporaryDatabase.quiet)
            }
            // All are connected before the first begins.
            for node in nodes { try await node.write { try $0.script("SELECT 1") } }
            let race = Race(writers: writers, goal: 480)
            await withTaskGroup(of: Void.self) { group in
                for (place, node) in nodes.enumerated() {
                    // More than fit into a group: the next one is always ready.
                    for _ in 0..<20 {
                        group.addTask {
                            while !race.isOver { await race.note(place) { try await Self.writeOne(place, node) } }
                        }
                    }
                }
            }
            nodes.forEach { $0.close() }
            try await proxy.stop()
            let (parts, total, faults) = race.result
            #expect(faults.isEmpty, "\(faults.prefix(3))")
            #expect(parts.allSatisfy { $0 >= race.goal / 4 }, "\(parts)")
            // Each was counted and written once.
            #expect(try await store.database.number("SELECT last FROM counters") == total)
            #expect(try await store.database.number("SELECT COUNT(DISTINCT number) FROM numbers") == total)
        }

        private static func writeOne(_ writer: Int, _ database: PostgresDatabase) async throws {
            try await database.write { connection in
                let number = try connection.row(count, [.integer(1)])?.integer(0) ?? 0
                try connection.run(insert, [.integer(Int64(writer)), .integer(number)])
            }
        }

        @Test("a write waits for its turn after the second conflict and not before, and lets others by meanwhile")
        func waits() async throws {
            let store = try await prepared {
                ($0.statement, $0.queue, $0.turn) = (.seconds(60), .seconds(60), .milliseconds(500))
            }
            let held = try await HeldTable(Migration.turnTable, in: store)
            let (once, twice) = (Counter(), Counter())
            try await write(1, conflicts: 1, runs: once, store.database)
            #expect(once.value == 2, "one conflict needs no turn")
            async let waiting: Void = write(2, conflicts: 2, runs: twice, store.database)
            #expect(await eventually { twice.value == 2 })
            // The only connection that writes is free again once the turn did not come.
            try await write(3, conflicts: 0, runs: Counter(), store.database)
            #expect(twice.value == 2)
            #expect(try await numbers(store) == [[.integer(1)], [.integer(3)]])
            try await held.end()
            try await waiting
            #expect(twice.value == 3)
            #expect(try await numbers(store) == [[.integer(1)], [.integer(2)], [.integer(3)]])
        }

        @Test("a writer without conflicts takes turns after a commit that found another urgent", arguments: [true, false])
        func urgency(isUrgent: Bool) async throws {
            let store = try await prepared { ($0.statement, $0.queue) = (.seconds(60), .seconds(60)) }
            let held = try await HeldTable(Migration.turnTable, in: store, more: isUrgent ? TransactionText.urgent : "")
            try await write(1, conflicts: 0, runs: Counter(), store.database)
            async let second: Void = write(2, conflicts: 0, runs: Counter(), store.database)
            if isUrgent {
                #expect(await eventually { (try? await store.psql(Self.waits)) == "1" })
            } else {
                try await second
            }
            #expect(try await numbers(store) == (isUrgent ? [[.integer(1)]] : [[.integer(1)], [.integer(2)]]))
            try await held.end()
            try await second
            #expect(try await numbers(store) == [[.integer(1)], [.integer(2)]])
        }

        @Test("a turn that never comes ends the write with the lock's name when its time is over")
        func never() async throws {
            let store = try await prepared { ($0.statement, $0.turn) = (.seconds(3), .milliseconds(500)) }
            let held = try await HeldTable(Migration.turnTable, in: store)
            let runs = Counter()
            let error = await #expect(throws: SQLFault.self) { try await write(1, conflicts: 2, runs: runs, store.database) }
            #expect("\(String(describing: error))".contains("lock_not_available"))
            #expect(runs.value == 2)
            try await held.end()
            #expect(try await numbers(store) == [])
        }

        @Test("without the table for turns, as before its step of the schema, conflicts are repeated all the same")
        func missing() async throws {
            let store = try await prepared()
            _ = try await store.psql("DROP TABLE \(Migration.turnTable)")
            let runs = Counter()
            try await write(1, conflicts: 5, runs: runs, store.database)
            #expect(runs.value == 6)
            #expect(try await numbers(store) == [[.integer(1)]])
        }

        @Test("a turn is seen from: what was committed while it was waited for is there")
        func snapshot() async throws {
            let store = try await prepared()
            let held = try await HeldTable(Migration.turnTable, in: store)
            let runs = Counter()
            async let seen = store.database.write { connection in
                if runs.next() <= 2 { try connection.script(PostgresDatabase.madeConflict) }
                return try connection.row(Self.count, [.integer(1)])?.integer(0)
            }
            #expect(await eventually { runs.value == 2 })
            #expect(await eventually { (try? await store.psql(Self.waits)) == "1" })
            _ = try await store.psql("UPDATE counters SET last = 41")
            try await held.end()
            #expect(try await seen == 42)
            #expect(runs.value == 3, "nothing was in its way any more")
        }
    }
}

extension PostgresDatabase {
    /// The error of a transaction that conflicted with another.
    static let madeConflict = "DO $$ BEGIN RAISE EXCEPTION 'made' USING ERRCODE = '40001'; END $$"
}

/// How far several writers come until the first of them has committed so much.
private final class Race: Sendable {
    let goal: Int
    private let state: Mutex<(parts: [Int], total: Int64, faults: [String])>

    init(writers: Int, goal: Int) {
        self.goal = goal
        state = Mutex((Array(repeating: 0, count: writers), 0, []))
    }

    /// What each had when the first was there, and how much was written in all, after that too.
    var result: (parts: [Int], total: Int64, faults: [String]) { state.withLock { $0 } }
    var isOver: Bool { state.withLock { $0.parts.contains { $0 >= goal } } }

    func note(_ writer: Int, _ write: () async throws -> Void) async {
        do {
            try await write()
            state.withLock { state in
                state.total += 1
                if !state.parts.contains(where: { $0 >= goal }) { state.parts[writer] += 1 }
            }
        } catch {
            state.withLock { $0.faults.append("\(error)") }
        }
    }
}
