import GRDB
import SQLStorage
import Testing

@Suite("How SQLite finds rows")
struct QueryPlanTests {
    /// What may look at a whole hub: its count, the pages of its list and of a broadcast, and its end.
    private static let ofWholeHubs = [
        "SELECT COUNT(*) FROM devices", "SELECT COUNT(*) FROM (SELECT slice_key FROM devices",
        "DELETE FROM devices WHERE hub_id = $1 AND (",
        "DELETE FROM device_tags WHERE hub_id = $1 AND (",
    ]

    @Test("no statement reads all devices of a hub for one of them")
    func devices() async throws {
        let store = try await TemporaryStore()
        try store.database.close()
        let queue = try DatabaseQueue(path: store.path)
        var looked = 0
        for statement in SQLStatement.all(.sqlite)
        where statement.text.contains("devices") || statement.text.contains("device_tags") {
            guard !Self.ofWholeHubs.contains(where: { statement.text.hasPrefix($0) }) else { continue }
            looked += 1
            let plan = try await queue.read { database in
                let explanation = try database.makeStatement(sql: "EXPLAIN QUERY PLAN " + statement.text)
                explanation.setUncheckedArguments([])
                return try Row.fetchAll(explanation).map { $0["detail"] as String }
            }
            let isWide = plan.contains { line in
                line.hasPrefix("SCAN d") || line.hasPrefix("SCAN t") || line.hasPrefix("SCAN o")
                    || line.hasSuffix("USING PRIMARY KEY (hub_id=?)")
            }
            #expect(!isWide, "\(statement.text): \(plan)")
        }
        #expect(looked > 30)
    }
}
