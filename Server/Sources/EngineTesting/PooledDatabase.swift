import PostgresDatabase
import SQLStorage
import Synchronization

/// A database of a pool, which gets it back when this is closed or forgotten.
public final class PooledDatabase: SQLDatabase {
    /// The name of the database at its server.
    public let name: String
    private let database: PostgresDatabase
    private let pool: PostgreSQLPool
    private let isClosed = Mutex(false)

    init(_ name: String, _ database: PostgresDatabase, pool: PostgreSQLPool) {
        self.name = name
        self.database = database
        self.pool = pool
    }

    deinit { close() }

    /// Another node on the same database.
    public func another() throws -> PostgresDatabase { try pool.open(name) }

    public var dialect: SQLDialect { database.dialect }
    public var lastWriteFault: String? { database.lastWriteFault }
    public var load: DatabaseLoad { database.load }

    public func close() {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst else { return }
        database.close()
        pool.giveBack(name)
    }

    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result { try await database.read(body) }

    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result { try await database.write(body) }

    public func writeAlone<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result { try await database.writeAlone(body) }
}
