import ClarionTesting
import Foundation
import Logging
import PostgresDatabase
import SQLStorage
import Synchronization

/// Databases with the schema of this program on one throw-away server, given to one test after the other.
public final class PostgreSQLPool: Sendable {
    private struct State {
        var free: [String] = []
        var made = 0
        var template: Task<Void, any Error>?
    }

    private let server: ThrowAwayPostgreSQL
    private let state = Mutex(State())

    /// A pool on a server.
    public init(_ server: ThrowAwayPostgreSQL) { self.server = server }

    /// The pool of the suite that the test is in, or one on a server that ends with the process.
    public static func ofProcess() async throws -> PostgreSQLPool {
        if let server = SharedPostgreSQL.server { return pool(of: server) }
        return pool(of: try await ThrowAwayPostgreSQL.ofProcess())
    }

    private static let pools = Mutex<[ObjectIdentifier: PostgreSQLPool]>([:])

    private static func pool(of server: ThrowAwayPostgreSQL) -> PostgreSQLPool {
        pools.withLock { pools in
            if let known = pools[ObjectIdentifier(server)] { return known }
            let pool = PostgreSQLPool(server)
            pools[ObjectIdentifier(server)] = pool
            return pool
        }
    }

    /// An empty database, which goes back when it is closed.
    public func take() async throws -> PooledDatabase {
        let (used, template) = state.withLock { state in
            if state.template == nil { state.template = Task { try await self.makeTemplate() } }
            return (state.free.popLast(), state.template)
        }
        try await template?.value
        let name: String
        if let used { name = try await clean(used) } else { name = try await make() }
        return PooledDatabase(name, try open(name), pool: self)
    }

    /// Another node's way to a database that is in use.
    public func open(_ name: String) throws -> PostgresDatabase {
        var limits = PostgresLimits()
        (limits.writers, limits.readers) = (1, 2)
        // What a busy machine does late is no hanging server.
        limits.grace = .seconds(120)
        // Hundreds of tests at once ask one server on a few cores; that one of them waits says nothing.
        (limits.connect, limits.statement, limits.queue) = (.seconds(60), .seconds(60), .seconds(120))
        return try PostgresDatabase(
            DatabaseURL(server.url(database: name)), limits: limits,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    func giveBack(_ name: String) { state.withLock { $0.free.append(name) } }

    private static let template = "clarion_template"

    private func makeTemplate() async throws {
        let steps = Migration.all.map { step in
            step.script(.postgresql) + "\nINSERT INTO schema_steps VALUES (\(step.number), '\(step.name)', 1000);"
        }
        let schema = [SchemaMigrator.tableText(.postgresql) + ";"] + steps
        _ = try await server.run(
            script: "CREATE DATABASE \(Self.template);\n\\connect \(Self.template)\n" + schema.joined(separator: "\n"))
    }

    private func make() async throws -> String {
        let name = state.withLock { state in
            state.made += 1
            return "clarion_\(state.made)"
        }
        _ = try await server.run(script: "CREATE DATABASE \(name) TEMPLATE \(Self.template);")
        return name
    }

    /// Ends what the test before may have left running, and takes every row out. The steps of the schema stay, without the mark of a
    /// move that a test cut off: the next move would take the database for its own.
    private func clean(_ name: String) async throws -> String {
        _ = try await server.run(
            script: """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)' AND pid <> pg_backend_pid();
                DO $$ DECLARE name text; BEGIN
                    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_steps' LOOP
                        EXECUTE 'DELETE FROM ' || quote_ident(name);
                    END LOOP;
                END $$;
                DELETE FROM schema_steps WHERE number > \(Migration.all.count);
                ALTER TABLE feedback ALTER COLUMN number RESTART;
                ALTER TABLE outcome_reports ALTER COLUMN number RESTART;
                ALTER TABLE webhook_deliveries ALTER COLUMN number RESTART;
                SELECT setval('order_numbers', \(Int64(1) << 42));
                """, database: name)
        return name
    }
}
