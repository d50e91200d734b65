#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Keeps the newest exchanges and counts how often each `apns-id` was accepted.
struct ExchangeRecorder: Sendable {
    private var recent: RecentEntries<APNsExchange>
    private let countedIDs: Int
    private(set) var acceptances: [UUID: UInt32] = [:]

    init(retention: EmulationRetention) {
        recent = RecentEntries(capacity: retention.exchanges)
        countedIDs = retention.countedIDs
    }

    var recorded: [APNsExchange] { recent.elements }

    mutating func record(_ exchange: APNsExchange) { recent.append(exchange) }

    mutating func clear() { recent = RecentEntries(capacity: recent.capacity) }

    mutating func clearAcceptances() { acceptances.removeAll() }

    mutating func countAcceptance(_ apnsID: UUID) {
        if let index = acceptances.index(forKey: apnsID) {
            acceptances.values[index] += 1
        } else if acceptances.count < countedIDs {
            acceptances[apnsID] = 1
        }
    }
}
