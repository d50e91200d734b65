import RichPushModel

/// A node as the others see it.
public struct NodeMember: Hashable, Sendable {
    /// What its leases name.
    public var id: String
    /// `all`, `api` or `worker`.
    public var role: String
    /// The version of its program.
    public var version: String
    /// The last step of the schema that its program knows; absent for versions that did not say.
    public var schemaStep: Int?
    public var startedAt: Timestamp
    /// When it last said that it is there.
    public var seenAt: Timestamp

    /// Creates a member.
    public init(id: String, role: String, version: String, schemaStep: Int?, startedAt: Timestamp, seenAt: Timestamp) {
        self.id = id
        self.role = role
        self.version = version
        self.schemaStep = schemaStep
        self.startedAt = startedAt
        self.seenAt = seenAt
    }
}
