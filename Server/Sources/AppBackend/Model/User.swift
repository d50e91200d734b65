import AuditTrail
import CalendarTime
import PushHub
import RichPushModel
import SharedAccess

/// A user as the server knows them. Holds no password.
public struct User: Hashable, Sendable {
    public var id: UserID
    public var name: UserName
    public var role: UserRole
    public var createdAt: Timestamp
    /// Where in the order of sends the user was created: what began earlier was sent to a former user of that name.
    public var order: OrderNumber
    /// Counts password changes; what was verified under an older version is void.
    public var credentialVersion: Int64
    /// The tags that the app's backend gave them: each of their devices has these, beside its own.
    public var tags: [Tag]
    /// Since when they cannot sign in.
    public var disabledAt: Timestamp?
    /// Tokens of issuers that were issued before this moment no longer sign the user in.
    public var tokensSince: Timestamp?
    /// Since when they have a second factor. With one, the password signs in to the console alone, and not without a code.
    public var secondFactorAt: Timestamp?
    /// The hours in which their devices get no new notification, beside those of the app.
    public var quietHours: QuietHours?

    /// Creates a user.
    public init(
        id: UserID, name: UserName, role: UserRole, createdAt: Timestamp, order: OrderNumber, credentialVersion: Int64,
        tags: [Tag] = [], disabledAt: Timestamp? = nil, tokensSince: Timestamp? = nil, secondFactorAt: Timestamp? = nil,
        quietHours: QuietHours? = nil
    ) {
        self.id = id
        self.name = name
        self.role = role
        self.createdAt = createdAt
        self.order = order
        self.credentialVersion = credentialVersion
        self.tags = tags
        self.disabledAt = disabledAt
        self.tokensSince = tokensSince
        self.secondFactorAt = secondFactorAt
        self.quietHours = quietHours
    }
}

/// What a new user is made of.
public struct NewUser: Sendable {
    public var name: UserName
    public var role: UserRole
    /// Absent for a user who cannot sign in with a password.
    public var password: PasswordHash?
    public var tags: [Tag]

    /// Creates a value.
    public init(name: UserName, role: UserRole, password: PasswordHash?, tags: [Tag] = []) {
        self.name = name
        self.role = role
        self.password = password
        self.tags = tags
    }
}

/// A user who is to be there, with this role and these tags. What is `nil` stays; a new user has the role `user` and no tags then.
public struct UserUpsert: Sendable {
    public var name: UserName
    public var role: UserRole?
    public var tags: [Tag]?

    /// Creates a value.
    public init(name: UserName, role: UserRole?, tags: [Tag]?) {
        self.name = name
        self.role = role
        self.tags = tags
    }
}

/// What became of a `UserUpsert`.
public enum UserUpsertOutcome: Hashable, Sendable {
    case created(User)
    /// `devices` are the records that were bound again because the tags changed.
    case changed(from: User, to: User, devices: [RecordID])
    case unchanged(User)
    /// Too much is remembered of the user's devices to bind them again with the tags, and nothing was changed.
    case overfull(User)
    /// The role of the user is protected, and nothing was changed.
    case protected(User)
}

/// The internal number of a user. It is never reused and never leaves the server; users see the `UserName`.
public struct UserID: Hashable, Sendable, Comparable {
    public let number: Int64

    /// Creates an id.
    public init(_ number: Int64) { self.number = number }

    public static func < (left: UserID, right: UserID) -> Bool { left.number < right.number }
}

/// What a user may do beyond reading what was sent to them.
public enum UserRole: String, Sendable, Codable, CaseIterable {
    /// Sends to themself only.
    case user
    /// Sends to any audience.
    case sender
    /// Sends to any audience, and manages users and keys.
    case admin
    /// Reads users, devices, sends and the audit of all, and changes nothing.
    case auditor
    /// The account of a service key: it has no password.
    case service

    /// Those that a person may have.
    public static let ofPersons: [UserRole] = [.user, .sender, .admin, .auditor]
}

