/// Another session, which holds a table until it is ended.
struct HeldTable {
    private let store: TemporaryDatabase
    private let holding: Task<Void, Never>

    /// `more` are statements that come before the lock, each after a semicolon.
    init(_ table: String, in store: TemporaryDatabase, more: String = "") async throws {
        self.store = store
        holding = Task {
            _ = try? await store.psql("BEGIN\(more); LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(600)")
        }
        let held = """
            SELECT count(*) FROM pg_locks WHERE relation = '\(table)'::regclass AND mode = 'AccessExclusiveLock' AND granted
            """
        while try await store.psql(held) == "0" { try await Task.sleep(for: .milliseconds(10)) }
    }

    func end() async throws {
        _ = try await store.psql(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = '\(store.name)' AND query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()
            """)
        await holding.value
    }
}
