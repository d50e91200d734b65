import HubProtocol

/// What is sent through a hub elsewhere, and to whom.
public struct RemoteNotification: Hashable, Sendable {
    public var format: NotificationFormat
    /// The bytes for the push service; for a template send a JSON object of properties.
    public var body: [UInt8]
    /// A tag expression, `vip && !city:Oslo`; absent means every device of the hub.
    public var tags: String?
    /// What is passed through to APNs.
    public var apple: AppleSendHeaders
    /// Headers for other push services, such as `X-WNS-Type`.
    public var platformHeaders: [HeaderField]

    /// Creates a notification in any format.
    public init(
        _ format: NotificationFormat, body: [UInt8], tags: String? = nil, apple: AppleSendHeaders = AppleSendHeaders(),
        platformHeaders: [HeaderField] = []
    ) {
        self.format = format
        self.body = body
        self.tags = tags
        self.apple = apple
        self.platformHeaders = platformHeaders
    }

    /// An APNs body for the Apple devices of the hub.
    public static func apple(
        _ json: String, tags: String? = nil, headers: AppleSendHeaders = AppleSendHeaders()
    ) -> RemoteNotification {
        RemoteNotification(.apple, body: Array(json.utf8), tags: tags, apple: headers)
    }

    /// Properties for the templates that devices registered, on every platform.
    public static func template(_ properties: [String: String], tags: String? = nil) -> RemoteNotification {
        let members = properties.sorted { $0.key < $1.key }.map { WireJSON.Member($0.key, .string($0.value)) }
        return RemoteNotification(.template, body: Array(WireJSON.object(members).text.utf8), tags: tags)
    }

    /// An FCM v1 body, `{"message":{…}}`, for the Android devices of the hub.
    public static func fcmV1(_ json: String, tags: String? = nil) -> RemoteNotification {
        RemoteNotification(.fcmv1, body: Array(json.utf8), tags: tags)
    }

    /// A body for Windows devices with its kind, `wns/toast`, `wns/tile`, `wns/badge` or `wns/raw`.
    public static func windows(_ body: String, type: String = "wns/toast", tags: String? = nil) -> RemoteNotification {
        RemoteNotification(
            .windows, body: Array(body.utf8), tags: tags, platformHeaders: [HeaderField("X-WNS-Type", type)])
    }
}
