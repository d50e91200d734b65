import EngineTesting
import PushHub
import RichPushModel
import TagExpressions
import Testing

@testable import PostgresDatabase
@testable import SQLStorage

extension PostgreSQLTests {
    @Suite("How PostgreSQL finds an audience")
    struct AudienceSearchTests {
        /// 20,000 devices in order of number, of which every tenth has the same tag. Every hundredth shares its device token with others.
        private static let crowd = """
            INSERT INTO devices (hub_id, slice_key, record_id, kind, platform, handle, tags, order_number, registered_at, version, form,
                    shares_handle)
                SELECT 1, number, 'd' || number, 'registration', 'apns',
                    CASE WHEN number % 100 = 0 THEN 'shared' || number % 1000 ELSE 'own' || number END, '', 1, 1, 1, 0,
                    CASE WHEN number % 100 = 0 THEN 1 ELSE 0 END
                FROM generate_series(1, 20000) number;
            INSERT INTO device_tags (hub_id, tag, slice_key)
                SELECT 1, 'all', number FROM generate_series(1, 20000) number
                UNION ALL SELECT 1, 'tenth' || number % 10, number FROM generate_series(1, 20000) number
            """

        /// The lines of the plan that was executed for a page of 100 from the middle of the hub, as it is for every value.
        private func plan(
            _ audience: String?, isBounded: Bool = false, _ database: any SQLDatabase
        ) async throws -> [String] {
            let expression = try audience.map { try TagExpression(parsing: $0) }
            let send = SendAudience(
                hub: HubID(1), query: try AudienceQuery(expression) { $0.folded == "all" ? 9 : 1 }, format: .native(.apns),
                mark: .last, now: Timestamp(milliseconds: 1))
            let walk = AudienceStatements.values(
                send.shape, isBounded: isBounded, after: SliceKey(10_000), last: .last, limit: 100,
                scanned: send.shape.coverTags > 1 ? 200 : 999)
            let values = (send.values(send.shape) + walk).map(literal).joined(separator: ", ")
            let statement = isBounded ? AudienceStatements.boundedWalk(send.shape) : AudienceStatements.walk(send.shape)
            let settings = TransactionText(PostgresLimits()).read.split(separator: ";").dropFirst().map { "\($0);" }.joined()
            return try await database.write { connection in
                try connection.script(
                    "\(settings) SET LOCAL plan_cache_mode = force_generic_plan; PREPARE page AS \(statement.text)")
                defer { try? connection.script("DEALLOCATE page") }
                let explain = "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE page(\(values))"
                return try connection.rows(SQLStatement(composed: explain), []).map { try $0.text(0) }
            }
        }

        private func literal(_ value: SQLValue) -> String {
            switch value {
            case .integer(let number): "\(number)"
            case .text(let text): "'\(text)'"
            case .null, .bytes: "NULL"
            }
        }

        /// How many pages of the database the statement read, and the most rows that one step of it read.
        private func cost(_ plan: [String]) throws -> (pages: Int, rows: Int) {
            let line = try #require(plan.first { $0.contains("Buffers: shared") })
            let rows = plan.flatMap { $0.matches(of: /rows=(\d+)/).compactMap { Int($0.1) } }
            return (line.matches(of: /(?:hit|read)=(\d+)/).compactMap { Int($0.1) }.reduce(0, +), rows.max() ?? 0)
        }

        /// Every form of a cover, with a rest and without.
        private static let audiences: [String?] = [
            nil, "tenth1", "tenth1 || tenth2", "tenth0 || tenth1 || tenth2 || tenth3 || all", "all && tenth1", "!tenth1",
            "(tenth1 || tenth2) && !tenth3", "tenth1 && !all",
        ]

        @Test("with statistics and without, a page costs what it looks at and not the audience", arguments: [false, true])
        func search(_ isAnalyzed: Bool) async throws {
            let database = try await PostgreSQLPool.ofProcess().take()
            try await database.write { try $0.script(Self.crowd) }
            if isAnalyzed { try await database.write { try $0.script("ANALYZE devices; ANALYZE device_tags") } }
            for (audience, isBounded) in Self.audiences.flatMap({ [($0, false), ($0, true)] }) {
                let plan = try await plan(audience, isBounded: isBounded, database)
                let (pages, rows) = try cost(plan)
                // A thousand entries at most, each compared with one more, and a hundred records with the search for twins.
                #expect(rows <= 1_000 && pages < 8_000, "\(audience ?? "all"): \(plan)")
                #expect(!plan.contains { $0.contains("Seq Scan on dev") }, "\(audience ?? "all"): \(plan)")
            }
            database.close()
        }
    }
}
