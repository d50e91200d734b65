import EngineTesting
import PushHub
import RichPushModel
import Testing

@testable import PostgresDatabase
@testable import SQLStorage

extension PostgreSQLTests {
    @Suite("How PostgreSQL finds slices")
    struct QueueSearchTests {
        /// 2,000 hubs with a slice that is not due, 1,000 slices in the queue of the first hub, 20 leased, of which one lease has expired.
        private static let crowd = """
            INSERT INTO slices (hub_id, notification_id, slice, cursor_key, last_key, weight, walked, failures, ready_at, epoch)
                SELECT number, 'later', 0, 0, 1, 0, 0, 0, 9000, 0 FROM generate_series(1, 2000) number
                UNION ALL SELECT 1, 'due', number, 0, 1, 1, 0, 0, 1000 + number, 0 FROM generate_series(1, 1000) number
                UNION ALL SELECT 7, 'due', number, 0, 1, 0, 0, 0, 1000 + number, 0 FROM generate_series(1, 3) number;
            UPDATE slices SET owner = 'a', leased_until = 9000 WHERE notification_id = 'due' AND hub_id = 1 AND slice <= 20;
            UPDATE slices SET leased_until = 4000 WHERE notification_id = 'due' AND hub_id = 1 AND slice = 9
            """

        /// The lines of the plan that was executed, as it is for every value.
        private func plan(_ statement: SQLStatement, _ values: String, _ database: any SQLDatabase) async throws -> [String] {
            let settings = TransactionText(PostgresLimits()).read.split(separator: ";").dropFirst().map { "\($0);" }.joined()
            return try await database.write { connection in
                try connection.script(
                    "\(settings) SET LOCAL plan_cache_mode = force_generic_plan; PREPARE search AS \(statement.text)")
                defer { try? connection.script("DEALLOCATE search") }
                let explain = "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE search(\(values))"
                return try connection.rows(SQLStatement(composed: explain), []).map { try $0.text(0) }
            }
        }

        /// How many pages of the database the statement read.
        private func pages(_ plan: [String]) -> Int? {
            guard let line = plan.first(where: { $0.contains("Buffers: shared") }) else { return nil }
            return line.matches(of: /(?:hit|read)=(\d+)/).compactMap { Int($0.1) }.reduce(0, +)
        }

        @Test(
            "with statistics and without, a search for work reads slices that are due or leased, not those that wait for later",
            arguments: [false, true])
        func search(_ isAnalyzed: Bool) async throws {
            let database = try await PostgreSQLPool.ofProcess().take()
            try await database.write { try $0.script(Self.crowd) }
            if isAnalyzed { try await database.write { try $0.script("ANALYZE slices") } }
            let free = try await plan(SQLSliceQueue.freeSlices, "0, 5000, 64", database)
            #expect(free.contains { $0.contains("slices_free") } && !free.contains { $0.contains("Removed") }, "\(free)")
            #expect(try #require(pages(free)) < 20, "\(free)")
            let lost = try await plan(SQLSliceQueue.lostSlices, "5000, 64", database)
            #expect(lost.contains { $0.contains("slices_leased") }, "\(lost)")
            #expect(try #require(pages(lost)) < 40, "\(lost)")
            let lease = try await plan(SQLSliceQueue.lease(.postgresql), "'b', 9000, 5000, 1, 4, 1, NULL", database)
            #expect(lease.contains { $0.contains("slices_by_hub_turn") })
            #expect(!lease.contains { $0.contains("Seq Scan on slices") })
            #expect(try #require(pages(lease)) < 400, "\(lease)")
            let platforms = try await plan(SQLSliceQueue.waitingPlatforms, "1, 1, 5000", database)
            #expect(!platforms.contains { $0.contains("Seq Scan on slices") }, "\(platforms)")
            database.close()
        }
    }
}
