import Foundation
import SQLStorage
import Testing

@testable import PostgresDatabase

extension PostgreSQLTests {
    @Suite("Driver")
    struct DriverTests {
        private static let create = "CREATE TABLE numbers (id BIGINT PRIMARY KEY, text TEXT COLLATE \"C\", bytes BYTEA)"
        private static let insert = SQLStatement("INSERT INTO numbers (id, text, bytes) VALUES ($1, $2, $3)")
        private static let count = "SELECT COUNT(*) FROM numbers"

        private func prepared() async throws -> TemporaryDatabase {
            let store = try await TemporaryDatabase()
            try await store.database.write { try $0.script(Self.create) }
            return store
        }

        @Test("what was written comes back, whatever is in it")
        func values() async throws {
            let store = try await prepared()
            let values: [[SQLValue]] = [
                [.integer(.min), .text(""), .bytes([])],
                [.integer(-1), .null, .null],
                [.integer(0), .text("it's \\ \"$1\" 😀 e\u{301}\n"), .bytes([0, 255, 39, 92, 0])],
                [.integer(.max), .text(String(repeating: "x", count: 300_000)), .bytes(Array(repeating: 7, count: 300_000))],
            ]
            for row in values { try await store.database.write { _ = try $0.run(Self.insert, row) } }
            #expect(try await store.database.rows("SELECT id, text, bytes FROM numbers ORDER BY id") == values)
            let shown = try await store.database.read { connection in
                var texts: [String?] = []
                try connection.forEachRow(SQLStatement("SELECT text, id FROM numbers ORDER BY id"), []) { row in
                    texts.append(try row.optionalText(0))
                    #expect(throws: SQLFault.unexpectedColumn(1)) { try row.text(1) }
                }
                return texts
            }
            #expect(shown.map { $0.map(SQLValue.text) ?? .null } == values.map { $0[1] })
        }

        @Test("an answer of many pieces comes whole, whatever its length")
        func longAnswers() async throws {
            let store = try await TemporaryDatabase()
            let select = SQLStatement(
                "SELECT n, repeat(chr((97 + n % 26)::INT), 1 + (n * 37 % 900)::INT) FROM generate_series(1, $1) n")
            for count in [1, 20, 60, 100, 140, 1_000, 20_000] {
                let lengths = try await store.database.read { connection in
                    try connection.rows(select, [.integer(Int64(count))]).map { try $0.text(1).utf8.count }
                }
                #expect(lengths == (1...count).map { 1 + $0 * 37 % 900 })
            }
        }

        @Test("text that PostgreSQL cannot hold is refused, not cut off")
        func nul() async throws {
            let store = try await prepared()
            await #expect(throws: SQLFault.unstorable) {
                try await store.database.write { _ = try $0.run(Self.insert, [.integer(1), .text("a\0b"), .null]) }
            }
            #expect(try await store.database.number(Self.count) == 0)
        }

        @Test("an error undoes its own write and none that shares the commit")
        func savepoints() async throws {
            let store = try await prepared()
            await withTaskGroup { group in
                for number in 0..<200 {
                    group.addTask {
                        try? await store.database.write { connection in
                            try connection.run(Self.insert, [.integer(Int64(number)), .text("\(number)"), .null])
                            if number % 3 == 0 { throw SQLFault.unexpectedColumn(0) }
                        }
                    }
                }
            }
            #expect(try await store.database.number(Self.count) == 133)
        }

        @Test("of writes that share a commit only those fail that break a unique rule, by each other's rows or by older ones")
        func duplicates() async throws {
            let store = try await prepared()
            try await store.database.write { _ = try $0.run(Self.insert, [.integer(7), .null, .null]) }
            let faults = await withTaskGroup(of: SQLFault?.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        do {
                            try await store.database.write { connection in
                                _ = try connection.run(Self.insert, [.integer(Int64(number % 20)), .null, .null])
                            }
                            return nil
                        } catch { return error as? SQLFault }
                    }
                }
                return await group.reduce(into: [SQLFault?]()) { $0.append($1) }
            }
            #expect(faults.count { $0 == nil } == 19)
            #expect(faults.count { $0 == .duplicate } == 41)
            #expect(try await store.database.number(Self.count) == 20)
        }

        @Test("a broken unique rule is a duplicate, a broken statement a refusal without values")
        func faults() async throws {
            let store = try await prepared()
            let values: [SQLValue] = [.integer(1), .text("secret-value"), .null]
            try await store.database.write { _ = try $0.run(Self.insert, values) }
            await #expect(throws: SQLFault.duplicate) { try await store.database.write { _ = try $0.run(Self.insert, values) } }
            for text in ["UPDATE numbers SET text = $1, no = 2", "SELECT CAST($1 AS BIGINT)", "SELECT 1/0, $1"] {
                let error = await #expect(throws: SQLFault.self, "\(text)") {
                    try await store.database.write { _ = try $0.run(SQLStatement(composed: text), [.text("secret-value")]) }
                }
                #expect(!"\(String(describing: error))".contains("secret"), "\(text)")
            }
            await #expect(throws: SQLFault.self, "a read cannot write") {
                try await store.database.read { _ = try $0.run(Self.insert, [.integer(2), .null, .null]) }
            }
            #expect(try await store.database.number(Self.count) == 1)
        }

        @Test("writes of several nodes that read what they change happen one after the other")
        func conflicts() async throws {
            let store = try await prepared()
            try await store.database.write { _ = try $0.run(Self.insert, [.integer(0), .null, .null]) }
            let nodes = try [store.database, store.another(), store.another()]
            // The next number after the highest: two that see the same highest would meet in one.
            let next = SQLStatement("SELECT MAX(id) + 1 FROM numbers")
            let total = try await withThrowingTaskGroup { group in
                for node in nodes {
                    for _ in 0..<40 {
                        group.addTask {
                            try await node.write { connection in
                                let id = try connection.row(next, [])?.integer(0) ?? 0
                                return try connection.run(Self.insert, [.integer(id), .null, .null])
                            }
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(total == 120)
            #expect(try await store.database.rows("SELECT COUNT(*), MAX(id) FROM numbers") == [[.integer(121), .integer(120)]])
        }

        @Test("a closed database says so")
        func closed() async throws {
            let store = try await prepared()
            store.database.close()
            await #expect(throws: SQLFault.self) { try await store.database.number(Self.count) }
            await #expect(throws: SQLFault.self) { try await store.database.write { try $0.script("SELECT 1") } }
        }

        @Test("more work than may wait is refused at once, and what was taken on is done")
        func bound() async throws {
            var limits = TemporaryDatabase.limits
            (limits.writers, limits.waiting, limits.batch) = (1, 5, 1)
            let store = try await TemporaryDatabase(limits: limits)
            let results = await withTaskGroup { group in
                for _ in 0..<30 {
                    group.addTask {
                        await Result { try await store.database.write { try $0.script("SELECT pg_sleep(0.01)") } }.isSuccess
                    }
                }
                return await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            #expect((5..<30).contains(results.count { $0 }))
        }

        @Test("reading and writing go on in a cancelled task: what happened must be stored")
        func cancellation() async throws {
            let store = try await prepared()
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                try await store.database.write { _ = try $0.run(Self.insert, [.integer(1), .null, .null]) }
                return try await store.database.number(Self.count)
            }
            task.cancel()
            #expect(try await task.value == 1)
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }

    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
