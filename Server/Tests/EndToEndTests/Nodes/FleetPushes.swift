import Foundation
import PushHub
import RichPushModel
import Testing

/// The pushes that the local APNs accepted of some sends to a fleet, device by device.
struct FleetPushes {
    private struct Place {
        var send: NotificationID
        var device: Int
    }

    /// When each device's pushes of a send came.
    private var moments: [NotificationID: [[Timestamp]]] = [:]
    /// Pushes that are none of these sends', or went to another device than their id says.
    private(set) var unexpected = 0
    /// All of them.
    let count: Int
    private let keys: [SliceKey]

    /// Sorts what a ledger has by what the ids of pushes have to be: that of a repeat is that of the first.
    init(_ entries: [PushLedger.Entry], of sends: [NotificationID], to fleet: Fleet) {
        count = entries.count
        keys = fleet.records.map(SliceKey.init(of:))
        var places: [UUID: Place] = [:]
        for send in sends {
            moments[send] = Array(repeating: [], count: fleet.records.count)
            for (device, record) in fleet.records.enumerated() {
                places[PushID(notification: send, record: record).uuid] = Place(send: send, device: device)
            }
        }
        for entry in entries {
            guard let place = entry.id.flatMap({ places[$0] }), fleet.tokens[place.device] == entry.token.lowercased() else {
                unexpected += 1
                continue
            }
            moments[place.send]?[place.device].append(entry.receivedAt)
        }
    }

    /// How often each device got the push of a send.
    func counts(of send: NotificationID) -> [Int] { (moments[send] ?? []).map(\.count) }

    /// How many devices got it.
    func reached(by send: NotificationID) -> Int { counts(of: send).count { $0 > 0 } }

    /// How many pushes of a send came after the first to a device.
    func repeats(of send: NotificationID) -> Int { counts(of: send).reduce(0) { $0 + max($1 - 1, 0) } }

    /// When the first and the last push of a send came.
    func first(of send: NotificationID) -> Timestamp? { moments[send]?.joined().min() }
    func last(of send: NotificationID) -> Timestamp? { moments[send]?.joined().max() }

    /// Repeats of a send, by slice.
    func repeats(of send: NotificationID, in plan: SlicePlan) -> [Int: Int] {
        bySlice(send, plan) { max($0.count - 1, 0) }
    }

    /// Pushes of a send that came after a moment, by slice; slices without any are left out.
    func late(_ send: NotificationID, after moment: Timestamp, in plan: SlicePlan) -> [Int: Int] {
        bySlice(send, plan) { $0.count { $0 > moment } }
    }

    private func bySlice(_ send: NotificationID, _ plan: SlicePlan, _ number: ([Timestamp]) -> Int) -> [Int: Int] {
        var counts: [Int: Int] = [:]
        for (device, found) in (moments[send] ?? []).enumerated() {
            let number = number(found)
            guard number > 0, let slice = plan.ranges.firstIndex(where: { keys[device] <= $0.last }) else { continue }
            counts[slice, default: 0] += number
        }
        return counts
    }
}

extension FleetPushes: CustomTestStringConvertible {
    /// Not each of a hundred thousand moments.
    var testDescription: String { "\(count) pushes of \(moments.count) sends to \(keys.count) devices, \(unexpected) others" }
}
