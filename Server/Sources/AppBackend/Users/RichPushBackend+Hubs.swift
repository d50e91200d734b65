import AuditTrail
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess

/// What is asked of a new hub. What is absent has the defaults of the command line.
public struct HubCreation: Sendable, Codable {
    public var name: String
    /// Free text, kept with the hub.
    public var metadata: String?
    /// How long a registration lives without renewal, at least 60; absent for no limit.
    public var registrationSeconds: Int64?
    /// Whether the key for apps may claim tags that only a backend should set.
    public var allowsProtectedTags: Bool?

    /// Creates a request.
    public init(
        name: String, metadata: String? = nil, registrationSeconds: Int64? = nil, allowsProtectedTags: Bool? = nil
    ) {
        self.name = name
        self.metadata = metadata
        self.registrationSeconds = registrationSeconds
        self.allowsProtectedTags = allowsProtectedTags
    }
}

/// A hub as its managers see it. Its credential for APNs is never shown.
public struct ManagedHub: Sendable, Codable {
    public var name: String
    /// Counts the changes of the hub, its rules and its credential, from 1.
    public var version: Int64
    public var createdAt: Timestamp
    public var updatedAt: Timestamp
    public var metadata: String?
    public var registrationSeconds: Int64?
    public var allowsProtectedTags: Bool
    /// Whether it has a credential for APNs of its own.
    public var hasOwnAPNsCredential: Bool
    /// Its own credential, without the secret; absent in lists.
    public var apns: ManagedHubCredential?
    /// Absent in lists. Keys are in the answer to the creation alone.
    public var rules: [ManagedHubRule]?

    init(_ record: HubRecord, apns: HubAPNsCredential? = nil, rules: [ManagedHubRule]? = nil) {
        name = record.name.text
        version = record.version
        (createdAt, updatedAt) = (record.createdAt, record.updatedAt)
        metadata = record.details.userMetadata
        registrationSeconds = record.details.registrationLifetime.map { $0.components.seconds }
        allowsProtectedTags = record.details.allowsProtectedTags
        hasOwnAPNsCredential = record.sealedCredentials[.apns] != nil
        self.apns = apns.map { ManagedHubCredential($0) }
        self.rules = rules
    }
}

/// An access rule of a hub, with those of its keys that were just made.
public struct ManagedHubRule: Sendable, Codable {
    public var name: String
    public var rights: [String]
    public var primaryKey: String?
    public var secondaryKey: String?

    init(_ rule: AccessRule, showing places: Set<HubRegistry.KeyPlace> = []) {
        name = rule.name
        rights = AccessRight.allCases.filter(rule.rights.contains).map(\.rawValue)
        primaryKey = places.contains(.primary) ? rule.primary.text : nil
        secondaryKey = places.contains(.secondary) ? rule.secondary.text : nil
    }
}

/// A page of hubs.
public struct ManagedHubList: Sendable, Codable {
    public var hubs: [ManagedHub]
    /// The name after which the next page begins; absent on the last page.
    public var next: String?
}

extension ManagedHubs {
    /// Throws `forbidden` for the hub of the app backend unless the caller may manage keys.
    func requirePower(over name: HubName, _ principal: Principal?, _ act: String) throws(ServiceError) {
        guard let principal, registry.isKept(name), AccessTable.extent(of: .manageKeys, for: principal) != .all else { return }
        throw ServiceError(
            .forbidden, "hub \(name) is the one that this node's app backend sends through; only an administrator \(act)")
    }
}

/// Management of the hubs of this node. The HTTP layer calls these, for a caller who may. The rules for all hubs are no part of it: who
/// has a key of one of those needs no other.
extension RichPushBackend {
    /// Hubs in the order of their names after `name`, at most `limit` (1 … 100). Throws `invalid-field` for what is no name of a hub.
    public func hubs(after name: String? = nil, limit: Int = HubRegistry.maximumPage) async throws -> ManagedHubList {
        let limit = min(max(limit, 1), HubRegistry.maximumPage)
        let last = try name.map { text throws(ServiceError) in
            guard let name = HubName(text) else {
                throw ServiceError(.invalidField, "after: the name of a hub, as `next` gave it")
            }
            return name
        }
        let found = try await managedHubs().registry.hubs(after: last, limit: limit + 1)
        let page = found.prefix(limit)
        return ManagedHubList(hubs: page.map { ManagedHub($0) }, next: found.count > limit ? page.last?.name.text : nil)
    }

