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
