extension Migration {
    /// What each slice may send of the pace of its send, and indexes by which a node finds what it can lease without looking at hubs
    /// whose work is not due or in hand.
    static let slices = Migration(number: 14, name: "pace and search of slices") { dialect in
        """
        ALTER TABLE slices ADD COLUMN pushes_per_second \(dialect.integer);
        UPDATE slices SET pushes_per_second = (
            SELECT CASE WHEN n.pushes_per_second > n.open_slices AND n.open_slices > 0
                THEN n.pushes_per_second / n.open_slices WHEN n.pushes_per_second IS NULL THEN NULL ELSE 1 END
            FROM notifications n WHERE n.hub_id = slices.hub_id AND n.notification_id = slices.notification_id);
        CREATE INDEX slices_free ON slices (weight, ready_at) WHERE owner IS NULL;
        CREATE INDEX slices_in_hand ON slices (owner) WHERE owner IS NOT NULL;
        """
    }
}
