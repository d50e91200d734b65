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
    public func forEachRow(
        _ statement: SQLStatement, _ values: [SQLValue], _ body: (any SQLColumns) throws -> Void
    ) throws {
        for row in try rows(statement, values) { try body(row) }
    }
}
