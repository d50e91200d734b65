import RichPushModel

/// An installation as it is stored.
public struct DeviceInstallation: Hashable, Sendable {
    /// What it says of itself; `confirmsHandle` is false here.
    public var content: InstallationUpsert
    public var createdAt: Timestamp
    /// The last time the handle was confirmed.
    public var registeredAt: Timestamp
    /// Whether the push service called the handle bad since then: `pushChannelExpired`.
    public var isHandleExpired: Bool
    /// Counts the changes, from 1.
    public var version: Int64

    /// Creates an installation.
    public init(
        content: InstallationUpsert, createdAt: Timestamp, registeredAt: Timestamp, isHandleExpired: Bool = false,
        version: Int64 = 1
    ) {
        self.content = content
        self.createdAt = createdAt
        self.registeredAt = registeredAt
        self.isHandleExpired = isHandleExpired
        self.version = version
    }

    public var id: RecordID { content.id }
}
