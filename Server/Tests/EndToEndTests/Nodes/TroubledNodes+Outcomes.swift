import Foundation
import PushHub
import RichPushModel
import SQLStorage
import Testing

/// What became of it.
extension TroubledNodes {
    /// From the database itself; absent while it is unavailable.
    func telemetry(of id: NotificationID) async -> NotificationTelemetry? {
        try? await storage.hubStores.telemetry.telemetry(of: id, in: storage.hub, at: storage.clock.now)
    }

    /// The telemetry of a send once it has ended.
    func ended(_ id: NotificationID) async throws -> NotificationTelemetry {
        try await eventually("the send ends; \(log)", within: .seconds(300)) {
            let found = await telemetry(of: id)
            return found?.state.isFinal == true ? found : nil
        }
    }

    /// Returns when no node has anything to do any more, or ever will.
    func awaitNoWork() async throws {
        _ = try await eventually("nothing is left to do; \(log)", within: .seconds(120)) {
            try? await storage.hubStores.telemetry.backlog(at: storage.clock.now) == DispatchBacklog() ? true : nil
        }
    }

    /// What the local APNs has accepted of these sends since the ledger was begun.
    func pushes(of sends: [NotificationID]) async throws -> FleetPushes {
        try await ledger.catchUp(with: fleet.apns)
        return FleetPushes(ledger.entries, of: sends, to: fleet)
    }

    /// How many pushes may have left again or may be missing from the counts: for each fault, a window of each slice that the node
    /// has leased. All of these sends' slices are large, and a node leases fewer large slices than slices in total.
    var bound: Int { losses * Self.settings.largeSlots * Self.settings.window }
}
