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
    /// Accepted pushes whose answer a fault withheld, until their repeat.
    private var excused: Set<UUID> = []
    private var excusedRepeats = 0

    init(retention: EmulationRetention) {
        recent = RecentEntries(capacity: retention.exchanges)
        countedIDs = retention.countedIDs
    }

    var recorded: [APNsExchange] { recent.elements }

    mutating func record(_ exchange: APNsExchange) { recent.append(exchange) }

    mutating func clear() { recent = RecentEntries(capacity: recent.capacity) }

    /// How often a client sent a push again although it saw that the push was accepted.
    var repeats: Int { acceptances.values.reduce(0) { $0 + Int($1) - 1 } - excusedRepeats }

    mutating func clearAcceptances() {
        acceptances.removeAll()
        excused.removeAll()
        excusedRepeats = 0
    }

    /// A fault withheld the answer, so the client may send this push again.
    mutating func excuseNextRepeat(of apnsID: UUID) {
        if acceptances[apnsID] != nil { excused.insert(apnsID) }
    }

    mutating func countAcceptance(_ apnsID: UUID) {
        if let index = acceptances.index(forKey: apnsID) {
            acceptances.values[index] += 1
            if excused.remove(apnsID) != nil { excusedRepeats += 1 }
        } else if acceptances.count < countedIDs {
            acceptances[apnsID] = 1
        }
    }
}
