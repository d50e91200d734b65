extension Migration {
    /// The queue of due slices, hub by hub, so that hubs take turns.
    static let hubTurns = Migration(number: 13, name: "turns of hubs") { _ in
        """
        CREATE INDEX slices_by_hub_turn ON slices (weight, hub_id, ready_at);
        DROP INDEX slices_by_turn;
        """
    }
}
