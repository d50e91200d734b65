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
}

extension SQLRow: SQLColumns {}
