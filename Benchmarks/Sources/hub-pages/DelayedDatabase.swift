import Foundation
import SQLStorage

/// A database whose server seems to be farther away: each transaction that reads, and each of its statements, takes a round trip more.
final class DelayedDatabase: SQLDatabase {
    private let inner: any SQLDatabase
    private let microseconds: UInt32

    init(_ inner: any SQLDatabase, microseconds: UInt32) {
        self.inner = inner
        self.microseconds = microseconds
    }

    var dialect: SQLDialect { inner.dialect }
    var lastWriteFault: String? { inner.lastWriteFault }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await inner.read { [microseconds] connection in
            // That of its beginning. The answer to its end is not waited for.
            usleep(microseconds)
            return try body(DelayedConnection(inner: connection, microseconds: microseconds))
        }
    }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result { try await inner.write(body) }

    func close() throws { try inner.close() }
}

private struct DelayedConnection: SQLConnection {
    let inner: any SQLConnection
    let microseconds: UInt32

    var dialect: SQLDialect { inner.dialect }

    func rows(_ statement: SQLStatement, _ values: [SQLValue]) throws -> [SQLRow] {
        usleep(microseconds)
        return try inner.rows(statement, values)
    }

    func forEachRow(_ statement: SQLStatement, _ values: [SQLValue], _ body: (any SQLColumns) throws -> Void) throws {
        usleep(microseconds)
        try inner.forEachRow(statement, values, body)
    }

    @discardableResult
    func run(_ statement: SQLStatement, _ values: [SQLValue]) throws -> Int {
        usleep(microseconds)
        return try inner.run(statement, values)
    }

    func script(_ text: String) throws { try inner.script(text) }
}
