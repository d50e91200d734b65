import GRDB
import GRDBSQLite
import SQLStorage

/// A row while its statement stands on it: each column is read from the engine when it is asked for. The library's own rows cost
/// more than the engine itself where a million of them are read.
struct SQLiteColumns: SQLColumns {
    private let statement: OpaquePointer

    /// The statement has just been stepped to a row, and is not moved while this lives.
    init(_ statement: OpaquePointer) { self.statement = statement }

    func integer(_ column: Int) throws -> Int64 {
        let value = value(column)
        guard sqlite3_value_type(value) == SQLITE_INTEGER else { throw SQLFault.unexpectedColumn(column) }
        return sqlite3_value_int64(value)
    }

    func optionalInteger(_ column: Int) throws -> Int64? { isNull(column) ? nil : try integer(column) }

    func text(_ column: Int) throws -> String { String(decoding: try bytes(of: value(column), column), as: UTF8.self) }

    func optionalText(_ column: Int) throws -> String? { isNull(column) ? nil : try text(column) }

    func integers(from first: Int) throws -> SIMD4<Int64> {
        SIMD4(try integer(first), try integer(first + 1), try integer(first + 2), try integer(first + 3))
    }

    func appendTexts(from first: Int, to bytes: inout [UInt8]) throws -> SIMD4<Int> {
        var ends = SIMD4<Int>()
        for place in ends.indices {
            let value = value(first + place)
            switch sqlite3_value_type(value) {
            case SQLITE_NULL: break
            case SQLITE_TEXT: bytes.append(contentsOf: try text(of: value))
            default: throw SQLFault.unexpectedColumn(first + place)
            }
            ends[place] = bytes.count
        }
        return ends
    }

    /// Whether the engine takes no lock of its own for the connection, which is what `value` relies on.
    var isWithoutLock: Bool { sqlite3_db_mutex(sqlite3_db_handle(statement)) == nil }

    /// Valid until the statement moves. Each of the calls that read a column by its number looks the column up again and notes
    /// that it did. A value without their protection is as good as one with it, since the library opens its connections for
    /// several threads without a lock of the engine's and keeps each on one thread at a time.
    private func value(_ column: Int) -> OpaquePointer? { sqlite3_column_value(statement, Int32(column)) }

    private func bytes(of value: OpaquePointer?, _ column: Int) throws -> UnsafeBufferPointer<UInt8> {
        guard sqlite3_value_type(value) == SQLITE_TEXT else { throw SQLFault.unexpectedColumn(column) }
        return try text(of: value)
    }

    /// Of a value that is a text. A text is always somewhere, an empty one too, unless there was no memory to put it there.
    private func text(of value: OpaquePointer?) throws -> UnsafeBufferPointer<UInt8> {
        guard let start = sqlite3_value_text(value) else { throw DatabaseError(resultCode: .SQLITE_NOMEM) }
        return UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }

    private func isNull(_ column: Int) -> Bool { sqlite3_value_type(value(column)) == SQLITE_NULL }
}
