import AuditTrail
import PushHub
import RichPushModel
import SharedAccess
import TagExpressions

/// What a service key may do: one scope of a closed list.
public struct ServiceKeyScope: Hashable, Sendable {
    /// The names, as they are written.
    public enum Name: String, Sendable, CaseIterable {
        case send, status, users, devices, hubs, audit, admin
        case signIn = "sign-in"
    }

    public let name: Name
    /// For `send`: each tag of an audience has to begin with it, without regard to case. `nil` allows any audience.
    public let audiencePrefix: String?

    /// Reads `send`, or `send:PREFIX` for audiences of tags that begin with the prefix.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = Name(rawValue: String(parts[0])) else { return nil }
        self.name = name
        guard parts.count == 2 else {
            audiencePrefix = nil
            return
        }
        // A prefix that no tag can have would be a key that can do nothing.
        guard name == .send, let tag = Tag(String(parts[1])) else { return nil }
        audiencePrefix = tag.folded
    }

    /// As it is stored and shown.
    public var text: String { audiencePrefix.map { "\(name.rawValue):\($0)" } ?? name.rawValue }

    /// Whether a key with only this scope may send to the audience: a device has to have a tag with the prefix to be in it.
    func allows(_ audience: TagExpression) -> Bool {
        guard let audiencePrefix else { return true }
        return !audience.matches([]) && audience.tags.allSatisfy { $0.folded.hasPrefix(audiencePrefix) }
    }
}

/// A key with which a service of the app calls the app backend. What it sends belongs to its service account, a user without a password.
public struct ServiceKey: Hashable, Sendable {
    public var id: Int64
    /// The name that an administrator gave it, unique among the keys that hold.
    public var name: String
    /// The service account for which it acts.
    public var account: UserID
    /// Prefix and last digits of the secret, for lists.
    public var hint: String
    public var scopes: [ServiceKeyScope]
    /// The networks that may use it; empty for all.
    public var networks: [AddressRange]
    /// How many requests a minute it may make on each node; `nil` for no limit of its own.
    public var requestsPerMinute: Int?
    /// The user or key that made it, as a text.
    public var createdBy: String
    public var createdAt: Timestamp
    /// It does not hold from this moment on.
    public var expiresAt: Timestamp
    public var revokedAt: Timestamp?
    /// Written at most once a minute.
    public var lastUsedAt: Timestamp?
    public var lastUsedFrom: String?

    /// Takes a key from storage.
    public init(
        id: Int64, name: String, account: UserID, hint: String, scopes: [ServiceKeyScope], networks: [AddressRange],
        requestsPerMinute: Int?, createdBy: String, createdAt: Timestamp, expiresAt: Timestamp, revokedAt: Timestamp? = nil,
        lastUsedAt: Timestamp? = nil, lastUsedFrom: String? = nil
    ) {
        self.id = id
        self.name = name
        self.account = account
        self.hint = hint
        self.scopes = scopes
        self.networks = networks
        self.requestsPerMinute = requestsPerMinute
        self.createdBy = createdBy
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.lastUsedAt = lastUsedAt
        self.lastUsedFrom = lastUsedFrom
    }

    /// Whether it may be used at a moment.
    public func holds(at now: Timestamp) -> Bool { revokedAt == nil && now < expiresAt }

    /// Whether it may send to every audience.
    var sendsAnywhere: Bool { scopes.contains { ($0.name == .send || $0.name == .admin) && $0.audiencePrefix == nil } }

    /// Whether it may send to an audience.
    func allows(_ audience: TagExpression) -> Bool {
        scopes.contains { ($0.name == .send || $0.name == .admin) && $0.allows(audience) }
    }
}

/// The users without a password to which the sends of services belong. Their names begin with `@`, which no other user's may.
enum ServiceAccount {
    static let prefix = "@"

    static func name(ofKey name: String) -> String { prefix + name }
}

/// What a new service key is made of.
public struct ServiceKeyDraft: Sendable {
    public var name: String
    /// The name of the service account.
    public var account: UserName
    public var digest: [UInt8]
    public var hint: String
    public var scopes: [ServiceKeyScope]
    public var networks: [AddressRange]
    public var requestsPerMinute: Int?
    public var createdBy: String
    public var expiresAt: Timestamp

    /// Creates a draft.
    public init(
        name: String, account: UserName, digest: [UInt8], hint: String, scopes: [ServiceKeyScope], networks: [AddressRange] = [],
        requestsPerMinute: Int? = nil, createdBy: String, expiresAt: Timestamp
    ) {
        self.name = name
        self.account = account
        self.digest = digest
        self.hint = hint
        self.scopes = scopes
        self.networks = networks
        self.requestsPerMinute = requestsPerMinute
        self.createdBy = createdBy
        self.expiresAt = expiresAt
    }
}

/// Keeps the service keys. Errors are `ServiceError`.
public protocol ServiceKeyStore: Sendable {
    /// Stores a new key, in one transaction with its service account if there is none of that name yet. Throws `conflict` when a key
    /// of this name holds, or when the account's name belongs to a user. The audit entry gets the key's id.
    func createKey(_ draft: ServiceKeyDraft, at now: Timestamp, audit entry: AuditEntry?) async throws -> ServiceKey

    /// Stores a key in place of another, which ends at `end` if it does not end sooner, in one transaction. Throws `not-found`, and
    /// `conflict` when the key does not hold, or when it was replaced before and both still hold.
    func replaceKey(
        _ id: Int64, with draft: ServiceKeyDraft, end: Timestamp, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> ServiceKey

    /// Ends a key at once. Whether there was a key that was not revoked.
    func revokeKey(_ id: Int64, at now: Timestamp, audit entry: AuditEntry?) async throws -> Bool

    /// The key of this digest, with its service account as it is now.
    func key(digest: [UInt8]) async throws -> (ServiceKey, User)?

    /// The latest key of a service account that holds.
    func holdingKey(of account: UserID, at now: Timestamp) async throws -> ServiceKey?

    /// Keys in the order of their ids, after `id`, those that ended too.
    func keys(after id: Int64, limit: Int) async throws -> [ServiceKey]

    /// Notes when and from which network a key was used last, unless a later use is noted.
    func noteUse(ofKey id: Int64, at now: Timestamp, from network: String) async throws
}
