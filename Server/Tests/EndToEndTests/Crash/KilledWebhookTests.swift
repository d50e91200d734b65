import AppBackend
import ClarionTesting
import Foundation
import RichPushModel
import SharedAccess
import Testing

@testable import ServerStorage

/// Events for a receiver that fails, hangs and restarts, while nodes are killed and started again.
@Suite(.serialized)
struct KilledWebhookTests {
    private static let isLong = ProcessInfo.processInfo.environment["LONG_TESTS"] == "1"
    private static let devices = 2_000
    private static let sends = 40

    @Test(
        "no event is lost to a receiver that fails, hangs and restarts while nodes are killed, and a device's keep their order",
        .timeLimit(.minutes(isLong ? 90 : 20)), arguments: [1, 3])
    func killed(nodes count: Int) async throws {
        let events = (Self.isLong ? 1_000_000 : 100_000) / (count == 1 ? 1 : Self.isLong ? 10 : 30)
        var random = SeededGenerator()
        print("seed \(random.seed)")
        try await TemporaryFolder.use { folder in
            var shared = ["CLARION_WEBHOOK_NETWORKS": "127.0.0.0/8", "CLARION_WEBHOOK_RETRY_PAUSE": "20ms"]
            if count > 1 {
                let server = try await ThrowAwayPostgreSQL.ofProcess()
                shared.merge(try await SharedPlaces.database(at: server).merging(SharedPlaces.bucket()) { $1 }) { $1 }
            }
            let fleet = try await Fleet(folder: folder, size: 1, shared: shared)
            let receiver = WebhookReceiver(seed: random.seed)
            try await receiver.start()
            try await Self.fill(fleet, events, receiver)
            func start(_ number: Int) async throws -> ServerProcess {
                try await count == 1 ? ServerProcess(fleet.options) : fleet.start(number: number)
            }
            var nodes: [ServerProcess] = []
            for number in 1...count { nodes.append(try await start(number)) }
            var (kills, restarts, accepted) = (0, 0, [RichID]())
            let began = SystemClock().uptime
            while receiver.count < events + accepted.count || accepted.count < Self.sends {
                try #require(
                    SystemClock().uptime - began < .seconds(Self.isLong ? 5_000 : 1_000),
                    "\(receiver.count) of \(events + accepted.count) arrived")
                try await Task.sleep(for: .milliseconds(.random(in: 500...2_500, using: &random)))
                let victim = Int.random(in: 0..<count, using: &random)
                if accepted.count < Self.sends {
                    for _ in 0..<4 { accepted.append(try await Self.send(accepted.count, fleet, nodes[victim].address)) }
                }
                if kills < 12 || Bool.random(using: &random) && Self.isLong {
                    nodes[victim].kill()
                    await nodes[victim].waitUntilGone()
                    nodes[victim] = try await start(victim + 1)
                    kills += 1
                }
                if restarts < 4 {
                    try await receiver.stop()
                    try await Task.sleep(for: .milliseconds(200))
                    try await receiver.start()
                    restarts += 1
                }
            }
            for node in nodes { #expect(await node.terminate() == 0) }
            try Self.check(receiver, events, accepted, kills: kills, restarts: restarts)
            await fleet.apns.shutdown()
            try await receiver.stop()
        }
    }

    /// Stores a webhook and events of many devices in turn, as if these had reported faster than the receiver takes it.
    private static func fill(_ fleet: Fleet, _ events: Int, _ receiver: WebhookReceiver) async throws {
        let storage = try await NodeStorage.open(try fleet.options.settings(), access: .command, clock: .system)
        let store = storage.backendStore
        let now = SystemClock().now
        let salt: [UInt8] = Array(repeating: 7, count: 16)
        let draft = WebhookDraft(url: receiver.address, events: [.sendAccepted], description: "")
        let webhook = try await store.addWebhook(draft, state: .enabled, salt: salt, limit: 20, at: now, audit: nil)
        receiver.expect(storage.webhookSecrets.secret(salt: salt), failing: 30, hangsOf100_000: 20)
        for start in stride(from: 0, to: events, by: devices) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in start..<min(start + devices, events) {
                    var data = WebhookData()
                    (data.installation, data.targets) = ("device-\(number % devices)", number / devices)
                    let event = WebhookEvent(
                        cause: "\(number)", .receiptsRecorded, subject: "device-\(number % devices)", at: now, data: data)
                    group.addTask { try await store.add(event, to: webhook.id) }
                }
                try await group.waitForAll()
            }
        }
        await storage.close()
    }

    /// Sends until a node says that the send is accepted: its event must arrive.
    private static func send(_ number: Int, _ fleet: Fleet, _ address: String) async throws -> RichID {
        try await fleet.send(through: address, key: "send-\(number)").id
    }

    private static func check(
        _ receiver: WebhookReceiver, _ events: Int, _ accepted: [RichID], kills: Int, restarts: Int
    ) throws {
        let taken = receiver.taken
        let repeats = taken.count - receiver.count
        print("\(events) events, \(receiver.requests) requests, \(repeats) repeats, \(kills) kills, \(restarts) restarts")
        #expect(receiver.forged == 0)
        #expect(Set(taken.compactMap(\.data.send)).isSuperset(of: accepted.map { "\($0)" }))
        #expect(receiver.count == events + accepted.count, "an event was made twice")
        // At a kill at most those under way, and those that were not stored yet, are taken once more.
        #expect(repeats <= (kills + restarts + 1) * 100)
        var last: [String: Int] = [:]
        var disorder = 0
        for event in taken {
            guard let device = event.data.installation, let number = event.data.targets else { continue }
            let before = last[device, default: -1]
            if number > before + 1 { disorder += 1 }
            last[device] = max(before, number)
        }
        #expect(disorder == 0)
        #expect(last.count == devices)
    }
}
