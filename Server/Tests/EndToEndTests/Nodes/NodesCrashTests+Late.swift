import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import Testing

extension NodesCrashTests {
    private static let devices = TroubledNodes.isLong ? 100_000 : 30_000
    /// How long what a node stores is on its way: longer than any of its leases.
    private static let delay: Duration = .seconds(30)

    @Test("what a living node stores after its slices have gone to others counts for no device twice, and all of it goes on")
    func late() async throws {
        try await TroubledNodes.run(devices: Self.devices) { nodes in
            let first = nodes.nodes[0]
            // No other node takes a slice until this one has some.
            for node in nodes.nodes.dropFirst() { try await node.isolate() }
            let answer = try await nodes.fleet.send(through: first.process.address, key: "late") { request in
                request.pushesPerSecond = Self.devices / 5
            }
            let id = try #require(NotificationID(answer.trackingID))
            _ = try await eventually("pushes leave") { nodes.ledger.count > 0 ? true : nil }
            nodes.note("node 1 stores what it stores \(Self.delay) later", losses: 1)
            for node in nodes.nodes.dropFirst() { try await node.rejoin() }
            try await first.slow(by: Self.delay, for: Self.delay + .seconds(5))
            let telemetry = try await nodes.ended(id)
            try await nodes.awaitNoWork()
            let pushes = try await nodes.pushes(of: [id])
            print("late: \(pushes.repeats(of: id)) repeats")
            #expect(telemetry.state == .completed && telemetry.outcomes == [.accepted: Self.devices], "each target counts once")
            #expect(pushes.unexpected == 0)
            try checkRepeats(of: id, pushes, nodes)
        }
    }
}
