import RichPushModel

/// What a push service said of a handle that is of no use any more.
public struct DeviceFeedback: Hashable, Sendable {
    /// What it said.
    public enum Reason: String, Sendable, CaseIterable {
        /// The device is gone; its records were removed.
        case gone
        /// The handle is malformed or of the other environment; its records were parked.
        case badToken = "bad-token"
    }

    /// The number of the row, growing; 0 before it is stored.
    public var number: Int64
    public var platform: Platform
    public var handle: DeviceHandle
    /// The record that was sent to; absent for a direct send.
    public var record: RecordID?
    /// The installation that the record belongs to, if any. Who adds feedback need not know it: storage looks it up.
    public var installation: RecordID?
    public var notification: NotificationID
    public var reason: Reason
    /// When it was handed to the store, which may have been away since it was decided.
    public var notedAt: Timestamp

    /// Creates feedback.
    public init(
        number: Int64 = 0, platform: Platform, handle: DeviceHandle, record: RecordID?, installation: RecordID? = nil,
        notification: NotificationID, reason: Reason, notedAt: Timestamp
    ) {
        self.number = number
        self.platform = platform
        self.handle = handle
        self.record = record
        self.installation = installation
        self.notification = notification
        self.reason = reason
        self.notedAt = notedAt
    }
}
