import ClarionTesting
import EngineTesting
import Foundation
import SQLStorage
import Testing

@testable import PostgresDatabase

extension PostgreSQLTests {
    @Suite("Commits whatever synchronous_commit is")
    struct SynchronousCommitTests {
        /// What each weaker or stronger setting of the database is at the moment of a commit.
        private static let settings = [
            ("off", "on"), ("local", "on"), ("remote_write", "on"), ("on", "on"), ("remote_apply", "remote_apply"),
        ]
        private static let insert = SQLStatement("INSERT INTO numbers (id) VALUES ($1)")

        /// A database that notes the setting of each transaction that writes a number, at its commit.
        private func prepared(_ setting: String) async throws -> TemporaryDatabase {
            let store = try await TemporaryDatabase()
            _ = try await store.psql(
                """
                CREATE TABLE numbers (id BIGINT PRIMARY KEY);
                CREATE TABLE seen (setting TEXT);
                CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS
                    'BEGIN INSERT INTO seen VALUES (current_setting(''synchronous_commit'')); RETURN NULL; END';
                CREATE CONSTRAINT TRIGGER look AFTER INSERT ON numbers DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION look();
                ALTER DATABASE \(store.name) SET synchronous_commit = \(setting)
                """)
            return store
        }

        private func seen(_ database: PostgresDatabase) async throws -> [[SQLValue]] {
            try await database.rows("SELECT DISTINCT setting FROM seen")
        }

        @Test("a write waits for the disk at least, and a stronger setting stays", arguments: settings)
        func commit(setting: String, expected: String) async throws {
            let store = try await prepared(setting)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...20 {
                    group.addTask { try await store.database.write { _ = try $0.run(Self.insert, [.integer(Int64(number))]) } }
                }
                try await group.waitForAll()
            }
            try await store.database.writeAlone { _ = try $0.run(Self.insert, [.integer(21)]) }
            #expect(try await seen(store.database) == [[.text(expected)]])
        }

        @Test("behind a pooler in transaction mode it is the same, and no setting stays on its connection", arguments: settings)
        func pooled(setting: String, expected: String) async throws {
            let store = try await prepared(setting)
            try await ThrowAwayPgBouncer.with(store.server, connections: 1) { bouncer in
                let node = try PostgresDatabase(
                    DatabaseURL(bouncer.url(database: store.name)), limits: TemporaryDatabase.limits, pooler: .transaction,
                    logger: TemporaryDatabase.quiet)
                try await node.write { _ = try $0.run(Self.insert, [.integer(1)]) }
                #expect(try await seen(node) == [[.text(expected)]])
                #expect(try await node.rows("SELECT current_setting('synchronous_commit')") == [[.text(setting)]])
                node.close()
            }
        }
    }
}

/// Servers that are killed need a server of their own.
@Suite("PostgreSQL that is lost")
struct LostServerTests {
    private static let insert = SQLStatement("INSERT INTO numbers (id) VALUES ($1)")
    private static let weakest = ["fsync=on", "synchronous_commit=off", "wal_writer_delay=10s"]

    /// Writes numbers one after the other, several at a time, until one fails; returns those that were acknowledged.
    private func writeUntilItFails(
        _ database: PostgresDatabase, _ isGoing: @escaping @Sendable (Int) -> Void
    ) async -> Set<Int64> {
        let acknowledged = Counter()
        return await withTaskGroup(of: [Int64].self) { group in
            for lane in 0..<4 {
                group.addTask {
                    var own: [Int64] = []
                    while own.count < 5_000 {
                        let number = Int64(own.count * 4 + lane)
                        do { try await database.write { _ = try $0.run(Self.insert, [.integer(number)]) } } catch { break }
                        own.append(number)
                        isGoing(acknowledged.next())
                    }
                    return own
                }
            }
            return await group.reduce(into: []) { $0.formUnion($1) }
        }
    }

