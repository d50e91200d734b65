import RichPushModel
import ServiceErrors
import SharedAccess

/// Creates, changes and removes hubs with their rules and credentials. Everything secret is sealed before it reaches the store.
///
/// Errors are `ServiceError`: `conflict` for a name that is taken, `notFound`, `invalidField`, and those of the store.
public struct HubRegistry: Sendable {
    /// The most rules of one hub, and of all hubs together.
    public static let maximumRuleCount = 12
    /// The name of the rule for all hubs that a node begins with.
    public static let rootRuleName = "RootManageSharedAccessKey"
    /// The most hubs of one page.
    public static let maximumPage = 100

    let store: any HubStore
    let secrets: HubSecrets
    let clock: any ServiceClock
    private let kept: Set<HubName>
    private let checkCredential: @Sendable (HubAPNsCredential) throws -> Void

    /// Creates a registry.
    /// - Parameters:
    ///   - kept: the hubs that something else on the node rests on; they cannot be removed.
    ///   - checkCredential: throws what is wrong with a credential, so that a mistake is its owner's answer and not a send that
    ///     does not leave.
    public init(
        store: any HubStore, box: SecretBox, clock: any ServiceClock, kept: Set<HubName> = [],
        checkCredential: @escaping @Sendable (HubAPNsCredential) throws -> Void = { _ in }
    ) {
        self.store = store
        secrets = HubSecrets(box)
        self.clock = clock
        self.kept = kept
        self.checkCredential = checkCredential
    }

    /// The name, or `invalidField`.
    public static func name(_ text: some StringProtocol) throws(ServiceError) -> HubName {
        if let name = HubName(text) { return name }
        throw ServiceError(
            .invalidField,
            "the name of a hub has 1 to 260 letters, digits, '.', '-' and '_', begins and ends with a letter or digit, and is none of "
                + HubName.reserved.joined(separator: ", "))
    }

    /// Creates a hub. Without rules it gets the two default ones with new keys.
    public func create(_ name: HubName, _ definition: HubDefinition = HubDefinition()) async throws -> HubRecord {
        try check(definition.details)
        let rules = definition.rules ?? AccessRule.defaults()
        try check(rules)
        if let credential = definition.apns { try checkCredential(credential) }
        let now = clock.now
        let hub = NewHub(
            name: name, details: definition.details, sealedAPNs: try definition.apns.map { try secrets.seal($0, of: name) },
            rules: try rules.map { try secrets.seal($0, of: name, createdAt: now, at: now) })
        guard let record = try await store.create(hub, at: now) else {
            throw ServiceError(.conflict, "there is a hub \(name) already")
        }
        return record
    }

    /// The hub of that name, or `nil`.
    public func hub(named name: HubName) async throws -> HubRecord? { try await store.record(named: name) }

    /// At most `limit` hubs by name, from the one after `name` on.
    public func hubs(after name: HubName? = nil, limit: Int = maximumPage) async throws -> [HubRecord] {
        try await store.records(after: name, limit: min(max(1, limit), Self.maximumPage))
    }

    /// Changes a hub.
    public func update(_ name: HubName, with change: HubChange) async throws -> HubRecord {
        let hub = try await existing(name)
        if let details = change.details { try check(details) }
        if let rules = change.rules { try check(rules) }
        if case .set(let credential) = change.apns { try checkCredential(credential) }
        let now = clock.now
        let created = Dictionary(try await store.rules(of: hub.id).map { ($0.name, $0.createdAt) }) { first, _ in first }
        let credential: StoredHubChange.Credential =
            switch change.apns {
            case .keep: .keep
            case .remove: .remove
            case .set(let credential): .set(try secrets.seal(credential, of: name))
            }
        let stored = StoredHubChange(
            details: change.details, credential: credential,
            rules: try change.rules?.map { try secrets.seal($0, of: name, createdAt: created[$0.name] ?? now, at: now) })
        guard let record = try await store.update(hub.id, with: stored, at: now) else { throw Self.absent(name) }
        return record
    }

    /// Removes a hub: its name and keys at once, what it holds in steps of `clear`.
    public func remove(_ name: HubName) async throws {
        guard !kept.contains(name) else {
            throw ServiceError(
                .conflict, "hub \(name) is the one that this node's app backend sends through; it cannot be removed")
        }
        guard try await store.removeHub(named: name, at: clock.now) != nil else { throw Self.absent(name) }
    }

    func existing(_ name: HubName) async throws -> HubRecord {
        guard let hub = try await store.record(named: name) else { throw Self.absent(name) }
        return hub
    }

    static func absent(_ name: HubName) -> ServiceError { ServiceError(.notFound, "there is no hub \(name)") }

    private func check(_ details: HubDetails) throws(ServiceError) {
        if let text = details.userMetadata, text.count > HubDetails.maximumMetadataLength {
            throw ServiceError(.invalidField, "user metadata has more than \(HubDetails.maximumMetadataLength) characters")
        }
        if let lifetime = details.registrationLifetime, lifetime < .seconds(60) {
            throw ServiceError(.invalidField, "registrations must live for a minute at least")
        }
    }

    func check(_ rules: [AccessRule]) throws(ServiceError) {
        guard rules.count <= Self.maximumRuleCount else {
            throw ServiceError(.invalidField, "a hub has at most \(Self.maximumRuleCount) access rules")
        }
        guard Set(rules.map(\.name)).count == rules.count else {
            throw ServiceError(.invalidField, "two access rules have the same name")
        }
        guard rules.allSatisfy({ AccessRule.isName($0.name) && !$0.rights.isEmpty }) else {
            throw ServiceError(
                .invalidField, "an access rule has a name of 1 to 256 letters, digits, '.', '-' and '_', and at least one right")
        }
    }
}
