import RichPushModel

/// Moves everything from one database into another that is empty: all or nothing. Until the last row is there and every row has been
/// read back and compared, no server starts on the new database; a move that was cut off is begun anew by the next.
///
/// Holds one page of rows at a time. When something writes to the old database meanwhile, nothing is moved.
public struct DatabaseMove: Sendable {
    /// Why nothing was moved, or not all. Carries no value of a row.
    public enum Fault: Error, Hashable, Sendable {
        /// There are rows in a table of the new database.
        case notEmpty(table: String)
        /// A row of this table came out differently, or is missing.
        case differs(table: String)
        /// The new database cannot keep a row of this table.
        case unstorable(table: String)
        /// Something wrote into the old database since the move began.
        case changed
    }

    /// What is done now.
    public enum Phase: String, Sendable {
        case copying
        case comparing
    }

    /// How far a move has come.
    public enum Progress: Hashable, Sendable {
        /// A phase begins, in which so many rows are read.
        case began(Phase, rows: Int)
        /// So many rows of the phase are done, the last of them in this table.
        case advanced(rows: Int, table: String)
    }

    /// The number of the step that stands in the new database while it is incomplete. Larger than any real one, so that every version
    /// of the program refuses it.
    public static let mark = 1_000_000

    /// What belongs to the database itself, or to the nodes that run at the moment.
    private static let left: Set<String> = ["schema_steps", "schema_fence", "nodes", Migration.turnTable, OrderNumbers.name]

    private let old: any SQLDatabase
    private let new: any SQLDatabase
    private let progress: @Sendable (Progress) -> Void

    /// Creates a move of an SQLite database into a PostgreSQL database, both with this program's schema. `progress` gets each phase and
    /// each page of rows.
    public init(from old: any SQLDatabase, to new: any SQLDatabase, progress: @escaping @Sendable (Progress) -> Void = { _ in }) {
        self.old = old
        self.new = new
        self.progress = progress
    }

    /// Moves, and returns how many rows each table has. Throws `Fault` and `SQLFault`, and what `retiring` throws.
    ///
    /// `retiring` puts the old database where no server starts on it. That happens when every row has arrived, and before a server may
    /// start on the new one: there is no moment at which either would do. Cut off after it, the move is brought to its end by `finish`.
    public func run(at now: Timestamp, retiring: () async throws -> Void = {}) async throws -> [(table: String, rows: Int)] {
        let version = try await versionOfOld()
        let tables = try await tables()
        try await prepare(tables, at: now)
        let total = try await rowCount(of: tables)
        let counts = try await copy(tables, of: total)
        try await keepNumbers()
        try await compare(tables, of: total)
        _ = try await new.write { try $0.run(Self.nameMark, [.integer(Int64(Self.mark)), .text(Self.isWhole)]) }
        // Pages were read at different moments. They are one snapshot only if no other connection committed meanwhile.
        guard try await versionOfOld() == version else {
            _ = try await new.write { try $0.run(Self.nameMark, [.integer(Int64(Self.mark)), .text(Self.isUnfinished)]) }
            throw Fault.changed
        }
        try await retiring()
        _ = try await Self.finish(new)
        return counts
    }

    /// Lets servers start on a database that has every row of an old one, which was put away. `false`, and nothing happens, for any other.
    public static func finish(_ new: any SQLDatabase) async throws -> Bool {
        try await new.write { try $0.run(unmark, [.integer(Int64(mark)), .text(isWhole)]) > 0 }
    }

    /// Changes with every commit of another connection, in this process or any other. The engine keeps it for each connection; a write
    /// is always of the same one.
    private func versionOfOld() async throws -> Int64? {
        try await old.write { try $0.row(Self.dataVersion, [])?.integer(0) }
    }

    private static let isUnfinished = "a move that is not finished"
    /// What the step says while only the old database is left to put away.
    private static let isWhole = "a move that is whole"

    /// Marks the new database and makes sure that it is empty. The mark shows whether an earlier move left rows; they are removed.
    private func prepare(_ tables: [MovedTable], at now: Timestamp) async throws {
        let names = tables.map(\.name)
        try await new.writeAlone { connection in
            let isOurs = try connection.row(Self.findMark, [.integer(Int64(Self.mark))]) != nil
            if isOurs {
                try connection.script("TRUNCATE \(names.joined(separator: ", "))")
                // It may have been whole when it was cut off, and no longer is.
                try connection.run(Self.nameMark, [.integer(Int64(Self.mark)), .text(Self.isUnfinished)])
            } else {
                for name in names {
                    let first = SQLStatement(composed: "SELECT 1 FROM \(name) LIMIT 1")
                    guard try connection.row(first, []) == nil else { throw Fault.notEmpty(table: name) }
                }
                try connection.run(
                    Self.setMark, [.integer(Int64(Self.mark)), .text(Self.isUnfinished), .integer(now.milliseconds)])
            }
        }
    }