    /// One hub with its rules, without keys. Throws `not-found`.
    public func hub(_ name: String) async throws -> ManagedHub {
        let (hubs, name) = (try managedHubs(), try Self.knownHub(name))
        guard let record = try await hubs.registry.hub(named: name) else { throw Self.noHub }
        // One that this node cannot open, without the master key of its time, is shown as one that exists.
        let apns = try? await hubs.catalog.credential(of: record.id, for: .apns)?.value.apns
        return ManagedHub(record, apns: apns, rules: try await hubs.registry.rules(of: name).map { ManagedHubRule($0) })
    }

    /// Creates a hub with the two default rules; the answer holds their keys. Throws `invalid-field`, and `conflict` for a taken name.
    public func createHub(_ request: HubCreation, by principal: Principal? = nil) async throws -> ManagedHub {
        let hubs = try managedHubs()
        let name: HubName
        do { name = try HubRegistry.name(request.name) } catch {
            throw ServiceError(.invalidField, "name: \(error.detail ?? "it is not one of a hub")")
        }
        if let seconds = request.registrationSeconds, !(60...3_153_600_000).contains(seconds) {
            throw ServiceError(.invalidField, "registrationSeconds: from 60 to 3153600000, which is a hundred years")
        }
        let details = HubDetails(
            userMetadata: request.metadata, registrationLifetime: request.registrationSeconds.map { .seconds($0) },
            allowsProtectedTags: request.allowsProtectedTags ?? false)
        let rules = AccessRule.defaults()
        let record = try await hubs.registry.create(
            name, HubChange(details: details, rules: rules), audit: entry(.hubCreated, by: principal, object: name.text))
        hubs.catalog.forget()
        return ManagedHub(record, rules: rules.map { ManagedHubRule($0, showing: [.primary, .secondary]) })
    }

    /// Makes a new key of a rule in one of its places; the answer holds it, and the rule's other key goes on working. Clients with the old
    /// one are refused within five seconds. Throws `not-found`, and `forbidden` for the hub of the app backend unless the caller may
    /// manage keys: with its key one sends to every user.
    public func rollHubKey(
        _ place: HubRegistry.KeyPlace, ofRule rule: String, of name: String, by principal: Principal? = nil
    ) async throws -> ManagedHubRule {
        let (hubs, name) = (try managedHubs(), try Self.knownHub(name))
        try hubs.requirePower(over: name, principal, "rolls its keys")
        let entry = entry(.hubKeyRolled, by: principal, object: name.text, details: "rule=\(rule) key=\(place.rawValue)")
        let rolled = try await hubs.registry.rotate(place, ofRule: rule, of: name, audit: entry)
        hubs.catalog.forget()
        return ManagedHubRule(rolled, showing: [place])
    }

    /// Removes a hub with its keys, devices, sends and telemetry. Throws `not-found`, and `conflict` for the hub of the app backend.
    public func removeHub(_ name: String, by principal: Principal? = nil) async throws {
        let (hubs, name) = (try managedHubs(), try Self.knownHub(name))
        try await hubs.registry.remove(name, audit: entry(.hubRemoved, by: principal, object: name.text))
        hubs.catalog.forget()
    }

    func managedHubs() throws(ServiceError) -> ManagedHubs {
        guard let hubs = parts.hubs else { throw ServiceError(.notFound, "hubs are not managed here") }
        return hubs
    }

    /// A name that cannot exist is as unknown as one that does not.
    static func knownHub(_ name: String) throws(ServiceError) -> HubName {
        guard let name = HubName(name) else { throw noHub }
        return name
    }

    static let noHub = ServiceError(.notFound, "there is no hub of this name")
}
