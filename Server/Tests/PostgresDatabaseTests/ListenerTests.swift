import ClarionTesting
import EngineTesting
import RichPushModel
import SQLStorage
import Testing

@testable import PostgresDatabase

extension PostgreSQLTests {
    @Suite("Calls of other nodes")
    struct ListenerTests {
        @Test(
            "what one node calls the others hear, and a connection that is lost is made anew and makes them look",
            .timeLimit(.minutes(10)))
        func calls() async throws {
            let store = try await TemporaryDatabase()
            let listener = try PostgresListener(
                DatabaseURL(store.server.url(database: store.name)), channel: SQLNodeStore.channel,
                logger: TemporaryDatabase.quiet)
            defer { listener.close() }
            // Read at once, so that none of before waits to be taken for one of later.
            let heard = Counter()
            let reading = Task { for await _ in listener.calls { _ = heard.next() } }
            defer { reading.cancel() }
            #expect(await eventually { heard.value > 0 }, "a new connection is a call")
            let other = SQLNodeStore(try store.another())
            for _ in 1...3 {
                let before = heard.value
                try await other.call()
                #expect(await eventually { heard.value > before })
            }
            let (lost, before) = (try await connection(of: store), heard.value)
            _ = try await store.server.run(script: "SELECT pg_terminate_backend(\(lost));")
            #expect(await eventually { heard.value > before }, "after the loss something may have been missed")
            #expect(try await connection(of: store) != lost)
            let again = heard.value
            try await other.call()
            #expect(await eventually { heard.value > again })
        }

        /// The process of the server that the listener is connected to, once there is one.
        private func connection(of store: TemporaryDatabase) async throws -> String {
            // On a slow machine it has asked meanwhile whether the server is there.
            let question = """
                SELECT pid FROM pg_stat_activity
                WHERE (query LIKE 'LISTEN%' OR query = 'SELECT 1') AND datname = '\(store.name)'
                """
            while true {
                let found = try await store.psql(question)
                if !found.isEmpty { return found }
                try await Task.sleep(for: .milliseconds(20))
            }
        }

        @Test("a server that cannot be reached is tried again, and a closed listener ends", .timeLimit(.minutes(10)))
        func away() async throws {
            let listener = try PostgresListener(
                DatabaseURL("postgres://nobody@127.0.0.1:1/none"), channel: SQLNodeStore.channel, logger: TemporaryDatabase.quiet)
            listener.close()
            for await _ in listener.calls { Issue.record("nothing can have been called") }
        }
    }

    @Suite("What nodes know of each other")
    struct NodeStoreTests {
        private func member(_ id: String, at seconds: Int64, role: String = "all") -> NodeMember {
            NodeMember(
                id: id, role: role, version: "1.0", schemaStep: 7, startedAt: Timestamp(seconds: 1),
                seenAt: Timestamp(seconds: seconds))
        }

        @Test("a node is there from its first word to its leave, and forgotten some time after its last")
        func members() async throws {
            let database = try await PostgreSQLPool.ofProcess().take()
            let store = SQLNodeStore(database)
            for (id, seconds) in [("b", 10), ("a", 20), ("c", 5)] { try await store.announce(member(id, at: Int64(seconds))) }
            #expect(try await store.members(seenSince: Timestamp(seconds: 10)).map(\.id) == ["a", "b"])
            try await store.announce(member("c", at: 30, role: "api"))
            let all = try await store.members(seenSince: Timestamp(seconds: 0))
            #expect(all.map(\.id) == ["a", "b", "c"])
            #expect(all.last == member("c", at: 30, role: "api"))
            try await store.leave("a")
            try await store.sweep(seenBefore: Timestamp(seconds: 11))
            #expect(try await store.members(seenSince: Timestamp(seconds: 0)).map(\.id) == ["c"])
        }

        @Test("the clock of the database is that of its machine, to the millisecond")
        func time() async throws {
            let store = SQLNodeStore(try await PostgreSQLPool.ofProcess().take())
            let before = SystemClock().now
            let time = try await store.time()
            #expect(before - .milliseconds(1) <= time)
            #expect(time <= SystemClock().now + .milliseconds(1))
        }
    }
}
