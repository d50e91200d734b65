import ClarionTesting
import Foundation
import SQLStorage
import Testing

@testable import PostgresDatabase

extension PostgreSQLTests {
    @Suite("Lost connections")
    struct OutageTests {
        private static let insert = SQLStatement("INSERT INTO numbers (id) VALUES ($1)")

        private func prepared() async throws -> TemporaryDatabase {
            let store = try await TemporaryDatabase()
            try await store.database.write { try $0.script("CREATE TABLE numbers (id BIGINT PRIMARY KEY)") }
            return store
        }

        private func endConnections(_ store: TemporaryDatabase) async throws {
            let text =
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(store.name)' AND pid <> pg_backend_pid()"
            _ = try await store.server.run(script: text + ";")
        }

        @Test("connections that were ended meanwhile are made anew, and no caller notices")
        func idle() async throws {
            let store = try await prepared()
            for round in 1...3 {
                try await store.database.write { _ = try $0.run(Self.insert, [.integer(Int64(round))]) }
                #expect(try await store.database.number("SELECT COUNT(*) FROM numbers") == Int64(round))
                try await endConnections(store)
            }
        }

        @Test("a connection that is lost before the end of a reading transaction was answered is no trouble for what comes next")
        func lostEnd() async throws {
            let store = try await prepared()
            let proxy = try await FaultProxy(.socket(store.server.socketPath))
            var limits = TemporaryDatabase.limits
            (limits.writers, limits.readers) = (1, 1)
            let url = "postgres://clarion@127.0.0.1:\(proxy.port)/\(store.name)?sslmode=disable"
            let database = try PostgresDatabase(DatabaseURL(url), limits: limits, logger: TemporaryDatabase.quiet)
            let select = SQLStatement("SELECT 7")
            for _ in 1...3 {
                let read = try await database.read { connection in
                    let number = try connection.row(select, [])?.integer(0)
                    proxy.hold()
                    return number
                }
                #expect(read == 7)
                // The answer to what ended the transaction never comes.
                proxy.set(.none)
            }
            try await proxy.stop()
            database.close()
        }

        @Test("a connection that ended after a read is no trouble for what comes next, and no reading transaction stays open")
        func afterRead() async throws {
            var limits = TemporaryDatabase.limits
            (limits.writers, limits.readers) = (1, 1)
            let store = try await prepared()
            let database = try store.another(limits: limits)
            for round in 1...20 {
                #expect(try await database.number("SELECT COUNT(*) FROM numbers") == 0)
                if round.isMultiple(of: 5) { try await endConnections(store) }
            }
            // No caller waits for the end of a reading transaction, and yet none is left open.
            let open =
                "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(store.name)' AND state LIKE 'idle in transaction%'"
            var left = ""
            for _ in 1...100 where left != "0" {
                left = try await store.psql(open)
                if left != "0" { try await Task.sleep(for: .milliseconds(20)) }
            }
            #expect(left == "0")
        }

        @Test("a connection that ends in the middle of a write has it done again, once")
        func middle() async throws {
            let store = try await prepared()
            let gate = DispatchSemaphore(value: 0)
            let runs = Counter()
            async let written: Void = store.database.write { connection in
                try connection.run(Self.insert, [.integer(1)])
                if runs.next() == 1 { gate.wait() }
                try connection.run(Self.insert, [.integer(2)])
            }
            #expect(await eventually { runs.value > 0 })
            try await endConnections(store)
            gate.signal()
            try await written
            #expect(runs.value == 2)
            #expect(try await store.database.number("SELECT COUNT(*) FROM numbers") == 2)
        }

