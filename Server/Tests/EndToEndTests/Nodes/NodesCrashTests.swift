import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import Testing

/// "Accepted means kept" with three nodes on one PostgreSQL, while everything around them breaks.
@Suite(.serialized)
struct NodesCrashTests {
    /// Three rounds of 50,000 devices; the long form has ten of 200,000.
    private static let rounds = TroubledNodes.isLong ? 10 : 3
    private static let devices = TroubledNodes.isLong ? 200_000 : 50_000

    @Test("nodes that are killed, cut off and slowed, and a database that restarts, lose nothing and repeat within the bound")
    func broadcast() async throws {
        try await TroubledNodes.run(devices: Self.devices) { nodes in
            for round in 1...Self.rounds { try await self.round(round, nodes) }
        }
    }

    private func round(_ round: Int, _ nodes: TroubledNodes) async throws {
        nodes.forgive()
        nodes.ledger.forget()
        let before = nodes.fleet.accepted
        let key = "round-\(round)"
        let id = try await nodes.send(key: key)
        // PostgreSQL itself is restarted in two of the rounds.
        if round <= 2 {
            try await Task.sleep(for: nodes.pause(200...1_500))
            try await nodes.restartDatabase()
        }
        for _ in 1...(TroubledNodes.isLong ? 12 : 5) where await nodes.telemetry(of: id)?.state != .completed {
            try await nodes.happen(length: TroubledNodes.isLong ? 3_000 : 2_000)
        }
        #expect(try await nodes.send(key: key) == id, "a retried request is the same send")
        let telemetry = try await nodes.ended(id)
        let pushes = try await nodes.pushes(of: [id])
        print("round \(round): \(pushes.repeats(of: id)) repeats, \(nodes.log)")
        #expect(telemetry.state == .completed && telemetry.outcomes == [.accepted: Self.devices], "each target counts once")
        #expect(pushes.unexpected == 0, "a repeat has the id of the first, and nothing else was sent")
        // Three ways to count: by token at the local APNs, by outcome in the database, by id in what was sent.
        let tallied = telemetry.outcomes.values.reduce(0, +)
        #expect(nodes.fleet.accepted - before == tallied + pushes.repeats(of: id), "what was received are tallies and repeats")
        try checkRepeats(of: id, pushes, nodes)
    }

    /// Every device got it, and again only as often as what happened explains.
    func checkRepeats(of id: NotificationID, _ pushes: FleetPushes, _ nodes: TroubledNodes) throws {
        let counts = pushes.counts(of: id)
        #expect(!counts.contains(0), "every device gets it")
        #expect(pushes.repeats(of: id) <= nodes.bound, "\(nodes.log)")
        #expect(counts.allSatisfy { $0 <= 1 + nodes.losses }, "a device gets it again only for another loss; \(nodes.log)")
        // What is past the cursor of one slice is all that a loss can repeat of it.
        let bySlice = pushes.repeats(of: id, in: SlicePlan(audience: counts.count))
        #expect(bySlice.values.allSatisfy { $0 <= nodes.losses * TroubledNodes.settings.window }, "\(bySlice), \(nodes.log)")
    }
}
