/// One transaction on one connection. Valid only inside the closure that received it.
public protocol SQLConnection {
    /// Runs a statement and returns its rows.
    func rows(_ statement: SQLStatement, _ values: [SQLValue]) throws -> [SQLRow]

    /// Runs a statement and shows its rows one after the other; a row is valid only while it is shown. For many rows: nothing
    /// is kept of those columns that are not asked for.
    func forEachRow(_ statement: SQLStatement, _ values: [SQLValue], _ body: (any SQLColumns) throws -> Void) throws

    /// Runs a statement and returns how many rows it changed.
    @discardableResult
    func run(_ statement: SQLStatement, _ values: [SQLValue]) throws -> Int

    /// Runs several statements of a migration, without values.
    func script(_ text: String) throws

    /// The dialect of the engine.
    var dialect: SQLDialect { get }
}

extension SQLConnection {
    /// The first row, or `nil`.
    public func row(_ statement: SQLStatement, _ values: [SQLValue]) throws -> SQLRow? { try rows(statement, values).first }

    /// For an engine that hands over whole rows anyhow.
    public func forEachRow(_ statement: SQLStatement, _ values: [SQLValue], _ body: (any SQLColumns) throws -> Void) throws {
        for row in try rows(statement, values) { try body(row) }
    }
}

/// The columns of one row while it is being read, by position. Cheaper than a row that is kept.
public protocol SQLColumns {
    /// An integer column. Throws `SQLFault.unexpectedColumn` for another type.
    func integer(_ column: Int) throws -> Int64

    /// An integer column that may be null.
    func optionalInteger(_ column: Int) throws -> Int64?

    /// A text column. Throws `SQLFault.unexpectedColumn` for another type.
    func text(_ column: Int) throws -> String

    /// A text column that may be null.
    func optionalText(_ column: Int) throws -> String?

    /// Four neighbouring integer columns. Throws `SQLFault.unexpectedColumn` for another type.
    func integers(from first: Int) throws -> SIMD4<Int64>

    /// Puts the bytes of four neighbouring text columns behind those that are there, and returns where each of them ends; of one that
    /// is null there is nothing.
    func appendTexts(from first: Int, to bytes: inout [UInt8]) throws -> SIMD4<Int>
}

extension SQLRow: SQLColumns {
    public func integers(from first: Int) throws -> SIMD4<Int64> {
        SIMD4(try integer(first), try integer(first + 1), try integer(first + 2), try integer(first + 3))
    }

    public func appendTexts(from first: Int, to bytes: inout [UInt8]) throws -> SIMD4<Int> {
        var ends = SIMD4<Int>()
        for place in ends.indices {
            if let text = try optionalText(first + place) { bytes.append(contentsOf: text.utf8) }
            ends[place] = bytes.count
        }
        return ends
    }
}

/// One row of a result, its columns by position.
public struct SQLRow: Sendable, Hashable {
    public let values: [SQLValue]

    /// Creates a row.
    public init(_ values: [SQLValue]) { self.values = values }

    /// An integer column. Throws `SQLFault.unexpectedColumn` for another type.
    public func integer(_ column: Int) throws -> Int64 {
        guard case .integer(let value) = values[column] else { throw SQLFault.unexpectedColumn(column) }
        return value
    }

    /// An integer column that may be null.
    public func optionalInteger(_ column: Int) throws -> Int64? { values[column] == .null ? nil : try integer(column) }

    /// A text column. Throws `SQLFault.unexpectedColumn` for another type.
    public func text(_ column: Int) throws -> String {
        guard case .text(let value) = values[column] else { throw SQLFault.unexpectedColumn(column) }
        return value
    }

    /// A text column that may be null.
    public func optionalText(_ column: Int) throws -> String? { values[column] == .null ? nil : try text(column) }

    /// A binary column. Throws `SQLFault.unexpectedColumn` for another type.
    public func bytes(_ column: Int) throws -> [UInt8] {
        guard case .bytes(let value) = values[column] else { throw SQLFault.unexpectedColumn(column) }
        return value
    }

    /// A binary column that may be null.
    public func optionalBytes(_ column: Int) throws -> [UInt8]? { values[column] == .null ? nil : try bytes(column) }
}

/// A value that goes to or comes from a database.
public enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}

extension SQLValue {
    /// An integer or `null`.
    public static func optional(_ value: Int64?) -> SQLValue { value.map(SQLValue.integer) ?? .null }

    /// A text or `null`.
    public static func optional(_ value: String?) -> SQLValue { value.map(SQLValue.text) ?? .null }
}
