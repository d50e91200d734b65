import AuditTrail
import Crypto
import RichPushModel
import WireText

/// What a caller with a token signs in with: the token is exchanged for an installation credential.
public struct TokenSignIn: Hashable, Sendable {
    /// The issuer as configured; `nil` for a one-time token.
    public var issuer: String?
    /// The digest of a one-time token, which the exchange consumes.
    public var digest: [UInt8]?
    /// The only installation that may use it.
    public var installation: InstallationID?
    /// The tags that replace those of the user; `nil` keeps them.
    public var tags: [Tag]?

    /// For the audit entry of the sign-in.
    var details: String { issuer.map { "with=token issuer=\($0)" } ?? "with=sign-in-token" }
}

/// A one-time sign-in token as it is stored.
public struct SignInToken: Hashable, Sendable {
    /// SHA-256 of its text.
    public var digest: [UInt8]
    /// The user whom it signs in.
    public var user: UserName
    /// The only installation that may use it; `nil` for any.
    public var installation: InstallationID?
    /// The tags that replace those of the user; `nil` keeps them.
    public var tags: [Tag]?
    /// Whether a user who does not exist is created.
    public var createsUser: Bool
    /// The user or key that made it, as a text.
    public var createdBy: String
    public var createdAt: Timestamp
    public var expiresAt: Timestamp
    /// The installation that used it.
    public var usedBy: InstallationID?
    public var usedAt: Timestamp?

    /// Takes a token from storage, or describes a new one.
    public init(
        digest: [UInt8], user: UserName, installation: InstallationID?, tags: [Tag]?, createsUser: Bool, createdBy: String,
        createdAt: Timestamp, expiresAt: Timestamp, usedBy: InstallationID? = nil, usedAt: Timestamp? = nil
    ) {
        self.digest = digest
        self.user = user
        self.installation = installation
        self.tags = tags
        self.createsUser = createsUser
        self.createdBy = createdBy
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.usedBy = usedBy
        self.usedAt = usedAt
    }
}

/// By what an issuer names a user. Both texts are compared byte for byte.
public struct TokenIdentity: Hashable, Sendable {
    public var issuer: String
    public var subject: String

    /// Creates an identity.
    public init(issuer: String, subject: String) {
        self.issuer = issuer
        self.subject = subject
    }

    /// Under which it is stored: a digest, which compares bytes in every database, and which stays when the subject is erased.
    public var key: String {
        // The length keeps two identities with the same joined text apart.
        let message = Array("clarion identity key 1\n\(issuer.utf8.count)\n\(issuer)\n\(subject)".utf8)
        return Hexadecimal.text(of: SHA256.hash(data: message))
    }

    public static func == (left: TokenIdentity, right: TokenIdentity) -> Bool { left.key == right.key }

    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// What may be done for an identity that names no user.
public struct IdentityClaim: Sendable {
    /// Created when there is no user of the name; `nil` when none may be.
    public var new: NewUser?
    /// The user of this name belongs to the identity from then on if they have the role `user`, no password and no identity; `nil` when
    /// none may.
    public var adopted: UserName?
    /// The audit entry of each.
    public var creation: AuditEntry?
    public var adoption: AuditEntry?

    /// Creates a claim.
    public init(
        creating new: NewUser? = nil, adopting adopted: UserName? = nil, creation: AuditEntry? = nil, adoption: AuditEntry? = nil
    ) {
        self.new = new
        self.adopted = adopted
        self.creation = creation
        self.adoption = adoption
    }
}

/// What became of a request for the user of an identity.
public enum IdentityOutcome: Hashable, Sendable {
    case user(User)
    /// There is none, and none may be created.
    case unknown
    /// The token was issued before the user was removed.
    case removed
    /// Another user has the name: one of another identity, or one who may not be adopted.
    case nameTaken
}

/// Keeps one-time sign-in tokens, and which identities of issuers the users have. Errors are `ServiceError`.
public protocol TokenSignInStore: Sendable {
    /// Stores a new token.
    func mint(_ token: SignInToken, audit entry: AuditEntry?) async throws

    /// The token of this digest with its user; neither is created. `nil` when there is no such token.
    func signInToken(digest: [UInt8]) async throws -> (token: SignInToken, user: User?)?

    /// The user of this identity. If there is none, does what the claim allows, in one transaction with the identity and the audit entry.
    /// For a token that was issued before an earlier user of the identity was removed it does nothing.
    func user(
        of identity: TokenIdentity, issuedAt: Timestamp, claim: IdentityClaim, at now: Timestamp
    ) async throws -> IdentityOutcome

    /// Deletes at most `limit` one-time tokens that expired before `moment`; returns how many.
    func removeSignInTokens(expiredBefore moment: Timestamp, limit: Int) async throws -> Int

    /// Deletes at most `limit` identities whose users were removed before `moment`; returns how many.
    func removeIdentities(removedBefore moment: Timestamp, limit: Int) async throws -> Int
}
