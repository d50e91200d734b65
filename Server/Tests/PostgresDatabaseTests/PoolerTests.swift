import ClarionTesting
import EngineTesting
import RichPushModel
import SQLStorage
import StorageConformance
import Testing

@testable import PostgresDatabase

extension PostgreSQLTests {
    @Suite("Behind a pooler in transaction mode")
    struct PoolerTests {
        private static let insert = SQLStatement("INSERT INTO numbers (id) VALUES ($1)")
        private static let next = SQLStatement("SELECT COALESCE(MAX(id), 0) + 1 FROM numbers")
        private static let remembered = SQLStatement(composed: "SELECT COUNT(*) FROM pg_prepared_statements")

        /// An empty database, a pooler before it, and so many nodes that know of the pooler or do not.
        private func run(
            _ pooler: DatabasePooler, nodes count: Int = 2,
            _ body: (_ nodes: [PostgresDatabase], _ store: TemporaryDatabase) async throws -> Void
        ) async throws {
            let store = try await TemporaryDatabase()
            try await ThrowAwayPgBouncer.with(store.server) { bouncer in
                let url = try DatabaseURL(bouncer.url(database: store.name))
                let nodes = try (0..<count).map { _ in
                    try PostgresDatabase(
                        url, limits: TemporaryDatabase.limits, pooler: pooler, logger: TemporaryDatabase.quiet)
                }
                try await body(nodes, store)
                nodes.forEach { $0.close() }
            }
        }

        @Test(
            "reads and writes of several nodes on fewer connections than they have all succeed, whether they know of it or not",
            arguments: DatabasePooler.allCases)
        func mixed(pooler: DatabasePooler) async throws {
            try await run(pooler, nodes: 3) { nodes, _ in
                try await nodes[0].write { try $0.script("CREATE TABLE numbers (id BIGINT PRIMARY KEY)") }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for node in nodes {
                        for number in 0..<60 {
                            group.addTask {
                                if number.isMultiple(of: 2) {
                                    return _ = try await node.read { try $0.row(Self.next, [])?.integer(0) }
                                }
                                try await node.write { connection in
                                    let id = try connection.row(Self.next, [])?.integer(0) ?? 0
                                    try connection.run(Self.insert, [.integer(id)])
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await nodes[1].rows("SELECT COUNT(*), MAX(id) FROM numbers") == [[.integer(90), .integer(90)]])
            }
        }

        @Test("a node that knows of it leaves no statement behind on the server's side, one that does not leaves some")
        func statements() async throws {
            for pooler in DatabasePooler.allCases {
                try await run(pooler, nodes: 1) { nodes, _ in
                    var left: Int64 = 0
                    for _ in 0..<10 {
                        left = max(left, try await nodes[0].read { try $0.row(Self.remembered, [])?.integer(0) } ?? 0)
                    }
                    #expect((left == 0) == (pooler == .transaction))
                }
            }
        }

        @Test("nodes that start together bring the schema up to date once, under a lock of one transaction")
        func schema() async throws {
            try await run(.transaction, nodes: 3) { nodes, store in
                let steps = try await withThrowingTaskGroup { group in
                    for node in nodes {
                        group.addTask { try await NextVersion.migrator.migrate(node, at: Timestamp(seconds: 1)) }
                    }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                #expect(steps.sorted() == Array(1...NextVersion.migrator.known))
                // In this database: others of the server are other tests'.
                let locks = """
                    SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory'
                        AND database = (SELECT oid FROM pg_database WHERE datname = '\(store.name)')
                    """
                #expect(try await store.psql(locks) == "0")
                #expect(
                    try await store.psql(
                        "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = '\(store.name)' AND usename = 'clarion'"
                    )
                    .first != "0")
            }
        }

        @Test(
            "writes of several nodes on one row wait for their turns there, and each is written once",
            arguments: DatabasePooler.allCases)
        func turns(pooler: DatabasePooler) async throws {
            try await run(pooler, nodes: 3) { nodes, store in
                try await SchemaMigrator().migrate(nodes[0], at: Timestamp(seconds: 1))
                try await nodes[0].write { try $0.script("CREATE TABLE numbers (id BIGINT PRIMARY KEY)") }
                let runs = Counter()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for node in nodes {
                        for _ in 0..<20 {
                            group.addTask {
                                try await node.write { connection in
                                    let id = try connection.row(Self.next, [])?.integer(0) ?? 0
                                    if runs.next() < 12 { try connection.script(PostgresDatabase.madeConflict) }
                                    try connection.run(Self.insert, [.integer(id)])
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await nodes[1].rows("SELECT COUNT(*), MAX(id) FROM numbers") == [[.integer(60), .integer(60)]])
                #expect(
                    try await store.psql(
                        "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = '\(store.name)' AND state LIKE 'idle in%'") == "0")
            }
        }

        @Test("every promise of the hub's queue and of jobs holds", arguments: DatabasePooler.allCases)
        func promises(pooler: DatabasePooler) async throws {
            try await run(pooler, nodes: 1) { nodes, store in
                let node = nodes[0]
                try await SchemaMigrator().migrate(node, at: Timestamp(seconds: 1))
                let storage = HubStorage(
                    hubs: SQLHubStore(node), devices: SQLDeviceStore(node), intake: SQLIntakeStore(node),
                    queue: SQLSliceQueue(node), telemetry: SQLTelemetryStore(node))
                for promise in SliceQueuePromises.all {
                    try await promise.check(storage)
                    try await empty(store)
                }
                for promise in JobStorePromises.all {
                    try await promise.check(JobStorage(jobs: SQLJobStore(node), devices: SQLDeviceStore(node)))
                    try await empty(store)
                }
            }
        }

        private func empty(_ store: TemporaryDatabase) async throws {
            _ = try await store.psql(
                """
                DO $$ DECLARE name text; BEGIN
                    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_steps' LOOP
                        EXECUTE 'DELETE FROM ' || quote_ident(name);
                    END LOOP;
                END $$
                """)
        }
    }
}
