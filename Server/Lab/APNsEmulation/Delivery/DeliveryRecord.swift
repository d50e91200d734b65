import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What became of an accepted push: one entry of the delivery log.
public struct DeliveryRecord: Sendable, Hashable {
    /// The states of Apple's delivery diagrams (Reference/APNs.md#7-3).
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Waits until the device connects.
        case stored
        /// Waits until the background budget allows it or the app is opened.
        case held
        case delivered
        /// The device was offline and the sender wanted no storage.
        case discarded
        /// It expired while stored.
        case expired
        /// A newer push took its place while stored.
        case replaced
        /// The user force-quit the app; background pushes do not start it.
        case suppressed
        /// The device was connected but read too slowly.
        case overflowed
    }

    public var uniqueID: UUID
    public var apnsID: UUID
    public var device: String
    public var topic: String
    public var state: State
    public var acceptedAt: Timestamp
    /// When the present state began.
    public var changedAt: Timestamp
}