        @Test(
            "a connection that ends during the commit leaves the fate of the write unknown, and says so", .timeLimit(.minutes(5)))
        func unknown() async throws {
            let store = try await prepared()
            try await store.database.write {
                try $0.script(
                    """
                    CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END';
                    CREATE CONSTRAINT TRIGGER late AFTER INSERT ON numbers DEFERRABLE INITIALLY DEFERRED
                        FOR EACH ROW EXECUTE FUNCTION linger()
                    """)
            }
            let write = Task { try await store.database.write { _ = try $0.run(Self.insert, [.integer(1)]) } }
            let committing = """
                SELECT count(*) FROM pg_stat_activity
                WHERE query LIKE '%; COMMIT' AND state = 'active' AND datname = '\(store.name)'
                """
            let end = ContinuousClock.now + .seconds(50)
            while try await store.psql(committing) == "0" {
                try #require(ContinuousClock.now < end, "the commit was not seen")
                try await Task.sleep(for: .milliseconds(10))
            }
            try await endConnections(store)
            await #expect(throws: SQLFault.outcomeUnknown) { try await write.value }
            #expect(store.database.lastWriteFault != nil)
        }

        @Test("a statement that takes too long is ended by the server")
        func statementDeadline() async throws {
            let hasty = try await prepared().another(limits: shortLimits)
            let started = ContinuousClock.now
            let error = await #expect(throws: SQLFault.self) {
                try await hasty.read { _ = try $0.rows(SQLStatement("SELECT pg_sleep($1)"), [.integer(60)]) }
            }
            #expect("\(String(describing: error))".contains("query_canceled"))
            #expect(ContinuousClock.now - started < .seconds(30))
        }

        @Test("a server that says nothing any more costs the deadline, and the next call has a new connection")
        func silence() async throws {
            let store = try await prepared()
            let hasty = try store.another(limits: shortLimits)
            let backend = Int32(try await hasty.number("SELECT CAST(pg_backend_pid() AS BIGINT)") ?? 0)
            // Stopped before it has answered the end of that read, it would cost other callers only a wait.
            let state = "SELECT state FROM pg_stat_activity WHERE pid = \(backend)"
            var looks = 0
            while looks < 500, try await store.psql(state) != "idle" {
                looks += 1
                try await Task.sleep(for: .milliseconds(10))
            }
            kill(backend, SIGSTOP)
            defer { kill(backend, SIGCONT) }
            var failures = 0
            for _ in 1...10 {
                do { _ = try await hasty.number("SELECT COUNT(*) FROM numbers") } catch { failures += 1 }
            }
            #expect(failures == 1)
            #expect(try await store.database.number("SELECT COUNT(*) FROM numbers") == 0)
        }

        private var shortLimits: PostgresLimits {
            var limits = TemporaryDatabase.limits
            limits.statement = .seconds(3)
            // With a second one that one may have all the work.
            limits.readers = 1
            return limits
        }
    }
}

/// Servers that stop need a server of their own.
@Suite("PostgreSQL that goes away")
struct RestartTests {
    @Test("while the server is down everything is refused at once, and works again when it is back")
    func restart() async throws {
        try await ThrowAwayPostgreSQL.with { server in
            let store = try await TemporaryDatabase(on: server)
            try await store.database.write { try $0.script("CREATE TABLE numbers (id BIGINT PRIMARY KEY)") }
            for round in 1...2 {
                #expect(try await store.database.number("SELECT COUNT(*) FROM numbers") == 0)
                await server.stop()
                for _ in 0..<20 {
                    let error = await #expect(throws: SQLFault.self) {
                        try await store.database.number("SELECT COUNT(*) FROM numbers")
                    }
                    #expect(error?.isUnavailable == true, "round \(round): \(String(describing: error))")
                    await #expect(throws: SQLFault.self) { try await store.database.write { try $0.script("SELECT 1") } }
                }
                #expect(store.database.lastWriteFault != nil)
                try await server.start()
                // The pause between tries grows to five seconds at most.
                let deadline = ContinuousClock.now + .seconds(30)
                while (try? await store.database.number("SELECT COUNT(*) FROM numbers")) == nil, ContinuousClock.now < deadline {
                    try await Task.sleep(for: .milliseconds(20))
                }
                try await store.database.write { try $0.script("SELECT 1") }
                #expect(store.database.lastWriteFault == nil)
            }
        }
    }
}

extension SQLFault {
    fileprivate var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
}
