import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The newest deliveries by `apns-unique-id`, as Apple's console shows them. Bounded: the oldest entry goes first.
struct DeliveryLog: Sendable {
    private var entries: [UUID: DeliveryRecord] = [:]
    private var order: RecentEntries<UUID>

    init(capacity: Int) { order = RecentEntries(capacity: capacity) }

    /// Oldest first.
    var records: [DeliveryRecord] { order.elements.compactMap { entries[$0] } }

    func record(of uniqueID: UUID) -> DeliveryRecord? { entries[uniqueID] }

    mutating func note(_ push: AcceptedPush, _ state: DeliveryRecord.State, at moment: Timestamp) {
        if entries[push.uniqueID] != nil {
            entries[push.uniqueID]?.state = state
            entries[push.uniqueID]?.changedAt = moment
            return
        }
        guard order.capacity > 0 else { return }
        // A push that waited longer than the log remembers begins a new entry, so its fate is still told.
        entries[push.uniqueID] = DeliveryRecord(
            uniqueID: push.uniqueID, apnsID: push.apnsID, device: push.device, topic: push.topic, state: state,
            acceptedAt: push.receivedAt, changedAt: moment)
        if let oldest = order.append(push.uniqueID) { entries[oldest] = nil }
    }
}
