import ServiceErrors

/// One node: HTTP interface, hub, storage and the way to Apple, as `clarion serve` runs them.
public enum NodeService {
    /// Runs until the process is told to stop, and ends within `settings.shutdownDeadline` after that.
    public static func run(_ settings: Settings) async throws {
        throw ServiceError(.notReady, "not composed yet")
    }
}
