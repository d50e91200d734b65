/// What a verified token allows.
public struct AccessGrant: Sendable, Hashable {
    /// The name of the rule whose key signed.
    public let rule: String
    public let rights: Set<AccessRight>
    /// Whether the signature was made with the rule's secondary key.
    public let usedSecondaryKey: Bool

    /// Creates a grant.
    public init(rule: String, rights: Set<AccessRight>, usedSecondaryKey: Bool = false) {
        self.rule = rule
        self.rights = rights
        self.usedSecondaryKey = usedSecondaryKey
    }

    /// Whether one of the rights is granted: operations on registrations take Listen or Manage, for example
    /// (Reference/AzureNotificationHubs.md#1-5).
    public func allows(anyOf needed: Set<AccessRight>) -> Bool { !rights.isDisjoint(with: needed) }
}
