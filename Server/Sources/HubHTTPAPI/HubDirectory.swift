import PushHub
import SharedAccess

/// Which hubs there are, who may use them, and how they are changed. Errors are `ServiceError`.
public struct HubDirectory: Sendable {
    let catalog: HubCatalog
    let registry: HubRegistry
    private let make: @Sendable (CatalogHub) -> NotificationHub

    /// Creates a directory. `make` puts a hub together with the parts of this process.
    public init(catalog: HubCatalog, registry: HubRegistry, make: @escaping @Sendable (CatalogHub) -> NotificationHub) {
        self.catalog = catalog
        self.registry = registry
        self.make = make
    }

    /// The hub with this name, without regard to case, or `nil`.
    func hub(named name: String) async throws -> ServedHub? {
        guard let found = try await catalog.hub(named: name) else { return nil }
        return ServedHub(
            record: found.record, hub: make(found), rules: found.rules,
            trustsDeviceKeys: found.record.details.allowsProtectedTags)
    }
}

/// A hub that is served, with its keys.
final class ServedHub: Sendable {
    let record: HubRecord
    let hub: NotificationHub
    let rules: [AccessRule]
    /// Whether a key with nothing but the right Listen, which stands in apps, may set tags with a protected prefix.
    let trustsDeviceKeys: Bool

    init(record: HubRecord, hub: NotificationHub, rules: [AccessRule], trustsDeviceKeys: Bool) {
        self.record = record
        self.hub = hub
        self.rules = rules
        self.trustsDeviceKeys = trustsDeviceKeys
    }
}
