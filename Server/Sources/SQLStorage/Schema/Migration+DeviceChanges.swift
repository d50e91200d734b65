extension Migration {
    /// Changes of devices that have begun and of which nobody knows yet that the hub has them.
    static let deviceChanges = Migration(number: 17, name: "changes of devices under way") { dialect in
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE device_changes (
                app_id \(integer) NOT NULL, record_id \(text) NOT NULL, mark \(integer) NOT NULL, begun_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, record_id, mark));
            CREATE INDEX device_changes_by_age ON device_changes (app_id, begun_at, record_id);
            """
    }
}
