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
