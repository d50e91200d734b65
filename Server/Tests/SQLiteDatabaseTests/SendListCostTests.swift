import EngineTesting
import PushHub
import RichPushModel
import SQLStorage
import Synchronization
import Testing

@Suite("What a page of the list of sends costs")
struct SendListCostTests {
    /// A database that counts the statements of its readers.
    private final class CountedDatabase: SQLDatabase {
        let inner: any SQLDatabase
        private let count = Mutex(0)

        init(_ inner: any SQLDatabase) { self.inner = inner }

        var statements: Int { count.withLock { $0 } }
        var dialect: SQLDialect { inner.dialect }
        var lastWriteFault: String? { inner.lastWriteFault }
        func tableNames() async throws -> [String] { try await inner.tableNames() }
        func close() throws { try inner.close() }

        func read<Result: Sendable>(
            _ body: @escaping @Sendable (any SQLConnection) throws -> Result
        ) async throws -> Result {
            try await inner.read { [self] connection in
                try body(CountedConnection(inner: connection, counted: { self.count.withLock { $0 += 1 } }))
            }
        }

        func write<Result: Sendable>(
            _ body: @escaping @Sendable (any SQLConnection) throws -> Result
        ) async throws -> Result { try await inner.write(body) }
    }

    private struct CountedConnection: SQLConnection {
        let inner: any SQLConnection
        let counted: () -> Void

        var dialect: SQLDialect { inner.dialect }

        func rows(_ statement: SQLStatement, _ values: [SQLValue]) throws -> [SQLRow] {
            counted()
            return try inner.rows(statement, values)
        }

        func run(_ statement: SQLStatement, _ values: [SQLValue]) throws -> Int { try inner.run(statement, values) }
        func script(_ text: String) throws { try inner.script(text) }
    }

    @Test("four statements for outcomes, whether it has one send or fifty", arguments: [1, 50])
    func statements(count: Int) async throws {
        let store = try await TemporaryStore()
        let database = CountedDatabase(store.database)
        let sends = (0..<count).map { _ in NotificationID() }
        _ = try await SQLTelemetryStore(database).telemetry(of: sends, in: HubID(1), at: Timestamp(seconds: 1))
        #expect(database.statements == 4)
    }
}
