import GRDB
import SQLStorage
import Testing

@testable import SQLiteDatabase

@Suite("The order of rows")
struct OrderOfRowsTests {
    /// Orders that leave ties, by the table that they are of: there the engine may choose.
    private static let exceptions = [
        // Which of the slices that became due at the same moment is leased first is no promise; the others follow.
        "slices ORDER BY ready_at",
        // Only the moment is read, not whose it is.
        "slices ORDER BY s.ready_at",
        // What has expired or is too old goes, portion by portion, until none is left.
        "devices ORDER BY expires_at", "feedback ORDER BY noted_at",
        // A hub has at most one job that no earlier one of its own keeps waiting, and only such jobs are read.
        "jobs ORDER BY ready_at, hub_id",
        // Of each record there is one row: they are grouped.
        "device_changes ORDER BY oldest, record_id",
        // A page of a send: the merged entries of tags are grouped by key, and each key is of one record.
        " ORDER BY slice_key", "entries ORDER BY e.slice_key",
        // Rows of one slice, of which each record has one.
        " ORDER BY p.not_before, p.slice_key",
        // Only entries with a number are read, and each of those has its own.
        "audit_entries ORDER BY number", "audit_entries ORDER BY number DESC",
        // Only how many there are is read, not whose they are.
        "receipts ORDER BY installation_id",
        // Not of the schema: each column of a table has a number of its own.
        "pragma_table_info ORDER BY cid",
    ]

    @Test("rows that are equally old come in the same order on every engine")
    func ties() async throws {
        let keys = try await uniqueKeys()
        var looked = 0
        var left = Set(Self.exceptions)
        for dialect in [SQLDialect.sqlite, .postgresql] {
            for text in SQLStatement.all(dialect).map(\.text) {
                for order in OrderOfRows.all(in: text) {
                    looked += 1
                    if Self.exceptions.contains(order.name) {
                        left.remove(order.name)
                        continue
                    }
                    let known = try #require(keys[order.table], "'\(order.table)' is no table of the schema: \(text)")
                    #expect(known.contains { $0.isSubset(of: order.columns) }, "\(order.name) leaves ties: \(text)")
                }
            }
        }
        #expect(looked > 80)
        #expect(left.isEmpty, "exceptions that no statement needs")
    }

    @Test("an order that leaves ties is found, whatever its last column is called")
    func found() async throws {
        let keys = try await uniqueKeys()
        func isUnique(_ text: String) throws -> Bool {
            let order = try #require(OrderOfRows.all(in: text).first)
            return try #require(keys[order.table]).contains { $0.isSubset(of: order.columns) }
        }
        #expect(try isUnique("SELECT name FROM users WHERE app_id = $1 ORDER BY created_at, user_id"))
        #expect(try isUnique("SELECT name FROM users WHERE app_id = $1 AND folded_name > $2 ORDER BY folded_name LIMIT $3"))
        #expect(try !isUnique("SELECT name FROM users ORDER BY created_at, user_id"))
        #expect(try !isUnique("SELECT binding_id FROM bindings WHERE app_id = $1 ORDER BY created_at, user_id"))
        let nested = "SELECT 1 FROM bindings b WHERE b.app_id = $1 AND (b.x = (SELECT 2 FROM users)) ORDER BY b.binding_id"
        #expect(try isUnique(nested))
        let joined = "SELECT 1 FROM audience_index a JOIN users n ON n.app_id = a.app_id WHERE a.app_id = $1"
        #expect(try !isUnique(joined + " AND a.rich_id = n.user_id ORDER BY a.audience_key"))
        #expect(try isUnique(joined + " AND a.rich_id = $2 ORDER BY a.audience_key"))
        #expect(try !isUnique("SELECT digest FROM contents WHERE app_id = $1 AND content_id <> $2 ORDER BY expires_at"))
    }

    /// The sets of columns of which each table has no values twice, as the schema's own tables say.
    private func uniqueKeys() async throws -> [String: [Set<String>]] {
        let store = try await TemporaryStore(.sqlite)
        try store.database.close()
        return try await DatabaseQueue(path: store.path).read { database in
            var keys: [String: [Set<String>]] = [:]
            for table in try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'") {
                keys[table] = [Set(try database.primaryKey(table).columns)]
                // One that holds for some rows only makes nothing unique.
                let whole = "SELECT name FROM pragma_index_list(?) WHERE \"unique\" = 1 AND partial = 0"
                for index in try String.fetchAll(database, sql: whole, arguments: [table]) {
                    let columns = try String.fetchAll(database, sql: "SELECT name FROM pragma_index_info(?)", arguments: [index])
                    keys[table]?.append(Set(columns))
                }
            }
            return keys
        }
    }
}
