import APNsProtocol
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A push that passed every check and now has to reach its device.
struct AcceptedPush: Sendable, Hashable {
    var device: String
    var token: String
    var topic: String
    var bundleID: String
    var apnsID: UUID
    var uniqueID: UUID
    var pushType: APNsPushType?
    var priority: Int
    var expiration: Int64?
    var collapseID: String?
    var payload: [UInt8]
    var receivedAt: Timestamp
    /// The channel of a broadcast.
    var channelID: String?

    /// A broadcast as it goes to one of its subscribers.
    func addressed(to device: String) -> AcceptedPush {
        var copy = self
        copy.device = device
        return copy
    }

    func delivered(at moment: Timestamp, stored: Bool) -> DeliveredPush {
        DeliveredPush(
            device: device, token: token, topic: topic, bundleID: bundleID, apnsID: apnsID, uniqueID: uniqueID,
            pushType: pushType, priority: priority, expiration: expiration, collapseID: collapseID, payload: payload,
            receivedAt: receivedAt, deliveredAt: moment, storedWhileOffline: stored, channelID: channelID)
    }
}
