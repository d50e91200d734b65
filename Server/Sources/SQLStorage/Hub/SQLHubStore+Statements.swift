extension SQLHubStore {
    static let all =
        [
            select, insert, describe, setCredential, selectNamed, selectNumbered, selectPage, count, rewrite, selectRules,
            upsertRule,
            deleteRule, deleteRules, wakeSlices, wakeTargets, remove, selectRemoved, setCleared,
        ] + clearing

    static let select = SQLStatement("SELECT hub_id FROM hubs WHERE name = $1")

    static let insert = SQLStatement(
        """
        INSERT INTO hubs (hub_id, name, title, created_at)
        SELECT COALESCE(MAX(hub_id), 0) + 1, CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS BIGINT) FROM hubs
        RETURNING hub_id
        """)

    static let describe = SQLStatement(
        "UPDATE hubs SET user_metadata = $2, registration_lifetime = $3, allows_protected_tags = $4 WHERE hub_id = $1")

    static let setCredential = SQLStatement("UPDATE hubs SET apns_credential = $2 WHERE hub_id = $1")

    private static let columns = """
        SELECT hub_id, name, title, user_metadata, registration_lifetime, allows_protected_tags, apns_credential, created_at, updated_at,
            version FROM hubs WHERE removed_at IS NULL
        """

    static let selectNamed = SQLStatement(composed: columns + " AND name = $1")
    static let selectNumbered = SQLStatement(composed: columns + " AND hub_id = $1")
    static let selectPage = SQLStatement(composed: columns + " AND name > $1 ORDER BY name LIMIT $2")

    static let count = SQLStatement(
        "UPDATE hubs SET version = version + 1, updated_at = $2 WHERE hub_id = $1 AND removed_at IS NULL")

    static let rewrite = SQLStatement("UPDATE hubs SET name = name WHERE hub_id = $1")

    static let selectRules = SQLStatement(
        """
        SELECT name, rights, primary_key, secondary_key, created_at, updated_at FROM hub_rules WHERE hub_id = $1 ORDER BY name
        """)

    static let upsertRule = SQLStatement(
        """
        INSERT INTO hub_rules (hub_id, name, rights, primary_key, secondary_key, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (hub_id, name) DO UPDATE SET rights = excluded.rights, primary_key = excluded.primary_key,
            secondary_key = excluded.secondary_key, updated_at = excluded.updated_at
        """)

    static let deleteRule = SQLStatement("DELETE FROM hub_rules WHERE hub_id = $1 AND name = $2")
    static let deleteRules = SQLStatement("DELETE FROM hub_rules WHERE hub_id = $1")

    /// What waits for its time or its pace has had no failure and keeps waiting.
    static let wakeSlices = SQLStatement(
        """
        UPDATE slices SET ready_at = $2 WHERE hub_id = $1 AND owner IS NULL AND ready_at > $2 AND (failures > 0 OR EXISTS (
            SELECT 1 FROM pending_targets p WHERE p.hub_id = slices.hub_id AND p.notification_id = slices.notification_id
                AND p.slice = slices.slice AND p.cause = 'unsent'))
        """)
    static let wakeTargets = SQLStatement(
        "UPDATE pending_targets SET not_before = $2 WHERE hub_id = $1 AND cause = 'unsent' AND not_before > $2")

    /// A name with a colon is no hub's, so the old one is free at once.
    static let remove = SQLStatement(
        """
        UPDATE hubs SET name = 'removed:' || CAST(hub_id AS TEXT), title = NULL, user_metadata = NULL, apns_credential = NULL,
            removed_at = $2, version = version + 1 WHERE name = $1 AND removed_at IS NULL
        RETURNING hub_id
        """)

    static let selectRemoved = SQLStatement(
        "SELECT hub_id, removed_at FROM hubs WHERE removed_at IS NOT NULL AND is_cleared = 0 ORDER BY hub_id")

    static let setCleared = SQLStatement("UPDATE hubs SET is_cleared = 1 WHERE hub_id = $1 AND removed_at IS NOT NULL")
}
