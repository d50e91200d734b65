import AuditTrail
import RichPushModel

/// A session of a person in the console, or the link that begins one.
///
/// It acts as its user while role and credential version of the user are those that it began with.
public struct ConsoleSession: Hashable, Sendable {
    /// A link is exchanged for a session, once.
    public enum Kind: String, Sendable {
        case link
        case session
    }

    /// SHA-256 of its secret.
    public var digest: [UInt8]
    public var kind: Kind
    public var user: UserID
    /// The role and the credential version of the user when it began.
    public var role: UserRole
    public var credentialVersion: Int64
    public var createdAt: Timestamp
    /// From this moment on it does not hold; a session that is used has it moved, up to `endsAt`.
    public var expiresAt: Timestamp
    /// From this moment on it does not hold, however much it is used.
    public var endsAt: Timestamp

    /// Takes a session from storage, or describes a new one.
    public init(
        digest: [UInt8], kind: Kind, user: UserID, role: UserRole, credentialVersion: Int64, createdAt: Timestamp,
        expiresAt: Timestamp, endsAt: Timestamp
    ) {
        self.digest = digest
        self.kind = kind
        self.user = user
        self.role = role
        self.credentialVersion = credentialVersion
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.endsAt = endsAt
    }

    /// A link or a session of this user that begins now. It expires after `idle` without use, and after `life` in any case.
    init(_ kind: Kind, digest: [UInt8], of user: User, idle: Duration, life: Duration, at now: Timestamp) {
        self.init(
            digest: digest, kind: kind, user: user.id, role: user.role, credentialVersion: user.credentialVersion, createdAt: now,
            expiresAt: now + min(idle, life), endsAt: now + life)
    }

    /// Whether it holds for its user as they are now.
    public func holds(for user: User, at now: Timestamp) -> Bool {
        now < expiresAt && user.id == self.user && user.role == role && user.credentialVersion == credentialVersion
            && user.disabledAt == nil
    }
}

/// Keeps the sessions of the console and the links to it. Errors are `ServiceError`.
public protocol ConsoleSessionStore: Sendable {
    /// Stores a new link.
    func addConsoleLink(_ link: ConsoleSession, audit entry: AuditEntry?) async throws

    /// Exchanges a link for a session of its user, in one transaction with the audit entry. Of a user's sessions the newest `limit` stay.
    /// `false`, with nothing changed, when there is no such link or when it does not hold.
    func redeemConsoleLink(
        _ digest: [UInt8], for session: ConsoleSession, limit: Int, at now: Timestamp, audit entry: AuditEntry?
    ) async throws -> Bool

    /// Stores a new session. Of a user's sessions the newest `limit` stay.
    func addConsoleSession(_ session: ConsoleSession, limit: Int, audit entry: AuditEntry?) async throws

    /// The link or session of this digest with its user; `nil` when there is none of that kind.
    func consoleSession(_ kind: ConsoleSession.Kind, digest: [UInt8]) async throws -> (session: ConsoleSession, user: User)?

    /// Moves the moment at which a session expires.
    func extendConsoleSession(_ digest: [UInt8], until expiry: Timestamp) async throws

    /// Removes a session; whether there was one.
    func endConsoleSession(_ digest: [UInt8], audit entry: AuditEntry?) async throws -> Bool

    /// Deletes at most `limit` sessions and links that expired before `moment`; returns how many.
    func removeConsoleSessions(expiredBefore moment: Timestamp, limit: Int) async throws -> Int
}
