import RichPushModel

/// Keeps which hubs there are. Errors are `ServiceError`.
public protocol HubStore: Sendable {
    /// The id of the hub with this name, or `nil`.
    func hub(named name: String) async throws -> HubID?

    /// The id of the hub with this name, which is created if it is absent.
    func ensureHub(named name: String, at now: Timestamp) async throws -> HubID
}
