extension Migration {
    /// The hub: devices, sends, and the slices in which sends are dispatched.
    static let hubTables = Migration(number: 1, name: "hub tables") { dialect in
        [hubs(dialect), devices(dialect), notifications(dialect), slices(dialect)].joined(separator: "\n")
    }

    private static func hubs(_ dialect: SQLDialect) -> String {
        """
        CREATE TABLE hubs (
            hub_id \(dialect.integer) PRIMARY KEY, name \(dialect.text) NOT NULL UNIQUE, created_at \(dialect.integer) NOT NULL);
        """
    }

    /// `tags` holds the tags as given; `device_tags` holds one row per folded tag, the addressing ones included.
    private static func devices(_ dialect: SQLDialect) -> String {
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE devices (
                hub_id \(integer) NOT NULL, slice_key \(integer) NOT NULL, record_id \(text) NOT NULL, kind \(text) NOT NULL,
                platform \(text) NOT NULL, handle \(text), environment \(text), topic \(text), tags \(text) NOT NULL,
                user_id \(text), created_at \(integer) NOT NULL, registered_at \(integer) NOT NULL, expires_at \(integer),
                parked_at \(integer), version \(integer) NOT NULL,
                PRIMARY KEY (hub_id, slice_key), UNIQUE (hub_id, record_id));
            CREATE INDEX devices_by_handle ON devices (hub_id, platform, handle, slice_key);
            CREATE TABLE device_tags (
                hub_id \(integer) NOT NULL, tag \(text) NOT NULL, slice_key \(integer) NOT NULL,
                PRIMARY KEY (hub_id, tag, slice_key));
            """
    }

    private static func notifications(_ dialect: SQLDialect) -> String {
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE notifications (
                hub_id \(integer) NOT NULL, notification_id \(text) NOT NULL, body \(dialect.bytes) NOT NULL,
                push_type \(text) NOT NULL, priority \(integer) NOT NULL, collapse_id \(text), topic \(text),
                expires_at \(integer), audience \(text), state \(text) NOT NULL, enqueued_at \(integer) NOT NULL,
                due_at \(integer) NOT NULL, started_at \(integer), ended_at \(integer), open_slices \(integer) NOT NULL,
                PRIMARY KEY (hub_id, notification_id));
            CREATE INDEX notifications_by_end ON notifications (ended_at);
            CREATE TABLE tallies (
                hub_id \(integer) NOT NULL, notification_id \(text) NOT NULL, slice \(integer) NOT NULL,
                outcome \(text) NOT NULL, targets \(integer) NOT NULL,
                PRIMARY KEY (hub_id, notification_id, slice, outcome));
            CREATE TABLE idempotency_keys (
                hub_id \(integer) NOT NULL, idempotency_key \(text) NOT NULL, digest \(dialect.bytes) NOT NULL,
                notification_id \(text) NOT NULL, due_at \(integer) NOT NULL, created_at \(integer) NOT NULL,
                PRIMARY KEY (hub_id, idempotency_key));
            CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
            """
    }

    /// A slice walks the keys after `cursor_key` up to `last_key`; from `ready_at` on it may be leased, the earliest first. Its
    /// row goes when it is done.
    private static func slices(_ dialect: SQLDialect) -> String {
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE slices (
                hub_id \(integer) NOT NULL, notification_id \(text) NOT NULL, slice \(integer) NOT NULL,
                cursor_key \(integer) NOT NULL, last_key \(integer) NOT NULL, weight \(integer) NOT NULL,
                walked \(integer) NOT NULL, failures \(integer) NOT NULL, stalled_since \(integer),
                ready_at \(integer) NOT NULL, epoch \(integer) NOT NULL, owner \(text), leased_until \(integer),
                PRIMARY KEY (hub_id, notification_id, slice));
            CREATE INDEX slices_by_turn ON slices (weight, ready_at);
            CREATE TABLE pending_targets (
                hub_id \(integer) NOT NULL, notification_id \(text) NOT NULL, slice \(integer) NOT NULL,
                slice_key \(integer) NOT NULL, cause \(text) NOT NULL, attempts \(integer) NOT NULL,
                first_at \(integer) NOT NULL, not_before \(integer) NOT NULL,
                PRIMARY KEY (hub_id, notification_id, slice, slice_key));
            """
    }
}
