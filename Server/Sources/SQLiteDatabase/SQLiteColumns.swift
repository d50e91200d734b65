import GRDBSQLite
import SQLStorage

/// A row while its statement stands on it: each column is read from the engine when it is asked for. The library's own rows cost
/// more than the engine itself where a million of them are read.
struct SQLiteColumns: SQLColumns {
    private let statement: OpaquePointer

    /// The statement has just been stepped to a row, and is not moved while this lives.
    init(_ statement: OpaquePointer) { self.statement = statement }

    func integer(_ column: Int) throws -> Int64 {
        guard sqlite3_column_type(statement, Int32(column)) == SQLITE_INTEGER else { throw SQLFault.unexpectedColumn(column) }
        return sqlite3_column_int64(statement, Int32(column))
    }

    func optionalInteger(_ column: Int) throws -> Int64? { isNull(column) ? nil : try integer(column) }

    func text(_ column: Int) throws -> String {
        guard sqlite3_column_type(statement, Int32(column)) == SQLITE_TEXT,
            let bytes = sqlite3_column_text(statement, Int32(column))
        else { throw SQLFault.unexpectedColumn(column) }
        let count = Int(sqlite3_column_bytes(statement, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    func optionalText(_ column: Int) throws -> String? { isNull(column) ? nil : try text(column) }

    private func isNull(_ column: Int) -> Bool { sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL }
}
