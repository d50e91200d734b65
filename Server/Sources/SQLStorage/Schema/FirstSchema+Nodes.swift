/// The nodes that share the database, and what belongs to the database itself. `SchemaMigrator` makes its own table, `schema_steps`.
extension FirstSchema {
    var nodeTables: [String] { [nodes, schemaFence, contentOwner, writeTurns] }

    /// One node that serves the database, by the name under which it takes leases. `schema_step` is the last step that its program knows.
    private var nodes: String {
        """
        CREATE TABLE nodes (
            node_id \(text) PRIMARY KEY,
            role \(text) NOT NULL,
            version \(text) NOT NULL,
            schema_step \(integer),
            started_at \(integer) NOT NULL,
            seen_at \(integer) NOT NULL);
        """
    }

    /// The fence (`SchemaFence`), in one row with the id 1: the step that a node must at least know to go on.
    private var schemaFence: String {
        """
        CREATE TABLE schema_fence (
            fence_id \(integer) PRIMARY KEY,
            oldest_step \(integer) NOT NULL);
        """
    }

    /// The bucket that keeps the contents of this database, in one row with the id 1. The bucket has the same `mark`; `place` is where the
    /// database lay when it got the mark, so that a copy of the database elsewhere is noticed.
    private var contentOwner: String {
        """
        CREATE TABLE content_owner (
            owner_id \(integer) PRIMARY KEY,
            mark \(text) NOT NULL,
            place \(text) NOT NULL);
        """
    }

    /// Never has a row: a write that waits for its turn locks the table. Only PostgreSQL has several writers at a time and uses it; both
    /// engines have it, so that both have the same tables.
    private var writeTurns: String { "CREATE TABLE \(Migration.turnTable) (turn \(integer) PRIMARY KEY);" }
}

extension Migration {
    /// The table that a write locks which waits for its turn.
    public static let turnTable = "write_turns"
}
