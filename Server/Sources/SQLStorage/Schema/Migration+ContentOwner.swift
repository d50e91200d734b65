extension Migration {
    /// Which database a bucket of contents belongs to.
    static let contentOwner = Migration(number: 16, name: "owner of contents") { dialect in
        """
        CREATE TABLE content_owner (
            owner_id \(dialect.integer) PRIMARY KEY, mark \(dialect.text) NOT NULL, place \(dialect.text) NOT NULL);
        """
    }
}