/// What the server keeps of an installation credential.
public struct StoredInstallationCredential: Hashable, Sendable {
    public var installation: InstallationID
    public var user: UserID
    /// SHA-256 of the credential; see `InstallationCredential.digest`.
    public var digest: [UInt8]
    /// The user's credential version when it was issued; it is void under any other.
    public var credentialVersion: Int64
    public var expiresAt: Timestamp

    /// Creates a stored credential.
    public init(installation: InstallationID, user: UserID, digest: [UInt8], credentialVersion: Int64, expiresAt: Timestamp) {
        self.installation = installation
        self.user = user
        self.digest = digest
        self.credentialVersion = credentialVersion
        self.expiresAt = expiresAt
    }
}

/// The authenticated caller of a request.
public struct Principal: Hashable, Sendable {
    public var userID: UserID
    public var name: UserName
    public var role: UserRole
    /// Set when the request was signed with an installation credential instead of a password. Such a caller may fetch, read
    /// the inbox, post its own receipts, rotate its own handle and sign itself out, and nothing else.
    public var installation: InstallationID?
    /// The digest of that credential. What the caller changes holds only while it is still the installation's.
    public var credentialDigest: [UInt8]?
    /// Where in the order of sends the user was created; what was sent to the same name before belongs to another user.
    public var userOrder = OrderNumber(0)
    /// The version of the password that was given; what is issued to the caller ends with it.
    public var credentialVersion: Int64 = 0
    /// Set when the request was signed with a service key; the user is its account then.
    public var key: ServiceKey?
    /// Set when the request was signed with a token that is exchanged for an installation credential.
    public var token: TokenSignIn?
    /// The digest of the caller's session, set when the request was signed with the cookie of the console.
    public var consoleSession: [UInt8]?
    /// The tags that the app's backend gave the user.
    var userTags: [Tag] = []
    /// Where the request came from.
    var source = SourceAddress.local
}

extension Principal {
    /// The principal of a user who gave a password, of one of their installations, or of a service account with its key.
    init(user: User, installation: InstallationID? = nil, credentialDigest: [UInt8]? = nil, key: ServiceKey? = nil) {
        self.init(
            userID: user.id, name: user.name, role: user.role, installation: installation, credentialDigest: credentialDigest,
            userOrder: user.order, credentialVersion: user.credentialVersion)
        self.key = key
        userTags = user.tags
    }

    /// The caller as the audit names them.
    public var actor: AuditActor {
        if let key { return .key(key.name) }
        return installation == nil ? .user(name.text) : .installation(of: name.text)
    }

    /// An audit entry of an act of the caller.
    func entry(
        _ action: AuditAction, at now: Timestamp, subject: String = "", object: String = "", details: String = ""
    ) -> AuditEntry {
        AuditEntry(action, by: actor, from: source.prefix, at: now, subject: subject, object: object, details: details)
    }
}

/// The credential in a request. Never printed.
public enum PresentedCredential: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// User name and password (RFC 7617), already decoded.
    case basic(user: String, password: String)
    /// An installation credential, a service key, a one-time sign-in token or a token of an issuer in its text form.
    case bearer(String)
    /// The session of the console in a cookie.
    case consoleSession(String)

    public var description: String {
        switch self {
        case .basic: "basic credential (not shown)"
        case .bearer: "bearer credential (not shown)"
        case .consoleSession: "session of the console (not shown)"
        }
    }

    public var debugDescription: String { description }
}

/// One stored row about a user.
public struct UserDataRecord: Sendable {
    /// Of what kind it is: the table.
    public var kind: String
    /// The fields by name, in order; the first identifies the row.
    public var fields: [(name: String, value: UserDataValue)]

    /// Creates a record.
    public init(kind: String, fields: [(name: String, value: UserDataValue)]) {
        self.kind = kind
        self.fields = fields
    }

    /// Where the next page begins.
    public var cursor: UserDataValue { fields.first?.value ?? .absent }
}

/// The value of a field. Moments are milliseconds since 1970.
public enum UserDataValue: Hashable, Sendable {
    case absent
    case number(Int64)
    case text(String)
}
