import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import SQLStorage
import Testing

@testable import ClarionServer

/// "Accepted means kept" with three nodes on one PostgreSQL, while everything around them breaks.
@Suite(.serialized)
struct NodesCrashTests {
    private static let isLong = ProcessInfo.processInfo.environment["LONG_TESTS"] == "1"
    /// Three rounds of 50,000 devices; the long form has ten of 200,000.
    private static let rounds = isLong ? 10 : 3
    private static let devices = isLong ? 200_000 : 50_000

    /// What happened in a round, for the bound on repeats.
    private struct Trouble {
        /// Times at which a node may have lost what it had sent and not stored.
        var losses = 0
        var log: [String] = []

        mutating func note(_ event: String, losses: Int) {
            self.losses += losses
            log.append(event)
        }
    }

    @Test("nodes that are killed, cut off and slowed, and a database that restarts, lose nothing and repeat within the bound")
    func broadcast() async throws {
        let seed = SeededGenerator.newSeed()
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        try await ThrowAwayPostgreSQL.with { server in
            try await TemporaryFolder.use { folder in
                let shared = try await SharedPlaces.database(at: server).merging(SharedPlaces.bucket()) { $1 }
                let database = try #require(shared["CLARION_DATABASE_URL"]?.split(separator: "/").last?.prefix { $0 != "?" })
                let fleet = try await Fleet(folder: folder, size: Self.devices, shared: shared)
                var nodes: [TroubledNode] = []
                for number in 1...3 {
                    nodes.append(try await TroubledNode(number: number, fleet, at: server, database: String(database)))
                }
                for round in 1...Self.rounds {
                    try await self.round(round, nodes, fleet, server, &random)
                }
                for node in nodes { #expect(try await node.stop() == 0) }
                await fleet.apns.shutdown()
            }
        }
    }

    private func round(
        _ round: Int, _ nodes: [TroubledNode], _ fleet: Fleet, _ server: ThrowAwayPostgreSQL,
        _ random: inout SeededGenerator
    ) async throws {
        let before = fleet.apns.acceptanceCounts.values.reduce(0, +)
        let key = "round-\(round)"
        let answer = try await accepted(through: nodes, fleet, key: key)
        var trouble = Trouble()
        // PostgreSQL itself is restarted in two of the rounds.
        if round <= 2 {
            try await Task.sleep(for: .milliseconds(Int.random(in: 200...1_500, using: &random)))
            try await server.restart()
            trouble.note("the database restarted", losses: nodes.count)
        }
        for _ in 1...(Self.isLong ? 12 : 5) where try await !isComplete(answer, fleet) {
            try await happen(to: nodes, &trouble, &random)
        }
        let again = try await accepted(through: nodes, fleet, key: key)
        #expect(again == answer, "a repeat is the same send")
        let telemetry = try await eventually("round \(round) completes; \(trouble.log)", within: .seconds(300)) {
            let found = try? await self.telemetry(of: answer, fleet)
            return found?.state == .completed ? found : nil
        }
        let pushes = try fleet.acceptances(of: answer)
        let repeats = pushes.reduce(0, +) - Self.devices
        print("round \(round): \(repeats) repeats, \(trouble.log)")
        #expect(telemetry.outcomes == [.accepted: Self.devices], "each target counts once")
        #expect(!pushes.contains(0), "every device gets it")
        let settings = DispatchSettings()
        #expect(repeats <= trouble.losses * settings.slots * settings.window, "\(trouble.log)")
        let received = fleet.apns.acceptanceCounts.values.reduce(0, +) - before
        #expect(received == Self.devices + repeats, "nothing else was sent")
    }

    /// One thing that goes wrong, chosen by chance.
    private func happen(to nodes: [TroubledNode], _ trouble: inout Trouble, _ random: inout SeededGenerator) async throws {
        try await Task.sleep(for: .milliseconds(Int.random(in: 100...1_500, using: &random)))
        let node = nodes[Int.random(in: nodes.indices, using: &random)]
        let pause = Duration.milliseconds(Int.random(in: 100...3_000, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2:
            try await node.killAndStart(after: pause)
            trouble.note("node \(node.number) killed", losses: 1)
        case 3, 4:
            node.cut()
            trouble.note("node \(node.number) cut", losses: 1)
        case 5, 6:
            try await node.isolate(for: pause)
            trouble.note("node \(node.number) isolated", losses: 1)
        default:
            try await node.slow(by: .milliseconds(Int.random(in: 5...60, using: &random)), for: pause)
            trouble.note("node \(node.number) slowed", losses: 1)
        }
    }

    /// A backend that repeats its request until one of the nodes answers.
    private func accepted(through nodes: [TroubledNode], _ fleet: Fleet, key: String) async throws -> SendAnswer {
        var turn = 0
        return try await eventually("a node accepts the send") {
            turn += 1
            let address = nodes[turn % nodes.count].process.address
            var request = SendRequest(message: "Hello, fleet")
            request.audience = "fleet"
            let answer = try? await fleet.caller(at: address).call(
                "POST", APIRoute.notifications, json: request, headers: ["Idempotency-Key": key])
            guard let answer, answer.status == 201 else { return nil }
            return try answer.decoded(SendAnswer.self)
        }
    }

    private func isComplete(_ answer: SendAnswer, _ fleet: Fleet) async throws -> Bool {
        (try? await telemetry(of: answer, fleet))?.state == .completed
    }

    /// From the database itself, past the proxies.
    private func telemetry(of answer: SendAnswer, _ fleet: Fleet) async throws -> NotificationTelemetry? {
        let id = try #require(NotificationID(answer.trackingID))
        return try await NodeStorage.during(command: try fleet.options.settings()) { storage in
            try await storage.hubStores.telemetry.telemetry(of: id, in: storage.hub, at: storage.clock.now)
        }
    }
}
