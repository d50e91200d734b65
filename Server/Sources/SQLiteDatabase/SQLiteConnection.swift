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
        if !prepared.isReadonly { mark?.isSet = true }
        let cursor = try Row.fetchCursor(prepared)
        var rows: [SQLRow] = []
        while let row = try cursor.next() {
            rows.append(SQLRow(row.databaseValues.map(SQLValue.init)))
        }
        return rows
    }

    func forEachRow(_ statement: SQLStatement, _ values: [SQLValue], _ body: (any SQLColumns) throws -> Void) throws {
        let prepared = try prepare(statement, values)
        // Only a reading statement may be stepped behind the library's back: it has nothing to notice.
        guard prepared.isReadonly else { throw SQLFault.refused(code: 1, reason: "only a reading statement shows its rows") }
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
        // Tells the library that the values are its caller's business, and forgets those of the last run.
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
