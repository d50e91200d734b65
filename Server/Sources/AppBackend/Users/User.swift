import RichPushModel

/// A user as the server knows them. Holds no password.
public struct User: Hashable, Sendable {
    public var id: UserID
    public var name: UserName
    public var role: UserRole
    public var createdAt: Timestamp
    /// Counts password changes; what was verified under an older version is void.
    public var credentialVersion: Int64

    /// Creates a user.
    public init(id: UserID, name: UserName, role: UserRole, createdAt: Timestamp, credentialVersion: Int64) {
        self.id = id
        self.name = name
        self.role = role
        self.createdAt = createdAt
        self.credentialVersion = credentialVersion
    }
}
