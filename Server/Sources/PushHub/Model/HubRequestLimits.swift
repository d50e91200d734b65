/// How much one request to a hub may ask for. The defaults are those of Azure's service
/// (Reference/AzureNotificationHubs.md#6-1).
public struct HubRequestLimits: Hashable, Sendable {
    /// Bytes of the body of a send; for a push service with a smaller bound that is an outcome, not an error.
    public var bodyBytes = 65_536
    /// Handles of a direct send.
    public var handles = 1_000
    /// Tags that a client may give a record, those of an installation's template included.
    public var tags = 60
    /// Devices that a test send goes to.
    public var testTargets = 10

    /// The defaults.
    public init() {}
}
