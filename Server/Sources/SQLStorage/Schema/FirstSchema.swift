extension Migration {
    /// All tables of the first release. Databases of development versions are recognized by another name of their first step, so this
    /// name stays.
    static let firstSchema = Migration(number: 1, name: "first release") { FirstSchema($0).script }
}

/// The tables of step 1, each with its indexes, by subject: hubs, sends, app backend, nodes.
///
/// There are no foreign keys: the rows of a hub or a send that was removed go piece by piece, in short transactions.
///
/// A name says what a column holds, in every table alike. `…_at` is a moment in milliseconds since 1970. `…_order` and `order_…` are order
/// numbers. `is_…`, `allows_…`, `shares_…` and `refused` are 0 or 1. A column is NULL where there is nothing to say.
struct FirstSchema {
    /// The word of the engine for a table whose rows lie in the order of the primary key.
    let clustered: String
    let integer: String
    let text: String
    let bytes: String
    /// The type of a primary key that the engine counts up.
    let serial: String
    /// Makes the counter of order numbers.
    let orderNumbers: String

    init(_ dialect: SQLDialect) {
        (clustered, integer, text, bytes) = (dialect.clustered, dialect.integer, dialect.text, dialect.bytes)
        (serial, orderNumbers) = (dialect.serial, dialect.orderNumbers)
    }

    /// The statements of the whole step.
    var script: String { (hubTables + sendTables + backendTables + accessTables + nodeTables).joined(separator: "\n") }
}

/// The nodes that share the database, and what belongs to the database itself. `SchemaMigrator` makes its own table, `schema_steps`.
extension FirstSchema {
    var nodeTables: [String] {
        [
            // One node that serves the database, by the name under which it takes leases. `schema_step` is the last step that its program
            // knows.
            """
            CREATE TABLE nodes (
                node_id \(text) PRIMARY KEY,
                role \(text) NOT NULL,
                version \(text) NOT NULL,
                schema_step \(integer),
                started_at \(integer) NOT NULL,
                seen_at \(integer) NOT NULL);
            """,
            // The fence (`SchemaFence`), in one row with the id 1: the step that a node must at least know to go on.
            """
            CREATE TABLE schema_fence (
                fence_id \(integer) PRIMARY KEY,
                oldest_step \(integer) NOT NULL);
            """,
            // The bucket that keeps the contents of this database, in one row with the id 1. The bucket has the same `mark`; `place` is
            // where the database lay when it got the mark, so that a copy of the database elsewhere is noticed.
            """
            CREATE TABLE content_owner (
                owner_id \(integer) PRIMARY KEY,
                mark \(text) NOT NULL,
                place \(text) NOT NULL);
            """,
            // Never has a row: a write that waits for its turn locks the table. Only PostgreSQL has several writers at a time and uses it;
            // both engines have it, so that both have the same tables.
            "CREATE TABLE \(Migration.turnTable) (turn \(integer) PRIMARY KEY);",
        ]
    }
}

extension Migration {
    /// The table that a write locks which waits for its turn.
    public static let turnTable = "write_turns"
}
