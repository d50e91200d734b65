import ClarionTesting
import Foundation
import PushHub
import RichPushModel
import SQLStorage
import SharedAccess
import Testing

@testable import ServerStorage

/// Three nodes on one PostgreSQL, each behind a proxy of its own, while everything around them breaks.
final class TroubledNodes {
    static let isLong = ProcessInfo.processInfo.environment["LONG_TESTS"] == "1"
    static let settings = DispatchSettings()

    let fleet: Fleet
    let ledger: PushLedger
    let nodes: [TroubledNode]
    let server: ThrowAwayPostgreSQL
    /// The name of their database.
    let database: String
    /// The database itself, past the proxies.
    let storage: NodeStorage
    /// The key to their hub, and its name.
    let rule: AccessRule
    let hubName: String
    var random: SeededGenerator
    /// How often a node may have lost what it had sent and not stored, since the last call of `forgive`.
    var losses = 0
    /// What happened since then.
    var log: [String] = []

    /// Starts three nodes with a fleet of so many devices, and ends them after the body.
    static func run(devices: Int, _ body: (TroubledNodes) async throws -> Void) async throws {
        let seed = SeededGenerator.newSeed()
        print("seed \(seed)")
        try await ThrowAwayPostgreSQL.with { server in
            try await TemporaryFolder.use { folder in
                let shared = try await SharedPlaces.database(at: server).merging(SharedPlaces.bucket()) { $1 }
                let fleet = try await Fleet(folder: folder, size: devices, shared: shared, unread: 2_000_000)
                let ledger = PushLedger()
                try await ledger.keep(fleet.apns) {
                    let nodes = try await TroubledNodes(fleet, ledger, at: server, seed: seed)
                    try await body(nodes)
                    for node in nodes.nodes { #expect(try await node.stop() == 0) }
                    await nodes.storage.close()
                }
                await fleet.apns.shutdown()
            }
        }
    }

    private init(_ fleet: Fleet, _ ledger: PushLedger, at server: ThrowAwayPostgreSQL, seed: UInt64) async throws {
        (self.fleet, self.ledger, self.server, random) = (fleet, ledger, server, SeededGenerator(seed: seed))
        let url = fleet.options.shared["CLARION_DATABASE_URL"]
        database = String(try #require(url?.split(separator: "/").last?.prefix { $0 != "?" }))
        var nodes: [TroubledNode] = []
        for number in 1...3 { nodes.append(try await TroubledNode(number: number, fleet, at: server, database: database)) }
        self.nodes = nodes
        let settings = try fleet.options.settings()
        hubName = settings.notifications.hubName
        storage = try await NodeStorage.open(settings, access: .command, clock: .system)
        rule = try await storage.hubs.rule(named: AccessRule.fullName, of: HubName(hubName))
    }
}
