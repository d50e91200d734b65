extension Migration {
    /// The pace of a send, for the hub and for what the app backend still has to hand over.
    static let pace = Migration(number: 4, name: "pace of a send") { dialect in
        """
        ALTER TABLE notifications ADD COLUMN pushes_per_second \(dialect.integer);
        ALTER TABLE rich_notifications ADD COLUMN pushes_per_second \(dialect.integer);
        """
    }
}
