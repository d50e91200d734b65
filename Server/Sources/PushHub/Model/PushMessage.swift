import RichPushModel

/// What is pushed: the bytes for the push service and the headers that go with them. The same for the whole audience.
public struct PushMessage: Hashable, Sendable {
    /// The body exactly as the push service gets it. What is larger than APNs carries, 4,096 bytes (Reference/APNs.md#3-2), is
    /// taken and counts as too large for every target.
    public var body: [UInt8]
    /// `alert`, `background`, … (Reference/APNs.md#3-3); absent means: derived from the body at intake.
    public var pushType: String?
    /// 10, 5 or 1; absent means: 5 for `background`, else 10.
    public var priority: Int?
    /// At most 64 bytes. An alert without one gets one from the notification, so that a repeat replaces.
    public var collapseID: String?
    /// Becomes `apns-expiration` and ends the retries; absent means retries for 30 minutes and no such header. `oneTry` means one
    /// try, now, and `apns-expiration: 0` (Reference/APNs.md#3-2).
    public var expiresAt: Timestamp?
    /// The APNs topic; absent means the device's, else the hub's.
    public var topic: String?

    /// The expiry of a message that is worth one try only: it is not stored for a device that is away.
    public static let oneTry = Timestamp(milliseconds: 0)

    /// Creates a message.
    public init(
        body: [UInt8], pushType: String? = nil, priority: Int? = nil, collapseID: String? = nil, expiresAt: Timestamp? = nil,
        topic: String? = nil
    ) {
        self.body = body
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.expiresAt = expiresAt
        self.topic = topic
    }
}
