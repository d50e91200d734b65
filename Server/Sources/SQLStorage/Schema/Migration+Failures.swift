extension Migration {
    /// Why targets got no push, what a send waits for, and how many devices it is for.
    static let failures = Migration(number: 21, name: "reasons of failed pushes") { dialect in
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            ALTER TABLE notifications ADD COLUMN targets \(integer);
            ALTER TABLE slices ADD COLUMN wait \(text);
            ALTER TABLE pending_targets ADD COLUMN unanswered \(integer) NOT NULL DEFAULT 0;
            ALTER TABLE pending_targets ADD COLUMN reason \(text);
            UPDATE pending_targets SET unanswered = 1 WHERE cause = 'unknown';
            CREATE TABLE outcome_reasons (
                hub_id \(integer) NOT NULL, notification_id \(text) NOT NULL, slice \(integer) NOT NULL, platform \(text) NOT NULL,
                outcome \(text) NOT NULL, reason \(text) NOT NULL, targets \(integer) NOT NULL,
                PRIMARY KEY (hub_id, notification_id, slice, platform, outcome, reason));
            CREATE TABLE target_failures (
                hub_id \(integer) NOT NULL, notification_id \(text) NOT NULL, slice \(integer) NOT NULL,
                slice_key \(integer) NOT NULL, platform \(text) NOT NULL, record_id \(text), outcome \(text) NOT NULL, reason \(text),
                PRIMARY KEY (hub_id, notification_id, slice, slice_key));
            """
    }
}
