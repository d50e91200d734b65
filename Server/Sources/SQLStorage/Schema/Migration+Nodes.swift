extension Migration {
    /// The nodes that serve the database.
    static let nodes = Migration(number: 11, name: "nodes") { dialect in
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE nodes (
                node_id \(text) PRIMARY KEY, role \(text) NOT NULL, version \(text) NOT NULL, started_at \(integer) NOT NULL,
                seen_at \(integer) NOT NULL);
            """
    }
}