    private func numbers(_ server: ThrowAwayPostgreSQL) async throws -> Set<Int64> {
        Set(try await server.run(script: "SELECT id FROM numbers;").split(separator: "\n").compactMap { Int64($0) })
    }

    private func open(_ server: ThrowAwayPostgreSQL, statement: Duration = .seconds(15)) throws -> PostgresDatabase {
        var limits = TemporaryDatabase.limits
        limits.statement = statement
        return try PostgresDatabase(DatabaseURL(server.url()), limits: limits, logger: TemporaryDatabase.quiet)
    }

    @Test("a server that is killed keeps every acknowledged write although its synchronous_commit is off")
    func killed() async throws {
        try await ThrowAwayPostgreSQL.with(settings: Self.weakest) { server in
            _ = try await server.run(script: "CREATE TABLE numbers (id BIGINT PRIMARY KEY);")
            let database = try open(server)
            let gate = AsyncStream.makeStream(of: Void.self)
            async let acknowledged = writeUntilItFails(database) { if $0 == 200 { gate.continuation.finish() } }
            for await _ in gate.stream {}
            try await server.kill()
            let kept = await acknowledged
            database.close()
            try await server.start()
            #expect(kept.count >= 200)
            #expect(try await numbers(server).isSuperset(of: kept))
        }
    }

    @Test("a failover to a synchronous replica keeps every acknowledged write; one to an asynchronous replica can lose the last")
    func failover() async throws {
        try await ThrowAwayPostgreSQL.with(settings: Self.weakest + ["synchronous_standby_names=one"]) { server in
            try await server.withReplica("one") { synchronous in
                try await server.withReplica("two") { asynchronous in
                    _ = try await server.run(
                        script: "CREATE TABLE numbers (id BIGINT PRIMARY KEY); INSERT INTO numbers VALUES (-1);")
                    while try await asynchronous.run(script: "SELECT to_regclass('numbers') IS NOT NULL;") != "t\n" {
                        try await Task.sleep(for: .milliseconds(20))
                    }
                    // Nothing leaves for the asynchronous replica any more.
                    let sender = try await server.run(
                        script: "SELECT pid FROM pg_stat_replication WHERE application_name = 'two';")
                    kill(try #require(Int32(sender.trimmingCharacters(in: .whitespacesAndNewlines))), SIGSTOP)
                    let database = try open(server)
                    let gate = AsyncStream.makeStream(of: Void.self)
                    async let acknowledged = writeUntilItFails(database) { if $0 == 200 { gate.continuation.finish() } }
                    for await _ in gate.stream {}
                    try await server.kill()
                    let kept = await acknowledged
                    database.close()
                    try await synchronous.promote()
                    try await asynchronous.promote()
                    #expect(kept.count >= 200)
                    #expect(try await numbers(synchronous).isSuperset(of: kept))
                    #expect(try await numbers(asynchronous) == [-1], "what was not sent is lost with the server")
                }
            }
        }
    }

    @Test(
        "while no synchronous replica answers a write is not acknowledged, also when the wait for it is cancelled at the server")
    func standbyAway() async throws {
        try await ThrowAwayPostgreSQL.with(settings: ["synchronous_standby_names=nobody"]) { server in
            _ = try await server.run(script: "SET synchronous_commit = local; CREATE TABLE numbers (id BIGINT PRIMARY KEY);")
            let database = try open(server)
            let cancelled = Task { try await database.write { _ = try $0.run(Self.insert, [.integer(1)]) } }
            let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            while try await server.run(script: "SELECT COUNT(*) \(waiting);") == "0\n" {
                try await Task.sleep(for: .milliseconds(20))
            }
            _ = try await server.run(script: "SELECT pg_cancel_backend(pid) \(waiting);")
            await #expect(throws: SQLFault.outcomeUnknown) { try await cancelled.value }
            database.close()
            let hasty = try open(server, statement: .seconds(1))
            await #expect(throws: SQLFault.outcomeUnknown) {
                try await hasty.write { _ = try $0.run(Self.insert, [.integer(2)]) }
            }
            hasty.close()
        }
    }
}
