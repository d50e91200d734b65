import PushHub
import RichPushModel

/// Who makes a request, after authentication.
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
    public var userOrder: OrderNumber
    /// The version of the password that was given; what is issued to the caller ends with it.
    public var credentialVersion: Int64

    /// Creates a principal.
    public init(
        userID: UserID, name: UserName, role: UserRole, installation: InstallationID? = nil,
        credentialDigest: [UInt8]? = nil, userOrder: OrderNumber = OrderNumber(0), credentialVersion: Int64 = 0
    ) {
        self.userID = userID
        self.name = name
        self.role = role
        self.installation = installation
        self.credentialDigest = credentialDigest
        self.userOrder = userOrder
        self.credentialVersion = credentialVersion
    }

    /// The principal of a user who gave a password.
    public init(user: User, installation: InstallationID? = nil, credentialDigest: [UInt8]? = nil) {
        self.init(
            userID: user.id, name: user.name, role: user.role, installation: installation, credentialDigest: credentialDigest,
            userOrder: user.order, credentialVersion: user.credentialVersion)
    }
}
