/// A table with what it takes to copy it row by row: its columns, and the key in whose order its rows come on every engine.
struct MovedTable: Sendable {
    let name: String
    let columns: [String]
    let key: [String]

    /// So many rows after a key; the key's values are `$1`, `$2`, …
    func page(afterKey: Bool, limit: Int) -> SQLStatement {
        let order = key.joined(separator: ", ")
        let places = (1...key.count).map { "$\($0)" }.joined(separator: ", ")
        let condition = afterKey ? " WHERE (\(order)) > (\(places))" : ""
        return SQLStatement(
            composed: "SELECT \(columns.joined(separator: ", ")) FROM \(name)\(condition) ORDER BY \(order) LIMIT \(limit)")
    }

    /// Writes so many rows at once, with the numbers they have.
    func insertion(of count: Int) -> SQLStatement {
        let rows = (0..<count).map { row in
            "(" + columns.indices.map { "$\(row * columns.count + $0 + 1)" }.joined(separator: ", ") + ")"
        }
        return SQLStatement(
            composed: """
                INSERT INTO \(name) (\(columns.joined(separator: ", "))) OVERRIDING SYSTEM VALUE
                VALUES \(rows.joined(separator: ", "))
                """)
    }

    /// The key of a row.
    func key(of row: SQLRow) -> [SQLValue] {
        key.compactMap { name in columns.firstIndex(of: name).map { row.values[$0] } }
    }

    /// How many rows go into one statement: an engine takes 65,535 values at most, and a row may hold a body of some kilobytes.
    var batch: Int { max(1, min(500, 30_000 / columns.count)) }
}
