import PushHub
import SharedAccess

/// Which hubs there are, and who may use them. Errors are `ServiceError`.
public protocol HubDirectory: Sendable {
    /// The hub with this name, without regard to case, or `nil`.
    func hub(named name: String) async throws -> ServedHub?

    /// The rules that hold for every hub and for the hubs as such (Azure reference 1.5).
    func namespaceRules() async throws -> [AccessRule]
}

/// A hub that is served, with its keys.
public struct ServedHub: Sendable {
    /// The name as the hub was created.
    public var name: String
    public var hub: NotificationHub
    public var rules: [AccessRule]
    /// Whether a key with nothing but the right Listen, which stands in apps, may set tags with a protected prefix.
    public var trustsDeviceKeys: Bool

    /// Creates a served hub.
    public init(name: String, hub: NotificationHub, rules: [AccessRule], trustsDeviceKeys: Bool = false) {
        self.name = name
        self.hub = hub
        self.rules = rules
        self.trustsDeviceKeys = trustsDeviceKeys
    }
}
