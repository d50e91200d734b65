#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One push to everybody who follows a channel (Reference/APNs.md#5-3). It updates or ends a Live Activity; it cannot start one.
public struct APNsBroadcast: Hashable, Sendable {
    /// The largest body in bytes.
    public static let maximumPayload = 5120

    /// The bundle id, without a suffix.
    public var app: String
    public var channel: APNsChannel.ID
    /// The JSON of a Live Activity push.
    public var payload: [UInt8]
    /// 10, 5 or 1. APNs promises no default, so it is always sent.
    public var priority: Int
    /// Seconds since 1970, always sent: 0 keeps nothing, and is the only value for a channel without storage.
    public var expiration: Int64
    /// Sent as `apns-request-id`; absent lets APNs make one.
    public var requestID: UUID?
    public var pushType: APNsPushType

    /// Creates a broadcast.
    public init(
        app: String, channel: APNsChannel.ID, payload: [UInt8], priority: Int = 10, expiration: Int64 = 0,
        requestID: UUID? = nil, pushType: APNsPushType = .liveActivity
    ) {
        self.app = app
        self.channel = channel
        self.payload = payload
        self.priority = priority
        self.expiration = expiration
        self.requestID = requestID
        self.pushType = pushType
    }
}
