import RichPushModel

/// A hub as it is stored. Its secrets are sealed.
public struct HubRecord: Hashable, Sendable {
    public var id: HubID
    public var name: HubName
    public var details: HubDetails
    /// The sealed credential for APNs; absent means that of the node, if it has one.
    public var sealedAPNs: String?
    public var createdAt: Timestamp
    public var updatedAt: Timestamp
    /// Counts the changes of the hub, its rules and its credential, from 1.
    public var version: Int64

    /// Creates a record.
    public init(
        id: HubID, name: HubName, details: HubDetails, sealedAPNs: String?, createdAt: Timestamp, updatedAt: Timestamp,
        version: Int64
    ) {
        self.id = id
        self.name = name
        self.details = details
        self.sealedAPNs = sealedAPNs
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
    }
}
