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

    /// Puts the bytes of a text column behind those that are there; nothing for a column that is null.
    func appendText(_ column: Int, to bytes: inout [UInt8]) throws
}

extension SQLRow: SQLColumns {
    public func appendText(_ column: Int, to bytes: inout [UInt8]) throws {
        if let text = try optionalText(column) { bytes.append(contentsOf: text.utf8) }
    }
}
