import GRDB
import SQLStorage

/// A row of the library while its cursor stands on it: each column is read from the engine when it is asked for.
struct SQLiteColumns: SQLColumns {
    private let row: Row

    init(_ row: Row) { self.row = row }

    func integer(_ column: Int) throws -> Int64 {
        guard let value = row[column] as Int64? else { throw SQLFault.unexpectedColumn(column) }
        return value
    }

    func optionalInteger(_ column: Int) throws -> Int64? { row[column] as Int64? }

    func text(_ column: Int) throws -> String {
        guard let value = row[column] as String? else { throw SQLFault.unexpectedColumn(column) }
        return value
    }

    func optionalText(_ column: Int) throws -> String? { row[column] as String? }
}
