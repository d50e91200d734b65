import AuditTrail
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
    private let checkCredential: @Sendable (HubCredential) throws -> Void

    /// Creates a registry.
    /// - Parameters:
    ///   - kept: the hubs that something else on the node rests on; they cannot be removed.
    ///   - checkCredential: throws what is wrong with a credential, so that a mistake is its owner's answer and not a send that
    ///     does not leave.
    public init(
        store: any HubStore, box: SecretBox, clock: any ServiceClock, kept: Set<HubName> = [],
        checkCredential: @escaping @Sendable (HubCredential) throws -> Void = { _ in }
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
    public func create(
        _ name: HubName, _ content: HubChange = HubChange(), audit entry: AuditEntry? = nil
    ) async throws -> HubRecord {
        var content = content
        content.rules = content.rules ?? AccessRule.defaults()
        try check(content)
        let now = clock.now
        let stored = try sealed(content, of: name, at: now)
        guard let record = try await store.create(name, with: stored, at: now, audit: entry) else {
            throw ServiceError(.conflict, "there is a hub \(name) already")
        }
        return record
    }

    /// The hub of that name, or `nil`.
    public func hub(named name: HubName) async throws -> HubRecord? { try await store.record(named: name) }

    /// At most `limit` hubs by name, from the one after `name` on; one more than a page shows whether there is another page.
    public func hubs(after name: HubName? = nil, limit: Int = maximumPage) async throws -> [HubRecord] {
        try await store.records(after: name, limit: min(max(1, limit), Self.maximumPage + 1))
    }

    /// Changes a hub. With a version it throws `conflict`, and changes nothing, when the hub has another one.
    public func update(
        _ name: HubName, with change: HubChange, ifVersion version: Int64? = nil, audit entry: AuditEntry? = nil
    ) async throws -> HubRecord {
        let hub = try await existing(name)
        try check(change)
        let now = clock.now
        let created = Dictionary(try await store.rules(of: hub.id).map { ($0.name, $0.createdAt) }) { first, _ in first }
        let stored = try sealed(change, of: name, created: created, at: now)
        let record = try await store.update(hub.id, with: stored, ifVersion: version, at: now, audit: entry)
        guard let record else { throw Self.absent(name) }
        return record
    }

    private func check(_ change: HubChange) throws {
        if let details = change.details { try check(details) }
        if let rules = change.rules { try check(rules) }
        for case .set(let credential) in change.credentials { try checkCredential(credential) }
    }

    /// - Parameter created: when the rules of these names were created that the hub has already.
    private func sealed(
        _ change: HubChange, of name: HubName, created: [String: Timestamp] = [:], at now: Timestamp
    ) throws -> StoredHubChange {
        var credentials: [Platform: String?] = [:]
        for change in change.credentials {
            let sealed: String? = if case .set(let credential) = change { try secrets.seal(credential, of: name) } else { nil }
            credentials.updateValue(sealed, forKey: change.platform)
        }
        return StoredHubChange(
            details: change.details, credentials: credentials,
            rules: try change.rules?.map { try secrets.seal($0, of: name, createdAt: created[$0.name] ?? now, at: now) })
    }

    /// Whether something else on the node rests on the hub.
    public func isKept(_ name: HubName) -> Bool { kept.contains(name) }

    /// Removes a hub: its name and keys at once, what it holds in steps of `clear`.
    public func remove(_ name: HubName, audit entry: AuditEntry? = nil) async throws {
        guard !isKept(name) else {
            throw ServiceError(
                .conflict, "hub \(name) is the one that this node's app backend sends through; it cannot be removed")
        }
        guard try await store.removeHub(named: name, at: clock.now, audit: entry) != nil else { throw Self.absent(name) }
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

extension HubRegistry {
    /// Which of the two keys of a rule.
    public enum KeyPlace: String, Sendable, CaseIterable {
        case primary
        case secondary
    }

    /// The rules of a hub, or those of all hubs, with their keys.
    public func rules(of name: HubName?) async throws -> [AccessRule] {
        let id = try await identify(name)
        return try await store.rules(of: id).map { try secrets.open($0, of: name) }
    }

    /// The rule of that name with its keys. Throws `notFound`.
    public func rule(named rule: String, of name: HubName?) async throws -> AccessRule {
        guard let found = try await rules(of: name).first(where: { $0.name == rule }) else { throw Self.absent(rule, name) }
        return found
    }

    /// Adds a rule, or replaces the one of that name.
    public func put(_ rule: AccessRule, of name: HubName?, audit entry: AuditEntry? = nil) async throws {
        let id = try await identify(name)
        let present = try await store.rules(of: id)
        try check([rule])
        guard present.count < Self.maximumRuleCount || present.contains(where: { $0.name == rule.name }) else {
            throw ServiceError(.invalidField, "there are \(Self.maximumRuleCount) access rules already")
        }
        let now = clock.now
        let created = present.first { $0.name == rule.name }?.createdAt ?? now
        let stored = try await store.put(
            try secrets.seal(rule, of: name, createdAt: created, at: now), of: id, at: now, audit: entry)
        if !stored, let name { throw Self.absent(name) }
    }

    /// Removes a rule; its keys stop working within seconds. Throws `notFound`.
    public func removeRule(named rule: String, of name: HubName?) async throws {
        guard try await store.removeRule(named: rule, of: try await identify(name), at: clock.now) else {
            throw Self.absent(rule, name)
        }
    }

    /// Gives a rule a new key in one place; the other key goes on working. Returns the rule with its new key. Throws `notFound`.
    public func rotate(
        _ place: KeyPlace, ofRule ruleName: String, of name: HubName?, audit entry: AuditEntry? = nil
    ) async throws -> AccessRule {
        let id = try await identify(name)
        let sealed = try secrets.seal(.random(), in: place, ofRule: ruleName, of: name)
        let rule = try await store.setKey(sealed, in: place, ofRule: ruleName, of: id, at: clock.now, audit: entry)
        guard let rule else { throw Self.absent(ruleName, name) }
        return try secrets.open(rule, of: name)
    }

    /// Makes sure of what a node needs: a hub of this name with rules, and a rule for all hubs.
    public func ensure(_ name: HubName) async throws -> HubID {
        let id = try await store.ensureHub(named: name.folded, at: clock.now)
        let (own, all) = (try await store.rules(of: id), try await store.rules(of: nil))
        guard own.isEmpty || all.isEmpty else { return id }
        let now = clock.now
        let root = AccessRule(name: Self.rootRuleName, rights: Set(AccessRight.allCases))
        try await store.beginRules(
            try AccessRule.defaults().map { try secrets.seal($0, of: name, createdAt: now, at: now) }, of: id,
            forAll: try secrets.seal(root, of: nil, createdAt: now, at: now))
        return id
    }

    /// The credential of a hub for the push service of a platform; `nil` for a hub that uses that of the node.
    public func credential(of record: HubRecord, for platform: Platform) throws -> HubCredential? {
        try record.sealedCredentials[platform].map { try secrets.open($0, for: platform, of: record.name) }
    }

    private func identify(_ name: HubName?) async throws -> HubID? {
        guard let name else { return nil }
        return try await existing(name).id
    }

    private static func absent(_ rule: String, _ name: HubName?) -> ServiceError {
        let place = name.map { "hub \($0) has" } ?? "there is"
        return ServiceError(.notFound, "\(place) no access rule \(AccessRule.isName(rule) ? rule : "of that name")")
    }
}

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
