import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What became of an accepted push that did not go to its device at once (Reference/APNs.md#7-3).
public struct PushFate: Sendable, Hashable {
    /// The name that the device was given when its token was issued.
    public var device: String
    public var apnsID: UUID
    public var payload: [UInt8]
    /// Anything but `delivered`, of which the device's own stream tells.
    public var state: DeliveryRecord.State
    /// When that was decided.
    public var moment: Timestamp

    init(_ push: AcceptedPush, _ state: DeliveryRecord.State, at moment: Timestamp) {
        device = push.device
        apnsID = push.apnsID
        payload = push.payload
        self.state = state
        self.moment = moment
    }
}
