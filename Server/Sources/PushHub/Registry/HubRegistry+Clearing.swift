import RichPushModel

extension HubRegistry {
    /// How long requests that knew a hub before its removal may still write into it: longer than any cache and any deadline of theirs.
    public static let clearingGrace = Duration.seconds(120)
    /// How many rows of each kind one transaction takes.
    public static let clearingStep = 500

    /// Deletes a piece of what removed hubs hold. Returns whether there may be more to do now; a hub is forgotten when a look after the
    /// grace finds nothing.
    public func clearStep() async throws -> Bool {
        for hub in try await store.removedHubs() {
            let count = try await store.clear(hub.id, limit: Self.clearingStep)
            if count > 0 { return true }
            if hub.removedAt + Self.clearingGrace < clock.now { try await store.forget(hub.id) }
        }
        return false
    }
}
