import ClarionTesting
import Foundation
import SQLStorage
import Testing

@testable import PostgresDatabase

extension PostgreSQLTests {
    @Suite("Faults of the server")
    struct ServerFaultTests {
        private static let insert = SQLStatement("INSERT INTO numbers (id) VALUES ($1)")

        private func prepared() async throws -> TemporaryDatabase {
            var limits = TemporaryDatabase.limits
            limits.statement = .seconds(1)
            let store = try await TemporaryDatabase(limits: limits)
            try await store.database.write { try $0.script("CREATE TABLE numbers (id BIGINT PRIMARY KEY)") }
            return store
        }

        @Test("a full disk of the server refuses the write and names itself, keeps nothing by halves, and is over with room")
        func diskFull() async throws {
            let store = try await prepared()
            // What the server itself raises when it cannot extend a file.
            try await store.database.write {
                try $0.script(
                    """
                    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
                    'BEGIN RAISE EXCEPTION ''could not extend file'' USING ERRCODE = ''53100''; END';
                    CREATE TRIGGER full_disk BEFORE INSERT ON numbers FOR EACH ROW WHEN (NEW.id > 1) EXECUTE FUNCTION full_disk()
                    """)
            }
            let error = await #expect(throws: SQLFault.self) {
                try await store.database.write { connection in
                    _ = try connection.run(Self.insert, [.integer(1)])
                    _ = try connection.run(Self.insert, [.integer(2)])
                }
            }
            #expect("\(String(describing: error))".contains("disk_full"))
            #expect(store.database.lastWriteFault == "disk_full")
            #expect(try await store.database.number("SELECT COUNT(*) FROM numbers") == 0)
            try await store.database.write { try $0.script("DROP TRIGGER full_disk ON numbers") }
            try await store.database.write { _ = try $0.run(Self.insert, [.integer(2)]) }
            #expect(store.database.lastWriteFault == "disk_full", "one small write does not show that there is room")
            #expect(try await store.database.number("SELECT COUNT(*) FROM numbers") == 1)
        }

        @Test(
            "a table that another session holds costs the time of a statement and no more, and is used again when it is free")
        func locked() async throws {
            let store = try await prepared()
            let holding = Task {
                try? await store.psql("BEGIN; LOCK TABLE numbers IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(60)")
            }
            let held = """
                SELECT count(*) FROM pg_locks WHERE relation = 'numbers'::regclass AND mode = 'AccessExclusiveLock' AND granted
                """
            while try await store.psql(held) == "0" {
                try await Task.sleep(for: .milliseconds(10))
            }
            let error = await #expect(throws: SQLFault.self) {
                try await store.database.write { _ = try $0.run(Self.insert, [.integer(1)]) }
            }
            #expect("\(String(describing: error))".contains("lock_not_available"))
            #expect(try await store.database.number("SELECT 1") == 1)
            _ = try await store.psql(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = '\(store.name)' AND query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()
                """)
            _ = await holding.value
            try await store.database.write { _ = try $0.run(Self.insert, [.integer(1)]) }
            #expect(try await store.database.number("SELECT COUNT(*) FROM numbers") == 1)
        }
    }
}
