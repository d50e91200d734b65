import GRDB
import GRDBSQLite
import Testing

@testable import SQLStorage

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
            let plan = try await plan(of: statement, queue)
            let isWide = plan.contains { line in
                line.hasPrefix("SCAN d") || line.hasPrefix("SCAN t") || line == "SCAN o" || line.hasPrefix("SCAN o ")
                    || line.hasSuffix("USING PRIMARY KEY (hub_id=?)")
            }
            #expect(!isWide, "\(statement.text): \(plan)")
        }
        #expect(looked > 30)
    }

    @Test("a page of an audience is read by index and in order, and of several tags no more is sorted than a page may need")
    func audiences() async throws {
        let store = try await TemporaryStore()
        try store.database.close()
        let queue = try DatabaseQueue(path: store.path)
        for (shape, isBounded) in AudienceShape.all.flatMap({ [($0, false), ($0, true)] }) {
            let statement = isBounded ? AudienceStatements.boundedWalk(shape) : AudienceStatements.walk(shape)
            let plan = try await plan(of: statement, queue)
            let sorts = plan.filter { $0.contains("TEMP B-TREE") }
            // Both are of as many rows as the limits of the tags let through.
            let isMerged = shape.coverTags > 1
            #expect(
                sorts.sorted() == (isMerged ? ["USE TEMP B-TREE FOR GROUP BY", "USE TEMP B-TREE FOR ORDER BY"] : []), "\(plan)")
            let entries = "SEARCH device_tags USING PRIMARY KEY (hub_id=? AND tag=? AND slice_key>? AND slice_key<?)"
            #expect(plan.count { $0 == entries } == (isMerged ? shape.coverTags : 0), "\(plan)")
            let twins = "devices_by_handle (handle=? AND platform=? AND form=? AND hub_id=? AND slice_key<?)"
            #expect(plan.contains { $0.hasSuffix(twins) }, "\(plan)")
            let isWide = plan.contains { $0.hasSuffix("PRIMARY KEY (hub_id=? AND slice_key<?)") || $0.hasPrefix("SCAN d") }
            #expect(!isWide, "\(plan)")
        }
    }

    @Test("a page of the list of sends is read by an index in its order, of one sender or of all, by number or by time")
    func sends() async throws {
        let store = try await TemporaryStore()
        try store.database.close()
        let queue = try DatabaseQueue(path: store.path)
        let lists = SQLStatement.all(.sqlite).filter { statement in
            statement.text.contains("FROM rich_notifications n LEFT JOIN contents c") && statement.text.contains("LIMIT")
        }
        var searches: Set<String> = []
        for list in lists {
            let plan = try await plan(of: list, queue)
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
            if let first = plan.first { searches.insert(first.replacing("SEARCH n USING INDEX ", with: "")) }
        }
        #expect(
            searches == [
                "sqlite_autoindex_rich_notifications_1 (app_id=? AND rich_id<?)",
                "rich_notifications_by_sender (app_id=? AND sender_id=? AND rich_id<?)",
                "rich_notifications_by_due (app_id=? AND due_at>? AND (due_at,rich_id)<(?,?))",
                "rich_notifications_by_sender_due (app_id=? AND sender_id=? AND due_at>? AND (due_at,rich_id)<(?,?))",
            ])
    }

    @Test("a page of the audit is read by an index in its order: all entries, those of an actor, or those of a subject")
    func audit() async throws {
        let store = try await TemporaryStore()
        try store.database.close()
        let queue = try DatabaseQueue(path: store.path)
        let lists = SQLStatement.all(.sqlite).filter { statement in
            statement.text.contains("FROM audit_entries") && statement.text.contains("ORDER BY number DESC")
        }
        var searches: Set<String> = []
        for list in lists { searches.formUnion(try await plan(of: list, queue)) }
        #expect(
            searches == [
                "SEARCH audit_entries USING INDEX audit_entries_by_number (app_id=? AND number>? AND number<?)",
                "SEARCH audit_entries USING INDEX audit_entries_by_actor (app_id=? AND actor_name=? AND number>? AND number<?)",
                "SEARCH audit_entries USING INDEX audit_entries_by_subject (app_id=? AND subject_name=? AND number>? AND number<?)",
            ])
    }

    @Test("no statement is compiled anew because its values are others")
    func values() async throws {
        let store = try await TemporaryStore()
        try store.database.close()
        let queue = try DatabaseQueue(path: store.path)
        let walks = AudienceShape.all.flatMap { [AudienceStatements.walk($0), AudienceStatements.boundedWalk($0)] }
        for statement in SQLStatement.all(.sqlite) + walks {
            let compilations = try await queue.writeWithoutTransaction { database in
                var count: CInt = 0
                try database.inTransaction {
                    count = try withExtendedLifetime(database.makeStatement(sql: statement.text)) {
                        let prepared = $0.sqliteStatement
                        for value in Int64(1)...2 {
                            for place in statement.appearance.indices { sqlite3_bind_int64(prepared, CInt(place + 1), value) }
                            while sqlite3_step(prepared) == SQLITE_ROW {}
                            sqlite3_reset(prepared)
                        }
                        return sqlite3_stmt_status(prepared, SQLITE_STMTSTATUS_REPREPARE, 0)
                    }
                    return .rollback
                }
                return count
            }
            #expect(compilations == 0, "\(statement.text)")
        }
    }

    private func plan(of statement: SQLStatement, _ queue: DatabaseQueue) async throws -> [String] {
        try await queue.read { database in
            let explanation = try database.makeStatement(sql: "EXPLAIN QUERY PLAN " + statement.text)
            explanation.setUncheckedArguments([])
            return try Row.fetchAll(explanation).map { $0["detail"] as String }
        }
    }

    @Test("a node that looks for work reads slices that are due or leased, and leases from one hub's queue")
    func slices() async throws {
        let store = try await TemporaryStore(.sqlite)
        try store.database.close()
        let queue = try DatabaseQueue(path: store.path)
        let free = try await plan(of: SQLSliceQueue.freeSlices, queue)
        #expect(free == ["SEARCH slices USING INDEX slices_free (weight=? AND ready_at<?)"])
        let lost = try await plan(of: SQLSliceQueue.lostSlices, queue)
        #expect(lost.count == 1 && lost[0].contains("slices_leased"), "\(lost)")
        let lease = try await plan(of: SQLSliceQueue.lease(.sqlite), queue)
        #expect(lease.contains { $0.hasSuffix("slices_by_hub_turn (weight=? AND hub_id=? AND ready_at<?)") }, "\(lease)")
        let whole = SQLStatement.all(.sqlite).filter { $0.text.contains("slices") }.map(\.text)
        for text in whole where !Self.ofAllSlices.contains(where: { text.hasPrefix($0) }) {
            let plan = try await plan(of: SQLStatement(composed: text), queue)
            #expect(!plan.contains { $0 == "SCAN slices" || $0 == "SCAN s" }, "\(text): \(plan)")
        }
        #expect(whole.count > 10)
    }

    /// What may look at all slices, which are those that are not done: the numbers for the operator, and the repair after a step of the
    /// clock.
    private static let ofAllSlices = ["SELECT weight, "] + SQLWaitRepair.all.map(\.text)
}
