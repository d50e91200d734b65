import RichPushModel
import SharedAccess

/// An access rule as it is stored: its keys are sealed.
public struct SealedAccessRule: Hashable, Sendable {
    public var name: String
    public var rights: Set<AccessRight>
    public var primary: String
    public var secondary: String
    public var createdAt: Timestamp
    public var updatedAt: Timestamp

    /// Creates a rule.
    public init(
        name: String, rights: Set<AccessRight>, primary: String, secondary: String, createdAt: Timestamp, updatedAt: Timestamp
    ) {
        self.name = name
        self.rights = rights
        self.primary = primary
        self.secondary = secondary
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}
