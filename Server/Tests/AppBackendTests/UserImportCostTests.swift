import AppBackend
import Logging
import RichPushModel
import SQLStorage
import Synchronization
import Testing

import struct RichPushModel.Tag

@Suite("What an import of users costs")
struct UserImportCostTests {
    /// A database that keeps for which values bindings are read. Where it has two engines, both read for the same ones.
    private final class CountedDatabase: SQLDatabase {
        private let inner: any SQLDatabase
        private let values = Mutex<Set<[SQLValue]>>([])

        init(_ inner: any SQLDatabase) { self.inner = inner }

        var looks: Int { values.withLock { $0.count } }
        var dialect: SQLDialect { inner.dialect }
        var lastWriteFault: String? { inner.lastWriteFault }
        func tableNames() async throws -> [String] { try await inner.tableNames() }
        func close() throws { try inner.close() }

        func read<Result: Sendable>(
            _ body: @escaping @Sendable (any SQLConnection) throws -> Result
        ) async throws -> Result { try await inner.read { [self] in try body(counted($0)) } }

        func write<Result: Sendable>(
            _ body: @escaping @Sendable (any SQLConnection) throws -> Result
        ) async throws -> Result { try await inner.write { [self] in try body(counted($0)) } }

        private func counted(_ connection: any SQLConnection) -> CountedConnection {
            CountedConnection(inner: connection) { [self] statement, read in
                if statement.text.contains("FROM bindings") { values.withLock { _ = $0.insert(read) } }
            }
        }
    }

    private struct CountedConnection: SQLConnection {
        let inner: any SQLConnection
        let seen: (SQLStatement, [SQLValue]) -> Void

        var dialect: SQLDialect { inner.dialect }

        func rows(_ statement: SQLStatement, _ values: [SQLValue]) throws -> [SQLRow] {
            seen(statement, values)
            return try inner.rows(statement, values)
        }

        func run(_ statement: SQLStatement, _ values: [SQLValue]) throws -> Int { try inner.run(statement, values) }
        func script(_ text: String) throws { try inner.script(text) }
    }

    @Test("it looks for devices of those users alone whose tags it changes")
    func looks() async throws {
        let test = try await TestBackend()
        let database = CountedDatabase(test.database)
        let backend = RichPushBackend(
            parts: BackendParts(
                clock: test.clock, hub: test.hub, store: SQLBackendStore(database), contentStore: test.contentStore,
                authenticator: try await PasswordAuthenticator(
                    users: test.store, counts: test.store, hasher: test.hasher, clock: test.clock),
                hasher: test.hasher, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        func load(_ tag: String, changed: Int) async throws {
            let lines = AsyncStream<UserImportLine> { stream in
                for number in 1...50 {
                    let tags = [Tag(number <= changed ? tag : "gold")].compactMap(\.self)
                    stream.yield(UserImportLine(number: number, row: .success(UserRow(name: "user-\(number)", tags: tags))))
                }
                stream.finish()
            }
            try await backend.importUsers(lines) { _ in }
        }
        try await load("gold", changed: 0)
        try await load("gold", changed: 0)
        #expect(database.looks == 0)
        try await load("silver", changed: 3)
        #expect(database.looks == 3)
    }
}
