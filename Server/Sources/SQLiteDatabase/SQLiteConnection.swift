import Foundation
import GRDB
import GRDBSQLite
import SQLStorage

/// A connection of the library as storage sees it. Lives only inside a transaction's closure.
struct SQLiteConnection: SQLConnection {
    private let database: Database
    private let mark: WriteMark?

    init(_ database: Database, mark: WriteMark? = nil) {
        self.database = database
        self.mark = mark
    }

    var dialect: SQLDialect { .sqlite }

    func rows(_ statement: SQLStatement, _ values: [SQLValue]) throws -> [SQLRow] {
        let prepared = try prepare(statement, values)
        var rows: [SQLRow] = []
        if prepared.isReadonly {
            try step(prepared) { rows.append(SQLRow(try $0.all())) }
            return rows
        }
        mark?.isSet = true
        let cursor = try Row.fetchCursor(prepared)
        while let row = try cursor.next() { rows.append(SQLRow(row.databaseValues.map(SQLValue.init))) }
        return rows
    }

    func forEachRow(_ statement: SQLStatement, _ values: [SQLValue], _ body: (any SQLColumns) throws -> Void) throws {
        let prepared = try prepare(statement, values)
        // Only a reading statement may be stepped behind the library's back: it has nothing to notice.
        guard prepared.isReadonly else { throw SQLFault.refused(code: 1, reason: "only a reading statement shows its rows") }
        try step(prepared, body)
    }

    /// Steps a reading statement to its end.
    private func step(_ prepared: Statement, _ body: (SQLiteColumns) throws -> Void) throws {
        let raw = prepared.sqliteStatement
        defer { sqlite3_reset(raw) }
        let columns = SQLiteColumns(raw)
        while true {
            switch sqlite3_step(raw) {
            case SQLITE_ROW: try body(columns)
            case SQLITE_DONE: return
            case let code:
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage)
            }
        }
    }

    @discardableResult
    func run(_ statement: SQLStatement, _ values: [SQLValue]) throws -> Int {
        mark?.isSet = true
        try prepare(statement, values).execute()
        return database.changesCount
    }

    func script(_ text: String) throws {
        mark?.isSet = true
        try database.execute(sql: text)
    }

    /// `$1` is a *name* for SQLite, which numbers parameters by first appearance; so values are bound in that order.
    private func prepare(_ statement: SQLStatement, _ values: [SQLValue]) throws -> Statement {
        let prepared = try database.cachedStatement(sql: statement.text)
        guard statement.appearance.allSatisfy({ (1...values.count).contains($0) }) else {
            throw SQLFault.refused(code: 1, reason: "a value is missing")
        }
        // Skips the library's own check of the values and clears those of the last run.
        prepared.setUncheckedArguments(StatementArguments())
        for (index, place) in statement.appearance.enumerated() {
            let code = values[place - 1].bind(to: prepared.sqliteStatement, at: Int32(index + 1))
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
        return prepared
    }
}

extension SQLValue {
    /// Hands the value to the engine, which copies it. The library's own way there makes four values of each.
    fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        // What C spells as -1: the engine copies before the call returns.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch self {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let value): return sqlite3_bind_int64(statement, index, value)
        case .text(var text):
            return text.withUTF8 { bytes in
                guard let start = bytes.baseAddress else { return sqlite3_bind_text(statement, index, "", 0, copies) }
                return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                    sqlite3_bind_text(statement, index, $0, Int32(bytes.count), copies)
                }
            }
        case .bytes(let bytes):
            guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
            return sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), copies)
        }
    }

    fileprivate init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .string(let text): self = .text(text)
        case .blob(let data): self = .bytes(Array(data))
        // No column of ours is a floating-point number; a sum that overflowed becomes one, and null makes the reader throw.
        case .double: self = .null
        }
    }
}

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

    /// The values of all columns.
    func all() throws -> [SQLValue] {
        try (0..<Int(sqlite3_column_count(statement))).map { column in
            let value = value(column)
            switch sqlite3_value_type(value) {
            case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
            case SQLITE_TEXT: return .text(String(decoding: try text(of: value), as: UTF8.self))
            case SQLITE_BLOB:
                let bytes = UnsafeRawBufferPointer(
                    start: sqlite3_value_blob(value), count: Int(sqlite3_value_bytes(value)))
                return .bytes(Array(bytes))
            // No column of ours is a floating-point number; a sum that overflowed becomes one, and null makes the reader throw.
            default: return .null
            }
        }
    }

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

/// Whether a write has written anything yet. Lives on the connection's own thread.
final class WriteMark {
    var isSet = false
}

/// Turns the engine's errors into `SQLFault`; whatever else a closure throws passes unchanged.
enum FaultMapping {
    static func mapped<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw fault(error)
        }
    }

    /// The engine's messages name columns and constraints, never values, and statements are constants.
    static func fault(_ error: DatabaseError) -> SQLFault {
        switch error.extendedResultCode {
        case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY: return .duplicate
        default: break
        }
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_NOMEM,
            .SQLITE_INTERRUPT, .SQLITE_PROTOCOL, .SQLITE_ABORT, .SQLITE_MISUSE:
            return .unavailable(reason: "\(name(of: error.resultCode)): \(error.message ?? "no message")")
        case .SQLITE_CORRUPT: return .damaged(reason: "SQLITE_CORRUPT")
        case .SQLITE_NOTADB: return .damaged(reason: "SQLITE_NOTADB")
        default:
            return .refused(code: Int(error.extendedResultCode.rawValue), reason: error.message ?? "no message")
        }
    }

    /// The name in the engine's documentation, so that operators can look it up.
    private static func name(of code: ResultCode) -> String {
        switch code {
        case .SQLITE_BUSY: "SQLITE_BUSY"
        case .SQLITE_LOCKED: "SQLITE_LOCKED"
        case .SQLITE_FULL: "SQLITE_FULL"
        case .SQLITE_IOERR: "SQLITE_IOERR"
        case .SQLITE_CANTOPEN: "SQLITE_CANTOPEN"
        case .SQLITE_READONLY: "SQLITE_READONLY"
        case .SQLITE_NOMEM: "SQLITE_NOMEM"
        default: "SQLite \(code.rawValue)"
        }
    }

    /// The same for an error of the commit itself: after an input/output error the frames may have reached the log.
    static func commitFault(_ error: any Error) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        return error.resultCode == .SQLITE_IOERR ? SQLFault.outcomeUnknown : fault(error)
    }
}
