import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import Testing

extension NodesCrashTests {
    private static let devices = TroubledNodes.isLong ? 30_000 : 12_000
    private static let rounds = TroubledNodes.isLong ? 12 : 3
    private static let pace = devices / 3

    @Test("what has expired leaves no more, and whom it has not reached counts as expired, whatever breaks meanwhile")
    func expiry() async throws {
        try await TroubledNodes.run(devices: Self.devices) { nodes in
            for round in 1...Self.rounds { try await self.expire(round, nodes) }
        }
    }

    /// A send that needs three seconds and has about half of them.
    private func expire(_ round: Int, _ nodes: TroubledNodes) async throws {
        nodes.forgive()
        nodes.ledger.forget()
        try await nodes.awaitReady()
        let expiry = SystemClock().now + nodes.pause(1_000...2_000)
        let id = try await nodes.send(key: "round-\(round)") { request in
            request.pushesPerSecond = Self.pace
            request.expiresAt = expiry
        }
        _ = try await eventually("pushes leave") { nodes.ledger.count > 0 || SystemClock().now > expiry ? true : nil }
        if round == 1 { try await killAll(nodes) } else if round == 2 { try await nodes.restartDatabase() }
        while SystemClock().now < expiry { try await nodes.happen(wait: 300, length: 1_000) }
        let telemetry = try await nodes.ended(id)
        let pushes = try await nodes.pushes(of: [id])
        let reached = pushes.reached(by: id)
        let late = pushes.late(id, after: expiry, in: SlicePlan(audience: Self.devices, pushesPerSecond: Self.pace))
        print("\(reached) devices reached, late \(late), \(telemetry.outcomes), \(nodes.log)")
        #expect(pushes.unexpected == 0)
        // Each slice is in one node's hands: what was leaving when the time was up is a window at most.
        #expect(late.values.allSatisfy { $0 <= TroubledNodes.settings.window }, "\(late), \(nodes.log)")
        let (accepted, expired) = (telemetry.outcomes[.accepted] ?? 0, telemetry.outcomes[.expired] ?? 0)
        #expect(telemetry.state == .expired)
        #expect(expired > 0)
        #expect(accepted + expired == Self.devices && telemetry.outcomes.count <= 2, "\(telemetry.outcomes)")
        // Whom it reached just before a loss may be found expired afterwards.
        #expect((max(reached - nodes.bound, 0)...reached).contains(accepted), "\(accepted) of \(reached), \(nodes.log)")
        #expect(pushes.repeats(of: id) <= nodes.bound)
    }

    /// No node runs when it expires.
    private func killAll(_ nodes: TroubledNodes) async throws {
        for node in nodes.nodes { await nodes.kill(node) }
        try await Task.sleep(for: nodes.pause(100...2_500))
        for node in nodes.nodes { try await node.start() }
    }
}
