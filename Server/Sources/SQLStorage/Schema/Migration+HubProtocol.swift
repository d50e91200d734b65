extension Migration {
    /// What the hub protocol needs: templates, installations, direct sends, counts by platform, feedback.
    ///
    /// `devices` and `device_tags` are laid out anew: rows that a walk reads one after the other lie side by side. `form` is 0
    /// for a native target, else it stands for the name of a template; `shares_handle` says that there is, or was, another
    /// record with the same handle and form.
    static let hubProtocol = Migration(number: 6, name: "hub protocol") { dialect in
        [devices(dialect), deviceTags(dialect), templates(dialect), sends(dialect), feedback(dialect)].joined(separator: "\n")
    }

    private static func devices(_ dialect: SQLDialect) -> String {
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE devices_in_order (
                hub_id \(integer) NOT NULL, slice_key \(integer) NOT NULL, record_id \(text) NOT NULL, kind \(text) NOT NULL,
                platform \(text) NOT NULL, handle \(text), environment \(text), topic \(text), tags \(text) NOT NULL,
                user_id \(text), created_at \(integer) NOT NULL, registered_at \(integer) NOT NULL, expires_at \(integer),
                parked_at \(integer), version \(integer) NOT NULL, form \(integer) NOT NULL, template_id \(integer),
                parent \(text), shares_handle \(integer) NOT NULL, own_tags \(text), push_variables \(text), details \(text),
                PRIMARY KEY (hub_id, slice_key), UNIQUE (hub_id, record_id))\(dialect.clustered);
            INSERT INTO devices_in_order (hub_id, slice_key, record_id, kind, platform, handle, environment, topic, tags, user_id,
                created_at, registered_at, expires_at, parked_at, version, form, shares_handle)
            SELECT hub_id, slice_key, record_id, kind, platform, handle, environment, topic, tags, user_id, created_at,
                registered_at, expires_at, parked_at, version, 0, CASE WHEN EXISTS (SELECT 1 FROM devices o
                    WHERE o.hub_id = d.hub_id AND o.platform = d.platform AND o.handle = d.handle AND o.slice_key <> d.slice_key)
                THEN 1 ELSE 0 END
            FROM devices d ORDER BY hub_id, slice_key;
            DROP TABLE devices;
            ALTER TABLE devices_in_order RENAME TO devices;
            CREATE INDEX devices_by_handle ON devices (handle, platform, form, hub_id, slice_key);
            CREATE INDEX devices_by_parent ON devices (parent, hub_id) WHERE parent IS NOT NULL;
            CREATE INDEX devices_by_template ON devices (template_id, hub_id) WHERE template_id IS NOT NULL;
            CREATE INDEX devices_by_expiry ON devices (expires_at) WHERE expires_at IS NOT NULL;
            """
    }

    private static func deviceTags(_ dialect: SQLDialect) -> String {
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE device_tags_in_order (
                hub_id \(integer) NOT NULL, tag \(text) NOT NULL, slice_key \(integer) NOT NULL,
                PRIMARY KEY (hub_id, tag, slice_key))\(dialect.clustered);
            INSERT INTO device_tags_in_order (hub_id, tag, slice_key)
            SELECT hub_id, tag, slice_key FROM device_tags ORDER BY hub_id, tag, slice_key;
            DROP TABLE device_tags;
            ALTER TABLE device_tags_in_order RENAME TO device_tags;
            """
    }

    /// Each content once: many devices have the same template. The id is a hash of the content.
    private static func templates(_ dialect: SQLDialect) -> String {
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE device_templates (
                hub_id \(integer) NOT NULL, template_id \(integer) NOT NULL, name \(text), body \(text) NOT NULL,
                headers \(text) NOT NULL, expiry \(text), priority \(text),
                PRIMARY KEY (hub_id, template_id));
            """
    }

    /// `format` is a platform or `template`. `direct_handles` are the targets of a send to handles, by position from 1.
    private static func sends(_ dialect: SQLDialect) -> String {
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            ALTER TABLE notifications ADD COLUMN format \(text) NOT NULL DEFAULT 'apns';
            ALTER TABLE notifications ADD COLUMN is_direct \(integer) NOT NULL DEFAULT 0;
            CREATE TABLE direct_handles (
                hub_id \(integer) NOT NULL, notification_id \(text) NOT NULL, position \(integer) NOT NULL,
                handle \(text) NOT NULL, PRIMARY KEY (hub_id, notification_id, position))\(dialect.clustered);
            CREATE TABLE tallies_by_platform (
                hub_id \(integer) NOT NULL, notification_id \(text) NOT NULL, slice \(integer) NOT NULL,
                platform \(text) NOT NULL, outcome \(text) NOT NULL, targets \(integer) NOT NULL,
                PRIMARY KEY (hub_id, notification_id, slice, platform, outcome));
            INSERT INTO tallies_by_platform (hub_id, notification_id, slice, platform, outcome, targets)
            SELECT hub_id, notification_id, slice, 'apns', outcome, targets FROM tallies;
            DROP TABLE tallies;
            ALTER TABLE tallies_by_platform RENAME TO tallies;
            """
    }

    private static func feedback(_ dialect: SQLDialect) -> String {
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            CREATE TABLE feedback (
                number \(dialect.serial), hub_id \(integer) NOT NULL, platform \(text) NOT NULL, handle \(text) NOT NULL,
                record_id \(text), installation_id \(text), notification_id \(text) NOT NULL, reason \(text) NOT NULL,
                noted_at \(integer) NOT NULL);
            CREATE INDEX feedback_by_hub ON feedback (hub_id, number);
            CREATE INDEX feedback_by_age ON feedback (noted_at);
            """
    }
}
