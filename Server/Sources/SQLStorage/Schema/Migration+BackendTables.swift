extension Migration {
    /// The app backend: users and credentials, bindings, contents, rich notifications, receipts. Every row carries its app.
    static let backendTables = Migration(number: 2, name: "backend tables") { dialect in
        [
            counters(dialect), users(dialect), bindings(dialect), contents(dialect), richNotifications(dialect),
            reports(dialect), audit(dialect),
        ].joined(separator: "\n")
    }

    /// The numbers that must never be used again: users, bindings, notifications, audit entries.
    private static func counters(_ dialect: SQLDialect) -> String {
        """
        CREATE TABLE backend_counters (
            app_id \(dialect.integer) NOT NULL, name \(dialect.text) NOT NULL, last_number \(dialect.integer) NOT NULL,
            PRIMARY KEY (app_id, name));
        """
    }

    private static func users(_ dialect: SQLDialect) -> String {
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE users (
                app_id \(integer) NOT NULL, user_id \(integer) NOT NULL, name \(text) NOT NULL, folded_name \(text) NOT NULL,
                role \(text) NOT NULL, password_hash \(text), credential_version \(integer) NOT NULL,
                created_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, user_id), UNIQUE (app_id, folded_name));
            CREATE TABLE installation_credentials (
                app_id \(integer) NOT NULL, installation_id \(text) NOT NULL, user_id \(integer) NOT NULL,
                digest \(dialect.bytes) NOT NULL, credential_version \(integer) NOT NULL, expires_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, installation_id));
            CREATE INDEX installation_credentials_by_user ON installation_credentials (app_id, user_id);
            CREATE INDEX installation_credentials_by_expiry ON installation_credentials (app_id, expires_at);
            """
    }

    /// A binding without `until_at` holds. `user_tags` remembers every tag that a user's devices ever had, for the inbox.
    private static func bindings(_ dialect: SQLDialect) -> String {
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE bindings (
                app_id \(integer) NOT NULL, binding_id \(integer) NOT NULL, user_id \(integer) NOT NULL,
                record_id \(text) NOT NULL, kind \(text) NOT NULL, platform \(text) NOT NULL, handle \(text),
                environment \(text), topic \(text), tags \(text) NOT NULL, from_at \(integer) NOT NULL, until_at \(integer),
                PRIMARY KEY (app_id, binding_id));
            CREATE UNIQUE INDEX bindings_that_hold ON bindings (app_id, record_id) WHERE until_at IS NULL;
            CREATE INDEX bindings_by_record ON bindings (app_id, record_id, binding_id);
            CREATE INDEX bindings_by_handle ON bindings (app_id, platform, handle) WHERE until_at IS NULL;
            CREATE INDEX bindings_by_user ON bindings (app_id, user_id, binding_id);
            CREATE TABLE user_tags (
                app_id \(integer) NOT NULL, user_id \(integer) NOT NULL, audience_key \(text) NOT NULL,
                PRIMARY KEY (app_id, user_id, audience_key));
            """
    }

    /// A content without `expires_at` was sent, or is kept. An orphan is a digest that lost its last content.
    private static func contents(_ dialect: SQLDialect) -> String {
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE contents (
                app_id \(integer) NOT NULL, content_id \(text) NOT NULL, owner_id \(integer) NOT NULL, digest \(text) NOT NULL,
                media_type \(text) NOT NULL, byte_count \(integer) NOT NULL, file_name \(text), created_at \(integer) NOT NULL,
                expires_at \(integer),
                PRIMARY KEY (app_id, content_id));
            CREATE INDEX contents_by_owner ON contents (app_id, owner_id, expires_at);
            CREATE INDEX contents_by_digest ON contents (digest);
            CREATE INDEX contents_by_expiry ON contents (expires_at);
            CREATE TABLE content_orphans (digest \(text) PRIMARY KEY);
            """
    }

    /// `work` is what is left to do from `work_at` on; `audience_index` finds what an inbox may hold.
    private static func richNotifications(_ dialect: SQLDialect) -> String {
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE rich_notifications (
                app_id \(integer) NOT NULL, rich_id \(integer) NOT NULL, sender_id \(integer) NOT NULL,
                sender_name \(text) NOT NULL, kind \(text) NOT NULL, style \(text) NOT NULL, title \(text), subtitle \(text),
                message \(text) NOT NULL, alt_text \(text), content_id \(text), thumb_id \(text), audience \(text) NOT NULL,
                due_at \(integer) NOT NULL, expires_at \(integer), completed_at \(integer), recalled_at \(integer),
                tracking_id \(text), refused \(integer) NOT NULL, push_body \(dialect.bytes) NOT NULL,
                push_type \(text) NOT NULL, priority \(integer) NOT NULL, collapse_id \(text), hub_key \(text) NOT NULL,
                work \(text), work_at \(integer),
                PRIMARY KEY (app_id, rich_id));
            CREATE INDEX rich_notifications_by_work ON rich_notifications (app_id, work_at) WHERE work IS NOT NULL;
            CREATE INDEX rich_notifications_by_content ON rich_notifications (app_id, content_id);
            CREATE INDEX rich_notifications_by_thumb ON rich_notifications (app_id, thumb_id);
            CREATE TABLE audience_index (
                app_id \(integer) NOT NULL, audience_key \(text) NOT NULL, rich_id \(integer) NOT NULL,
                PRIMARY KEY (app_id, audience_key, rich_id));
            CREATE TABLE repeat_keys (
                app_id \(integer) NOT NULL, user_id \(integer) NOT NULL, repeat_key \(text) NOT NULL,
                digest \(dialect.bytes) NOT NULL, rich_id \(integer) NOT NULL, created_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, user_id, repeat_key));
            CREATE INDEX repeat_keys_by_age ON repeat_keys (app_id, created_at);
            """
    }

    private static func reports(_ dialect: SQLDialect) -> String {
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE read_marks (
                app_id \(integer) NOT NULL, user_id \(integer) NOT NULL, rich_id \(integer) NOT NULL,
                read_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, user_id, rich_id));
            CREATE TABLE receipts (
                app_id \(integer) NOT NULL, receipt_key \(text) NOT NULL, rich_id \(integer) NOT NULL,
                user_id \(integer) NOT NULL, installation_id \(text) NOT NULL, kind \(text) NOT NULL, action \(text),
                happened_at \(integer) NOT NULL, received_at \(integer) NOT NULL,
                PRIMARY KEY (app_id, receipt_key));
            CREATE INDEX receipts_by_notification ON receipts (app_id, rich_id, kind, installation_id);
            """
    }

    private static func audit(_ dialect: SQLDialect) -> String {
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE backend_audit (
                app_id \(integer) NOT NULL, entry_id \(integer) NOT NULL, happened_at \(integer) NOT NULL,
                event \(text) NOT NULL, user_id \(integer) NOT NULL, other_user_id \(integer), record_id \(text),
                PRIMARY KEY (app_id, entry_id));
            """
    }
}
