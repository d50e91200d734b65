import ServiceErrors
import SharedAccess

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
    public func put(_ rule: AccessRule, of name: HubName?) async throws {
        let id = try await identify(name)
        let present = try await store.rules(of: id)
        try check([rule])
        guard present.count < Self.maximumRuleCount || present.contains(where: { $0.name == rule.name }) else {
            throw ServiceError(.invalidField, "there are \(Self.maximumRuleCount) access rules already")
        }
        let now = clock.now
        let created = present.first { $0.name == rule.name }?.createdAt ?? now
        let stored = try await store.put(
            try secrets.seal(rule, of: name, createdAt: created, at: now), of: id, at: now)
        if !stored, let name { throw Self.absent(name) }
    }

    /// Removes a rule; whoever holds one of its keys is out within seconds. Throws `notFound`.
    public func removeRule(named rule: String, of name: HubName?) async throws {
        guard try await store.removeRule(named: rule, of: try await identify(name), at: clock.now) else {
            throw Self.absent(rule, name)
        }
    }

    /// Gives a rule a new key in one place; the other key goes on working. Returns the rule with its new key.
    public func rotate(_ place: KeyPlace, ofRule ruleName: String, of name: HubName?) async throws -> AccessRule {
        var rule = try await rule(named: ruleName, of: name)
        switch place {
        case .primary: rule.primary = .random()
        case .secondary: rule.secondary = .random()
        }
        try await put(rule, of: name)
        return rule
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

    /// The credential of a hub, or `nil`; also `nil` for a hub that uses that of the node.
    public func apnsCredential(of record: HubRecord) throws -> HubAPNsCredential? {
        try record.sealedAPNs.map { try secrets.openAPNs($0, of: record.name) }
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
