extension Migration {
    /// Which version a node must at least have to go on, and what version each node has.
    static let fence = Migration(number: fenceNumber, name: "fence of versions") { dialect in
        """
        CREATE TABLE schema_fence (fence_id \(dialect.integer) PRIMARY KEY, oldest_step \(dialect.integer) NOT NULL);
        ALTER TABLE nodes ADD COLUMN schema_step \(dialect.integer);
        """
    }

    /// Databases before this step have no fence.
    static let fenceNumber = 15
}
