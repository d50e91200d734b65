/// The limits of the hub protocol (Reference/AzureNotificationHubs.md#6-1) and the bounds that this product adds, so that no
/// request grows without end. Sizes are bytes.
public struct HubLimits: Hashable, Sendable {
    /// The largest body of a send; above it 413.
    public var notificationBytes = 64 * 1024
    /// The largest number of handles in one direct batch.
    public var batchHandles = 1000
    /// The largest body of a direct batch: the notification, the handles, and room for the parts' headers.
    public var batchBytes: Int { notificationBytes + batchHandles * (handleBytes + 4) + 8 * 1024 }
    /// The longest device handle or push channel; for web and Windows channels it is a URL.
    public var handleBytes = 4096
    /// The largest number of tags of a registration or an installation.
    public var tags = 60
    /// The largest number of templates of an installation or of one of its tiles.
    public var templates = 100
    /// The longest name of a template, in characters.
    public var templateNameLength = 200
    /// The longest body of a template.
    public var templateBytes = 16 * 1024
    /// The largest number of headers of a template.
    public var templateHeaders = 32
    /// The largest number of push variables of an installation.
    public var pushVariables = 100
    /// The longest name of a property in templates and of a push variable, in characters.
    public var propertyNameLength = 120
    /// The longest value of a header, a push variable or an expiry expression.
    public var valueBytes = 4096
    /// The largest number of secondary tiles of an installation.
    public var secondaryTiles = 50
    /// The longest installation id, registration id or user id.
    public var identifierBytes = 256
    /// The largest body of an installation or of a patch.
    public var installationBytes = 256 * 1024
    /// The largest number of operations in one patch.
    public var patchOperations = 200
    /// The largest page of a list.
    public var pageSize = 100

    /// The documented limits.
    public init() {}
}
