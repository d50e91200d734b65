import SQLStorage

/// A database that keeps no audit entries, for the cost of those that the others keep.
final class DatabaseWithoutAudit: SQLDatabase {
    private let inner: any SQLDatabase

    init(_ inner: any SQLDatabase) { self.inner = inner }

    var dialect: SQLDialect { inner.dialect }
    var lastWriteFault: String? { inner.lastWriteFault }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result { try await inner.read(body) }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result { try await inner.write { try body(ConnectionWithoutAudit(inner: $0)) } }

    func close() throws { try inner.close() }
}

private struct ConnectionWithoutAudit: SQLConnection {
    let inner: any SQLConnection

    var dialect: SQLDialect { inner.dialect }

    func rows(_ statement: SQLStatement, _ values: [SQLValue]) throws -> [SQLRow] { try inner.rows(statement, values) }

    @discardableResult
    func run(_ statement: SQLStatement, _ values: [SQLValue]) throws -> Int {
        statement.text.hasPrefix("INSERT INTO audit_entries") ? 1 : try inner.run(statement, values)
    }

    func script(_ text: String) throws { try inner.script(text) }
}
