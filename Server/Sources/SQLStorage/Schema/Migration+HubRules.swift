extension Migration {
    /// Hubs with keys: what their owners say of them, their sealed credentials, and the access rules. `name` is in lower case and
    /// `title` as it was spelled; a removed hub keeps its row, so that its id is never given again, under a name that no hub can have.
    /// The rules of hub 0 hold for all hubs.
    static let hubRules = Migration(number: 5, name: "hub rules") { dialect in
        let (integer, text) = (dialect.integer, dialect.text)
        return """
            ALTER TABLE hubs ADD COLUMN title \(text);
            ALTER TABLE hubs ADD COLUMN user_metadata \(text);
            ALTER TABLE hubs ADD COLUMN registration_lifetime \(integer);
            ALTER TABLE hubs ADD COLUMN allows_protected_tags \(integer) NOT NULL DEFAULT 0;
            ALTER TABLE hubs ADD COLUMN apns_credential \(text);
            ALTER TABLE hubs ADD COLUMN updated_at \(integer);
            ALTER TABLE hubs ADD COLUMN version \(integer) NOT NULL DEFAULT 1;
            ALTER TABLE hubs ADD COLUMN removed_at \(integer);
            ALTER TABLE hubs ADD COLUMN is_cleared \(integer) NOT NULL DEFAULT 0;
            CREATE TABLE hub_rules (
                hub_id \(integer) NOT NULL, name \(text) NOT NULL, rights \(text) NOT NULL, primary_key \(text) NOT NULL,
                secondary_key \(text) NOT NULL, created_at \(integer) NOT NULL, updated_at \(integer) NOT NULL,
                PRIMARY KEY (hub_id, name));
            """
    }
}
