/// The few words in which the engines differ. Everything else is one text.
public struct SQLDialect: Sendable, Hashable {
    /// `sqlite` or `postgresql`.
    public let name: String
    /// The column type for 64-bit integers.
    public let integer: String
    /// The column type for bytes.
    public let bytes: String
    /// The column type for text that compares bytewise.
    public let text: String
    /// Appended to the inner select of a lease so that nodes skip each other's rows; empty where there is one writer.
    public let skipLocked: String

    /// SQLite 3.35 or later.
    public static let sqlite = SQLDialect(name: "sqlite", integer: "INTEGER", bytes: "BLOB", text: "TEXT", skipLocked: "")

    /// PostgreSQL 13 or later.
    public static let postgresql = SQLDialect(
        name: "postgresql", integer: "BIGINT", bytes: "BYTEA", text: "TEXT COLLATE \"C\"", skipLocked: " FOR UPDATE SKIP LOCKED")
}
