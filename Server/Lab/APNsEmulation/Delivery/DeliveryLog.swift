import APNsProtocol
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The newest deliveries by `apns-unique-id`, as Apple's console shows them. Bounded: the oldest entry goes first.
///
/// A broadcast has one id and an entry for each subscriber.
struct DeliveryLog: Sendable {
    private struct Key: Hashable {
        var uniqueID: UUID
        var device: String
    }

    private var entries: [Key: DeliveryRecord] = [:]
    private var devices: [UUID: [String]] = [:]
    private var order: RecentEntries<Key>

    init(capacity: Int) { order = RecentEntries(capacity: capacity) }

    /// Oldest first.
    var records: [DeliveryRecord] { order.elements.compactMap { entries[$0] } }

    /// Everything that is known of one id, one entry for each device, oldest first.
    func records(of uniqueID: UUID) -> [DeliveryRecord] {
        (devices[uniqueID] ?? []).compactMap { entries[Key(uniqueID: uniqueID, device: $0)] }
    }

    mutating func clear() { self = DeliveryLog(capacity: order.capacity) }

    mutating func note(_ push: AcceptedPush, _ state: DeliveryRecord.State, at moment: Timestamp) {
        let key = Key(uniqueID: push.uniqueID, device: push.device)
        if entries[key] != nil {
            entries[key]?.state = state
            entries[key]?.changedAt = moment
            return
        }
        guard order.capacity > 0 else { return }
        // A push that waited longer than the log remembers begins a new entry, so its fate is still recorded.
        entries[key] = DeliveryRecord(
            uniqueID: push.uniqueID, apnsID: push.apnsID, device: push.device, topic: push.topic, state: state,
            acceptedAt: push.receivedAt, changedAt: moment)
        devices[push.uniqueID, default: []].append(push.device)
        if let oldest = order.append(key) { forget(oldest) }
    }

    private mutating func forget(_ key: Key) {
        entries[key] = nil
        devices[key.uniqueID]?.removeAll { $0 == key.device }
        if devices[key.uniqueID]?.isEmpty == true { devices[key.uniqueID] = nil }
    }
}

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
        /// A newer push replaced it while stored.
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

/// What became of an accepted push that did not go to its device at once (Reference/APNs.md#7-3).
public struct PushFate: Sendable, Hashable {
    /// The name that the device was given when its token was issued.
    public var device: String
    public var apnsID: UUID
    public var payload: [UInt8]
    /// Anything but `delivered`, which the device's own stream reports.
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
