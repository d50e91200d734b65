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
        // A push that waited longer than the log remembers begins a new entry, so its fate is still told.
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
