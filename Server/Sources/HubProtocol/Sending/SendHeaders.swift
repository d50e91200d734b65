import RichPushModel
import WireText

/// What the headers of a send say (Reference/AzureNotificationHubs.md#2-7 and #2-8), in both directions.
public struct SendHeaders: Hashable, Sendable {
    public static let tagsName = "ServiceBusNotification-Tags"
    public static let deviceHandleName = "ServiceBusNotification-DeviceHandle"
    public static let scheduleTimeName = "ServiceBusNotification-ScheduleTime"
    public static let clientRequestIDName = "x-ms-client-request-id"
    public static let trackingIDName = "TrackingId"

    public var format: NotificationFormat
    /// The tag expression as the client wrote it; absent means everyone. Who reads it takes commas for `||`: one client sends a
    /// list of tags (Reference/AzureNotificationHubs.md#2-7).
    public var tags: String?
    /// The one device of a direct send. Its presence makes the send direct, flag or no flag
    /// (Reference/AzureNotificationHubs.md#0-10).
    public var deviceHandle: String?
    /// When the send is due.
    public var scheduleTime: Timestamp?
    /// What is passed through to APNs.
    public var apple: AppleSendHeaders
    /// Headers for other push services, as they came: `X-WNS-…`, `X-WindowsPhone-Target`, `X-NotificationClass`, `X-Baidu-…`, and
    /// for browsers `Auth` and `P256DH`.
    public var platformHeaders: [HeaderField]
    /// The name under which a client repeats this very request: `x-ms-client-request-id`, else `TrackingId`
    /// (Reference/AzureNotificationHubs.md#0-17). At most 128 visible ASCII characters; others count as none.
    public var requestID: String?

    /// Creates headers.
    public init(
        format: NotificationFormat, tags: String? = nil, deviceHandle: String? = nil, scheduleTime: Timestamp? = nil,
        apple: AppleSendHeaders = AppleSendHeaders(), platformHeaders: [HeaderField] = [], requestID: String? = nil
    ) {
        self.format = format
        self.tags = tags
        self.deviceHandle = deviceHandle
        self.scheduleTime = scheduleTime
        self.apple = apple
        self.platformHeaders = platformHeaders
        self.requestID = requestID
    }

    /// The headers of a request as this product's client sends them, `Content-Type` of a single send included.
    public var fields: [HeaderField] {
        var fields = [
            HeaderField("Content-Type", format.contentType(headers: HeaderList(platformHeaders))),
            HeaderField(NotificationFormat.headerName, format.rawValue),
        ]
        if let tags { fields.append(HeaderField(Self.tagsName, tags)) }
        if let deviceHandle { fields.append(HeaderField(Self.deviceHandleName, deviceHandle)) }
        if let scheduleTime { fields.append(HeaderField(Self.scheduleTimeName, WireTime(scheduleTime).description)) }
        fields += apple.fields + platformHeaders
        if let requestID { fields.append(HeaderField(Self.clientRequestIDName, requestID)) }
        return fields
    }
}
