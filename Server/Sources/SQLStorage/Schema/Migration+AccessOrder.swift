extension Migration {
    /// What says who may read a notification, whatever the clock showed: where in the order it began and ended, and where users and
    /// bindings did. The moments of what is older become its numbers; they are smaller than every number that is given from now on.
    /// A number is one less where the moment itself counted as later.
    static let accessOrder = Migration(number: accessOrderNumber, name: "order of access", oldestBeside: accessOrderNumber) {
        dialect in
        let integer = dialect.integer
        return """
            ALTER TABLE users ADD COLUMN order_number \(integer) NOT NULL DEFAULT 0;
            UPDATE users SET order_number = created_at - 1;
            ALTER TABLE bindings ADD COLUMN from_order \(integer) NOT NULL DEFAULT 0;
            ALTER TABLE bindings ADD COLUMN until_order \(integer);
            UPDATE bindings SET from_order = from_at, until_order = until_at;
            ALTER TABLE rich_notifications ADD COLUMN start_order \(integer) NOT NULL DEFAULT 0;
            ALTER TABLE rich_notifications ADD COLUMN end_order \(integer);
            UPDATE rich_notifications SET start_order = due_at - 1, end_order = completed_at;
            ALTER TABLE notifications ADD COLUMN end_order \(integer);
            UPDATE notifications SET end_order = ended_at;
            """
    }

    /// An older program would give no numbers.
    private static let accessOrderNumber = 20
}
