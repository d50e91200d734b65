import ClarionTesting
import Foundation
import Logging
import PushHub
import RichPushModel
import SQLStorage
import Testing

@testable import ServerStorage

/// Schedules, cancels, expiries and dead tokens, with three nodes of which one is killed.
struct NodesPromiseTests {
    private func run(
        size: Int, nodes count: Int = 3, _ body: (_ nodes: [ServerProcess], _ fleet: Fleet) async throws -> Void
    ) async throws {
        try await TemporaryFolder.use { folder in
            let server = try await ThrowAwayPostgreSQL.ofProcess()
            let shared = try await SharedPlaces.database(at: server).merging(SharedPlaces.bucket()) { $1 }
            let fleet = try await Fleet(folder: folder, size: size, shared: shared)
            let nodes = count > 0 ? try await fleet.start(count) : []
            try await body(nodes, fleet)
            for node in nodes where node.isRunning { #expect(await node.terminate() == 0) }
            await fleet.apns.shutdown()
        }
    }

    private func completed(_ answer: SendAnswer, at address: String, _ fleet: Fleet) async throws -> SendStatus {
        try await eventually("it ends", within: .seconds(120)) {
            let status = try await fleet.status(of: answer, at: address)
            return ["completed", "expired", "cancelled"].contains(status.state) ? status : nil
        }
    }

    @Test("after a recall at one node at most one batch of each leased slice still leaves from any of them")
    func cancelled() async throws {
        let size = 30_000
        try await run(size: size) { nodes, fleet in
            let answer = try await fleet.send(through: nodes[0].address, key: "a")
            _ = try await eventually("pushes leave") { fleet.acceptedPushes > 0 ? true : nil }
            let recalled = try await fleet.caller(at: nodes[1].address).call(
                "DELETE", APIRoute.notification(answer.id), body: nil, headers: [:])
            #expect(recalled.status == 204)
            let taken = fleet.acceptedPushes
            for node in nodes { #expect(await node.terminate() == 0) }
            let settings = DispatchSettings()
            let most = min(SlicePlan.split, nodes.count * settings.slots) * settings.window
            #expect(fleet.acceptedPushes - taken <= most, "\(taken) before, \(fleet.acceptedPushes) at the end")
            // After a restart, no node resumes it.
            let before = fleet.acceptedPushes
            let again = try await fleet.start(number: 1)
            let id = try #require(NotificationID(answer.trackingID))
            let state = try await NodeStorage.during(command: try fleet.options.settings()) { storage in
                try await eventually("the slices are closed") {
                    let found = try await storage.hubStores.telemetry.telemetry(of: id, in: storage.hub, at: storage.clock.now)
                    return found?.state.isFinal == true ? found?.state : nil
                }
            }
            #expect(state == .cancelled)
            #expect(fleet.acceptedPushes == before)
            #expect(await again.terminate() == 0)
        }
    }

    @Test("a scheduled send fires once and not early, though a node is killed before it is due")
    func scheduled() async throws {
        let size = 500
        try await run(size: size) { nodes, fleet in
            let due = SystemClock().now + .seconds(15)
            let settings = try fleet.options.settings()
            let id = try await NodeStorage.during(command: settings) { storage in
                let hub = NotificationHub(
                    id: storage.hub, stores: storage.hubStores, clock: storage.clock,
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
                let message = PushMessage(body: Array(#"{"aps":{"alert":"Hi"}}"#.utf8), pushType: "alert")
                return try await hub.send(SendCommand(message: message, audience: nil, dueAt: due)).id
            }
            try #require(SystemClock().now < due, "the kill comes before it is due")
            nodes[Int.random(in: 0..<3)].kill()
            while true {
                let accepted = fleet.acceptedPushes
                guard SystemClock().now < due else { break }
                try #require(accepted == 0, "early")
                try await Task.sleep(for: .milliseconds(20))
            }
            let telemetry = try await NodeStorage.during(command: settings) { storage in
                try await eventually("it completes", within: .seconds(120)) {
                    let found = try await storage.hubStores.telemetry.telemetry(of: id, in: storage.hub, at: storage.clock.now)
                    return found?.state == .completed ? found : nil
                }
            }
            #expect(telemetry.outcomes == [.accepted: size])
            #expect(fleet.apns.acceptanceCounts.count == size)
            #expect(fleet.apns.acceptanceCounts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("what expires while no node works is counted as expired, once for each device, and nothing is pushed")
    func expired() async throws {
        let size = 300
        try await run(size: size, nodes: 0) { _, fleet in
            let api = try await fleet.start(number: 1, ["CLARION_ROLE": "api"])
            // The first call at a new node takes longer, because it looks at the password.
            #expect(try await fleet.caller(at: api.address).call("GET", APIRoute.me, body: nil, headers: [:]).status == 200)
            let expiry = SystemClock().now + .seconds(5)
            let answer = try await fleet.send(through: api.address, key: "a") { $0.expiresAt = expiry }
            _ = try await eventually("its time is up") { SystemClock().now > expiry ? true : nil }
            let workers = try await [fleet.start(number: 2), fleet.start(number: 3)]
            let status = try await completed(answer, at: api.address, fleet)
            #expect(status.state == "expired")
            #expect(status.outcomes == ["expired": size])
            #expect(fleet.acceptedPushes == 0)
            for node in workers + [api] { #expect(await node.terminate() == 0) }
        }
    }

    @Test("a token that one node learns is dead no other node pushes to again")
    func dead() async throws {
        let size = 60
        try await run(size: size) { nodes, fleet in
            let gone = (0..<10).map { fleet.apns.issueToken(device: "device-\($0)", topic: Fleet.topic) }
            for token in gone { fleet.apns.invalidate(token: token, reason: .unregistered, at: SystemClock().now + .seconds(60)) }
            let first = try await fleet.send(through: nodes[0].address, key: "a")
            #expect(try await completed(first, at: nodes[1].address, fleet).outcomes == ["accepted": size - 10, "gone": 10])
            let second = try await fleet.send(through: nodes[2].address, key: "b")
            #expect(try await completed(second, at: nodes[0].address, fleet).outcomes == ["accepted": size - 10])
            for token in gone { #expect(fleet.apns.requests(for: token).requests == 1) }
        }
    }
}
