import APNsProtocol
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A push as it reaches a device.
public struct DeliveredPush: Sendable, Hashable {
    /// The name that the device was given when its token was issued.
    public var device: String
    /// The device token the sender used, in lower-case hex; empty for a broadcast.
    public var token: String
    /// The topic as sent, with its suffix.
    public var topic: String
    /// The topic without the suffix of the push type.
    public var bundleID: String
    public var apnsID: UUID
    /// The key of the delivery log.
    public var uniqueID: UUID
    /// As sent; `nil` when the sender left it out.
    public var pushType: APNsPushType?
    /// 10, 5 or 1; 10 when the sender left it out.
    public var priority: Int
    /// Seconds since 1970 as sent; `nil` is not the same as 0.
    public var expiration: Int64?
    public var collapseID: String?
    public var payload: [UInt8]
    /// When APNs accepted it.
    public var receivedAt: Timestamp
    /// When it was handed to the device.
    public var deliveredAt: Timestamp
    /// Whether it waited, because the device was offline or its background budget was used up.
    public var storedWhileOffline: Bool
    /// The channel of a broadcast; `nil` for a push to a device token.
    public var channelID: String?
}
