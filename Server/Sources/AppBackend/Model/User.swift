import PushHub
import RichPushModel

/// A user as the server knows them. Holds no password.
public struct User: Hashable, Sendable {
    public var id: UserID
    public var name: UserName
    public var role: UserRole
    public var createdAt: Timestamp
    /// Where in the order of sends the user was created: what began earlier was sent to another bearer of the name.
    public var order: OrderNumber
    /// Counts password changes; what was verified under an older version is void.
    public var credentialVersion: Int64

    /// Creates a user.
    public init(id: UserID, name: UserName, role: UserRole, createdAt: Timestamp, order: OrderNumber, credentialVersion: Int64) {
        self.id = id
        self.name = name
        self.role = role
        self.createdAt = createdAt
        self.order = order
        self.credentialVersion = credentialVersion
    }
}
