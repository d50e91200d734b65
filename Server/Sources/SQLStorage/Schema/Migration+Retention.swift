extension Migration {
    /// What the sweeper needs: when a notification ended, and an index for each question that it asks.
    static let retention = Migration(number: 3, name: "retention") { dialect in
        """
        ALTER TABLE rich_notifications ADD COLUMN ended_at \(dialect.integer);
        UPDATE rich_notifications SET ended_at = COALESCE(completed_at, recalled_at, due_at)
            WHERE completed_at IS NOT NULL OR recalled_at IS NOT NULL OR refused = 1;
        CREATE INDEX rich_notifications_by_end ON rich_notifications (app_id, ended_at) WHERE ended_at IS NOT NULL;
        CREATE INDEX rich_notifications_by_expiry ON rich_notifications (app_id, expires_at) WHERE expires_at IS NOT NULL;
        CREATE INDEX rich_notifications_by_due ON rich_notifications (app_id, due_at);
        CREATE INDEX audience_index_by_notification ON audience_index (app_id, rich_id);
        CREATE INDEX read_marks_by_notification ON read_marks (app_id, rich_id);
        CREATE INDEX bindings_by_end ON bindings (app_id, until_at) WHERE until_at IS NOT NULL;
        CREATE INDEX backend_audit_by_age ON backend_audit (app_id, happened_at);
        DROP INDEX contents_by_owner;
        CREATE INDEX contents_by_owner ON contents (app_id, owner_id, expires_at, byte_count);
        """
    }
}
