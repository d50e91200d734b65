extension Migration {
    /// The table that a write locks which waits for its turn. It never has a row. Only PostgreSQL has several writers at a time and
    /// uses it; every engine has it, so that all have the same tables.
    public static let turnTable = "write_turns"

    /// Turns of writes that are in each other's way.
    static let writeTurns = Migration(number: 18, name: "turns of writes") { dialect in
        "CREATE TABLE \(turnTable) (turn \(dialect.integer) PRIMARY KEY);"
    }
}
