import RichPushModel
import ServiceErrors
import SharedAccess

/// What an administrator asks of a new service key.
public struct ServiceKeyRequest: Sendable, Codable {
    /// 1 to 40 letters, digits and `_ . -`.
    public var name: String
    /// Of the closed list of `ServiceKeyScope`.
    public var scopes: [String]
    /// The moment from which on it does not hold; a year from now if absent.
    public var expiresAt: Timestamp?
    /// The addresses and networks that may use it; absent or empty for all.
    public var networks: [String]?
    /// How many requests a minute it may make on each node.
    public var requestsPerMinute: Int?

    /// Creates a request.
    public init(
        name: String, scopes: [String], expiresAt: Timestamp? = nil, networks: [String]? = nil, requestsPerMinute: Int? = nil
    ) {
        self.name = name
        self.scopes = scopes
        self.expiresAt = expiresAt
        self.networks = networks
        self.requestsPerMinute = requestsPerMinute
    }
}

/// A service key as lists show it.
public struct ServiceKeyAnswer: Sendable, Codable {
    public var id: Int64
    public var name: String
    /// The secret: in the one answer to the request that made it.
    public var key: String?
    /// Prefix and last four digits.
    public var hint: String
    public var scopes: [String]
    public var networks: [String]?
    public var requestsPerMinute: Int?
    /// The account to which belongs what the key sends.
    public var account: String
    public var createdBy: String
    public var createdAt: Timestamp
    public var expiresAt: Timestamp
    public var revokedAt: Timestamp?
    /// Exact to a minute.
    public var lastUsedAt: Timestamp?
    public var lastUsedFrom: String?

    init(_ key: ServiceKey, secret: PrefixedSecret? = nil) {
        id = key.id
        name = key.name
        self.key = secret?.text
        hint = key.hint
        scopes = key.scopes.map(\.text)
        networks = key.networks.isEmpty ? nil : key.networks.map(\.description)
        requestsPerMinute = key.requestsPerMinute
        account = ServiceAccount.name(ofKey: key.name)
        createdBy = key.createdBy
        createdAt = key.createdAt
        expiresAt = key.expiresAt
        revokedAt = key.revokedAt
        lastUsedAt = key.lastUsedAt
        lastUsedFrom = key.lastUsedFrom
    }
}

/// A page of service keys.
public struct ServiceKeyList: Sendable, Codable {
    public var keys: [ServiceKeyAnswer]
    /// The id after which the next page begins; absent on the last page.
    public var next: Int64?
}

/// Management of service keys. The command line and the HTTP layer call these; the latter only for a caller who may manage keys.
extension RichPushBackend {
    /// Creates a key; the answer holds its secret. Throws `invalid-field`, and `conflict` when a key of this name holds.
    public func createKey(_ request: ServiceKeyRequest, by principal: Principal? = nil) async throws -> ServiceKeyAnswer {
        let secret = PrefixedSecret(.serviceKey)
        let draft = try ServiceKeyCheck(now: parts.clock.now).draft(of: request, secret: secret, by: Self.label(of: principal))
        let entry = entry(
            .keyCreated, by: principal, subject: draft.name, details: "scopes=\(draft.scopes.map(\.text).joined(separator: ","))")
        let key = try await parts.store.createKey(draft, at: parts.clock.now, audit: entry)
        return ServiceKeyAnswer(key, secret: secret)
    }

    /// Makes a new secret for a key, with its name, scopes and limits. The old one holds until `overlap` has passed, at most 7 days.
    /// Throws `not-found`, `invalid-field`, and `conflict` for a key that has ended, or of which two secrets hold.
    public func rollKey(_ id: Int64, overlap: Duration, by principal: Principal? = nil) async throws -> ServiceKeyAnswer {
        guard (.zero ... .seconds(7 * 86_400)).contains(overlap) else {
            throw ServiceError(.invalidField, "overlapSeconds: the old key may hold for 0 to 604800 seconds")
        }
        guard let old = try await parts.store.keys(after: id - 1, limit: 1).first, old.id == id else { throw Self.noKey }
        let now = parts.clock.now
        let secret = PrefixedSecret(.serviceKey)
        let draft = ServiceKeyDraft(
            name: old.name, account: try ServiceKeyCheck(now: now).account(ofKey: old.name), digest: secret.digest,
            hint: secret.hint, scopes: old.scopes, networks: old.networks, requestsPerMinute: old.requestsPerMinute,
            createdBy: Self.label(of: principal), expiresAt: now + (old.expiresAt - old.createdAt))
        let entry = entry(.keyRolled, by: principal, subject: old.name, details: "replaces=\(id)")
        let key = try await parts.store.replaceKey(id, with: draft, end: now + overlap, at: now, audit: entry)
        serviceKeys.forget()
        return ServiceKeyAnswer(key, secret: secret)
    }

