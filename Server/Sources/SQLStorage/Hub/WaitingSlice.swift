import PushHub
import RichPushModel

/// A slice that may be leased, as far as it takes to let hubs take turns.
struct WaitingSlice: Sendable {
    let hub: HubID
    let since: Timestamp
    let weight: Int64

    init(_ row: SQLRow) throws {
        hub = HubID(try row.integer(0))
        since = Timestamp(milliseconds: try row.integer(1))
        weight = try row.integer(2)
    }

    /// The hubs that wait, each since its earliest.
    static func byHub(_ slices: [WaitingSlice]) -> [HubTurns.Waiting] {
        var earliest: [HubID: Timestamp] = [:]
        for slice in slices { earliest[slice.hub] = min(earliest[slice.hub] ?? slice.since, slice.since) }
        return earliest.map { HubTurns.Waiting(hub: $0.key, since: $0.value) }.sorted { $0.hub.number < $1.hub.number }
    }
}