    private func tables() async throws -> [MovedTable] {
        let names = try await old.tableNames().filter { !Self.left.contains($0) }.sorted()
        return try await old.read { connection in
            try names.map { name in
                let rows = try connection.rows(Self.columns, [.text(name)])
                let key = try rows.filter { try $0.integer(1) > 0 }.sorted { try $0.integer(1) < $1.integer(1) }
                return MovedTable(name: name, columns: try rows.map { try $0.text(0) }, key: try key.map { try $0.text(0) })
            }
        }
    }

    private func rowCount(of tables: [MovedTable]) async throws -> Int {
        try await old.read { connection in
            try tables.reduce(0) { sum, table in
                let count = SQLStatement(composed: "SELECT COUNT(*) FROM \(table.name)")
                return try sum + Int(connection.row(count, [])?.integer(0) ?? 0)
            }
        }
    }

    private func copy(_ tables: [MovedTable], of total: Int) async throws -> [(table: String, rows: Int)] {
        progress(.began(.copying, rows: total))
        var (counts, done): ([(table: String, rows: Int)], Int) = ([], 0)
        for table in tables {
            let count = try await copy(table, after: done)
            counts.append((table.name, count))
            done += count
        }
        return counts
    }

    /// Returns how many rows the table has. `done` rows of other tables were copied before.
    private func copy(_ table: MovedTable, after done: Int) async throws -> Int {
        var count = 0
        var last: [SQLValue]?
        while true {
            let rows = try await page(of: table, after: last, in: old)
            guard let end = rows.last else { return count }
            do {
                _ = try await new.write { connection in
                    try connection.run(table.insertion(of: rows.count), rows.flatMap(\.values))
                }
            } catch SQLFault.unstorable { throw Fault.unstorable(table: table.name) }
            last = table.key(of: end)
            count += rows.count
            progress(.advanced(rows: done + count, table: table.name))
        }
    }

    private func compare(_ tables: [MovedTable], of total: Int) async throws {
        progress(.began(.comparing, rows: total))
        var done = 0
        for table in tables { done += try await compare(table, after: done) }
    }

    /// Reads both in the order of the key; every row has to be the same. Returns how many there are. `done` rows of other tables were
    /// compared before.
    private func compare(_ table: MovedTable, after done: Int) async throws -> Int {
        var count = 0
        var last: [SQLValue]?
        while true {
            let after = last
            async let expected = page(of: table, after: after, in: old)
            let found = try await page(of: table, after: after, in: new)
            let rows = try await expected
            guard rows == found else { throw Fault.differs(table: table.name) }
            guard let end = rows.last else { return count }
            last = table.key(of: end)
            count += rows.count
            progress(.advanced(rows: done + count, table: table.name))
        }
    }

    private func page(of table: MovedTable, after key: [SQLValue]?, in database: any SQLDatabase) async throws -> [SQLRow] {
        let statement = table.page(afterKey: key != nil, limit: table.batch)
        return try await database.read { try $0.rows(statement, key ?? []) }
    }

    /// Numbers that the old engine has given are not given again by the new one, even those whose rows are gone.
    private func keepNumbers() async throws {
        let given = try await old.read { try $0.rows(Self.givenNumbers, []) }
        for row in given {
            let (table, number) = (try row.text(0), try row.integer(1))
            guard let column = try await new.read({ try $0.row(Self.countedColumn, [.text(table)])?.text(0) }) else { continue }
            _ = try await new.write {
                try $0.rows(Self.setNumber, [.text(table), .text(column), .integer(number)])
            }
        }
        guard let order = try await old.read({ try $0.row(Self.orderNumber, [])?.integer(0) }) else { return }
        _ = try await new.write { try $0.rows(Self.setOrder, [.integer(order)]) }
    }

    /// Those of the old engine, SQLite.
    static let statementsOfOld = [columns, givenNumbers, orderNumber, dataVersion]
    /// Those of the new one, PostgreSQL.
    static let statementsOfNew = [findMark, setMark, nameMark, unmark, countedColumn, setNumber, setOrder]

    private static let columns = SQLStatement("SELECT name, pk FROM pragma_table_info($1) ORDER BY cid")
    private static let dataVersion = SQLStatement("PRAGMA data_version")
    /// A statement that inserted no row leaves a zero, which PostgreSQL takes for no number.
    private static let givenNumbers = SQLStatement("SELECT name, seq FROM sqlite_sequence WHERE seq > 0")
    private static let orderNumber = SQLStatement(composed: "SELECT last_value FROM \(OrderNumbers.name)")
    private static let setOrder = SQLStatement(composed: "SELECT setval('\(OrderNumbers.name)', $1)")
    private static let findMark = SQLStatement("SELECT 1 FROM schema_steps WHERE number = $1")
    private static let setMark = SQLStatement("INSERT INTO schema_steps (number, name, applied_at) VALUES ($1, $2, $3)")
    private static let nameMark = SQLStatement("UPDATE schema_steps SET name = $2 WHERE number = $1")
    private static let unmark = SQLStatement("DELETE FROM schema_steps WHERE number = $1 AND name = $2")
    private static let countedColumn = SQLStatement(
        """
        SELECT CAST(column_name AS TEXT) FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = $1 AND is_identity = 'YES'
        """)
    private static let setNumber = SQLStatement("SELECT setval(pg_get_serial_sequence($1, $2), $3)")
}

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