    /// Ends a key: within five seconds no node takes it any more. Throws `not-found` when there is none that could be revoked.
    public func revokeKey(_ id: Int64, by principal: Principal? = nil) async throws {
        guard let key = try await parts.store.keys(after: id - 1, limit: 1).first, key.id == id else { throw Self.noKey }
        let entry = entry(.keyRevoked, by: principal, subject: key.name, object: "\(id)")
        guard try await parts.store.revokeKey(id, at: parts.clock.now, audit: entry) else { throw Self.noKey }
        serviceKeys.forget()
    }

    /// Keys in the order of their ids after `id`, at most `limit` (1 … 200), those that ended too.
    public func keys(after id: Int64 = 0, limit: Int = 200) async throws -> ServiceKeyList {
        let limit = min(max(limit, 1), 200)
        let found = try await parts.store.keys(after: id, limit: limit + 1)
        let page = found.prefix(limit)
        return ServiceKeyList(keys: page.map { ServiceKeyAnswer($0) }, next: found.count > limit ? page.last?.id : nil)
    }

    /// Who made a key, in words for lists.
    static func label(of principal: Principal?) -> String {
        guard let actor = principal?.actor else { return "a command" }
        return "\(actor.kind) \(actor.name)"
    }

    private static let noKey = ServiceError(.notFound, "there is no such key, or it was revoked")
}

/// Checks what a new key is asked to be.
package struct ServiceKeyCheck {
    var now: Timestamp

    /// Creates a check of requests that come at this moment.
    package init(now: Timestamp) { self.now = now }

    private static let standardLife: Duration = .seconds(365 * 86_400)
    private static let longestLife: Duration = .seconds(5 * 365 * 86_400)

    /// Throws `invalid-field`, naming the field.
    func draft(
        of request: ServiceKeyRequest, secret: PrefixedSecret, by actor: String
    ) throws(ServiceError) -> ServiceKeyDraft {
        let expiresAt = request.expiresAt ?? now + Self.standardLife
        guard expiresAt > now, expiresAt <= now + Self.longestLife else {
            throw ServiceError(.invalidField, "expiresAt: a moment within the next five years")
        }
        if let limit = request.requestsPerMinute, !(1...1_000_000).contains(limit) {
            throw ServiceError(.invalidField, "requestsPerMinute: from 1 to 1000000")
        }
        return ServiceKeyDraft(
            name: request.name, account: try account(ofKey: request.name), digest: secret.digest, hint: secret.hint,
            scopes: try scopes(request.scopes), networks: try networks(request.networks ?? []),
            requestsPerMinute: request.requestsPerMinute, createdBy: actor, expiresAt: expiresAt)
    }

    /// Throws what `createKey` would refuse of a request before there is a store: `invalid-field`, naming the field.
    package func check(_ request: ServiceKeyRequest) throws(ServiceError) {
        _ = try draft(of: request, secret: PrefixedSecret(.serviceKey), by: "")
    }

    /// The name of the service account of a key.
    func account(ofKey name: String) throws(ServiceError) -> UserName {
        guard name.utf8.count <= 40, !name.contains(ServiceAccount.prefix),
            let account = UserName(ServiceAccount.name(ofKey: name)),
            !name.isEmpty
        else { throw ServiceError(.invalidField, "name: a key's name has 1 to 40 of A-Z a-z 0-9 _ . -") }
        return account
    }

    private func scopes(_ texts: [String]) throws(ServiceError) -> [ServiceKeyScope] {
        guard (1...16).contains(texts.count) else { throw ServiceError(.invalidField, "scopes: a key has 1 to 16 scopes") }
        var scopes: [ServiceKeyScope] = []
        for (index, text) in texts.enumerated() {
            guard let scope = ServiceKeyScope(text) else {
                let names = ServiceKeyScope.Name.allCases.map(\.rawValue).sorted().joined(separator: ", ")
                throw ServiceError(.invalidField, "scopes[\(index)]: one of \(names), or send:PREFIX")
            }
            if !scopes.contains(scope) { scopes.append(scope) }
        }
        return scopes
    }

    private func networks(_ texts: [String]) throws(ServiceError) -> [AddressRange] {
        guard texts.count <= 32 else { throw ServiceError(.invalidField, "networks: a key has at most 32 networks") }
        var networks: [AddressRange] = []
        for (index, text) in texts.enumerated() {
            guard let network = AddressRange(text) else {
                throw ServiceError(.invalidField, "networks[\(index)]: an address, or a network such as 10.0.0.0/8")
            }
            networks.append(network)
        }
        return networks
    }
}
