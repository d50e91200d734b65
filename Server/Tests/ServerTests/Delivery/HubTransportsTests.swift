import ClarionTesting
import Foundation
import Logging
import PushHub
import RichPushModel
import SQLStorage
import ServiceErrors
import SharedAccess
import Synchronization
import Testing

@testable import ServerDelivery
@testable import ServerStorage

@Suite("Pushes go out with the credential of their hub")
struct HubTransportsTests {
    /// Remembers which way a batch took.
    private final class Ways: Sendable {
        private let entries = Mutex<[String]>([])
        var all: [String] { entries.withLock { $0 } }
        func note(_ word: String) { entries.withLock { $0.append(word) } }
    }

    private struct Way: PushTransport {
        let name: String
        let ways: Ways

        func send(_ batch: PushBatch) async -> PushOutcomes {
            ways.note(name)
            return PushOutcomes(repeating: .accepted, count: batch.targets.count)
        }
    }

    /// A database whose reads take a while, on the clock of the test.
    private final class SlowDatabase: SQLDatabase {
        private let inner: any SQLDatabase
        private let clock: ManualClock
        private let delay = Mutex(Duration.zero)

        init(_ inner: any SQLDatabase, clock: ManualClock) { (self.inner, self.clock) = (inner, clock) }

        func slow(by duration: Duration) { delay.withLock { $0 = duration } }

        var dialect: SQLDialect { inner.dialect }
        var lastWriteFault: String? { inner.lastWriteFault }
        func tableNames() async throws -> [String] { try await inner.tableNames() }
        func close() throws { try inner.close() }

        func read<Result: Sendable>(
            _ body: @escaping @Sendable (any SQLConnection) throws -> Result
        ) async throws -> Result {
            clock.advance(by: delay.withLock { $0 })
            return try await inner.read(body)
        }

        func write<Result: Sendable>(
            _ body: @escaping @Sendable (any SQLConnection) throws -> Result
        ) async throws -> Result { try await inner.write(body) }
    }

    private static func credential(_ topic: String) -> HubAPNsCredential {
        HubAPNsCredential(
            identity: .token(key: "key", keyID: "KEYKEYKEY0", teamID: "TEAMTEAM00"), topic: topic, environment: .production)
    }

    private static func batch(_ hub: HubID) -> PushBatch {
        let target = PushBatch.Target(handle: DeviceToken(canonical: String(repeating: "A", count: 64)), pushID: PushID(UUID()))
        return PushBatch(hub: hub, bodies: [[]], headers: [], targets: [target, target])
    }

    private func withTransports(
        readsTake delay: Duration = .zero,
        _ body: (HubTransports, HubRegistry, HubCatalog, Ways, ManualClock) async throws -> Void
    ) async throws {
        let folder = NSTemporaryDirectory() + "clarion-ways-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = try #require(SettingsFixture().read().settings)
        settings.dataDirectory = folder
        let clock = ManualClock()
        let storage = try await NodeStorage.open(settings, access: .server, clock: clock)
        defer { try? storage.database.close() }
        let slow = SlowDatabase(storage.database, clock: clock)
        let catalog = HubCatalog(store: SQLHubStore(slow), box: storage.box, clock: clock)
        let ways = Ways()
        let transports = HubTransports(
            catalog: catalog, node: [.apns: HubTransports.Made(transport: Way(name: "node", ways: ways)) { _ in }],
            common: [.fcmv1: HubTransports.Made(transport: Way(name: "android", ways: ways)) { _ in }], clock: clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, closeTime: .seconds(3)
        ) { credential in
            let topic = if case .browser(let pair) = credential { pair.subject } else { credential.apns?.topic }
            guard let topic, topic != "bad" else { throw ServiceError(.invalidField, "no topic") }
            return HubTransports.Made(transport: Way(name: topic, ways: ways)) { ways.note("closed \(topic) within \($0)") }
        }
        // Without a look at credentials: nothing here is signed with one.
        let registry = HubRegistry(store: SQLHubStore(storage.database), box: storage.box, clock: clock)
        slow.slow(by: delay)
        try await body(transports, registry, catalog, ways, clock)
    }

    @Test("without keys for Web Push a batch for browsers has no transport, and never takes the way to APNs")
    func browsers() async throws {
        try await withTransports { transports, _, _, ways, _ in
            var batch = Self.batch(HubID(1))
            batch.platform = .browser
            #expect(await transports.send(batch) == PushOutcomes(repeating: .unsupported, count: 2))
            #expect(ways.all.isEmpty)
        }
    }

    @Test("a hub's own keys for browsers carry its browsers, and its phones keep the way of the node")
    func ownKeys() async throws {
        try await withTransports { transports, registry, _, ways, _ in
            let pair = HubBrowserCredential(subject: "keys", publicKey: "public", privateKey: "private")
            let hub = try await registry.create(try HubRegistry.name("web"), HubChange(credentials: [.set(.browser(pair))]))
            var batch = Self.batch(hub.id)
            _ = await transports.send(batch)
            batch.platform = .browser
            _ = await transports.send(batch)
            #expect(ways.all == ["node", "keys"])
        }
    }

    @Test("hubs with a service account share one transport for Android, under both names of Firebase; others have none")
    func android() async throws {
        try await withTransports { transports, registry, _, ways, _ in
            let account = HubFCMCredential(projectID: "shop", clientEmail: "a@shop.example", privateKey: "key")
            let own = try await registry.create(try HubRegistry.name("own"), HubChange(credentials: [.set(.fcm(account))]))
            for platform in [Platform.fcmv1, .gcm] {
                var batch = Self.batch(own.id)
                batch.platform = platform
                #expect(await transports.send(batch) == [.accepted, .accepted])
            }
            var batch = Self.batch(HubID(1))
            batch.platform = .fcmv1
            #expect(await transports.send(batch) == PushOutcomes(repeating: .unsupported, count: 2))
            #expect(ways.all == ["android", "android"])
        }
    }

    @Test("a push for the kinds of Apple's tokens takes the hub's way to APNs")
    func tokenKinds() async throws {
        try await withTransports { transports, registry, _, ways, _ in
            let own = try await registry.create(
                try HubRegistry.name("own-key"), HubChange(credentials: [.set(.apns(Self.credential("first")))]))
            var batch = Self.batch(own.id)
            batch.platform = Platform(rawValue: "apns.start")
            _ = await transports.send(batch)
            #expect(ways.all == ["first"])
        }
    }

    @Test("a batch that had to wait for its hub's credential does not leave late, and one for which it was read before leaves")
    func slowStorage() async throws {
        try await withTransports(readsTake: .seconds(3)) { transports, _, _, ways, clock in
            let hub = HubID(1)
            let late = await transports.send(Self.batch(hub))
            #expect(late == PushOutcomes(repeating: .notSent(reason: "storage is slow"), count: 2))
            #expect(ways.all.isEmpty)
            clock.advance(by: .seconds(5))
            await transports.prepare(for: hub, on: .apns)
            #expect(await transports.send(Self.batch(hub)) == [.accepted, .accepted] && ways.all == ["node"])
        }
    }

    @Test("a hub with a credential uses it, one without uses the node's, and a change counts after five seconds")
    func choice() async throws {
        try await withTransports { transports, registry, _, ways, clock in
            let own = try await registry.create(
                try HubRegistry.name("own-key"), HubChange(credentials: [.set(.apns(Self.credential("first")))]))
            let plain = try await registry.create(try HubRegistry.name("plain"))
            #expect(await transports.send(Self.batch(own.id)) == [.accepted, .accepted])
            _ = await transports.send(Self.batch(plain.id))
            _ = await transports.send(Self.batch(HubID(1)))
            #expect(ways.all == ["first", "node", "node"])
            _ = try await registry.update(own.name, with: HubChange(credentials: [.set(.apns(Self.credential("second")))]))
            _ = await transports.send(Self.batch(own.id))
            clock.advance(by: .seconds(5))
            _ = await transports.send(Self.batch(own.id))
            _ = try await registry.update(own.name, with: HubChange(credentials: [.remove(.apns)]))
            clock.advance(by: .seconds(5))
            _ = await transports.send(Self.batch(own.id))
            #expect(ways.all == ["first", "node", "node", "first", "second", "node"])
        }
    }

    @Test("a credential that cannot be used waits for the operator, and stops no other hub")
    func unusable() async throws {
        try await withTransports { transports, registry, _, ways, _ in
            let bad = try await registry.create(
                try HubRegistry.name("bad"), HubChange(credentials: [.set(.apns(Self.credential("bad")))]))
            let good = try await registry.create(
                try HubRegistry.name("good"), HubChange(credentials: [.set(.apns(Self.credential("good")))]))
            let outcomes = await transports.send(Self.batch(bad.id))
            #expect(outcomes.count == 2)
            for outcome in outcomes {
                guard case .misconfigured = outcome else {
                    Issue.record("\(outcome)")
                    continue
                }
            }
            #expect(await transports.send(Self.batch(good.id)) == [.accepted, .accepted])
            #expect(ways.all == ["good"])
        }
    }

    @Test("unused clients are closed, and all of them at the end, each within its time")
    func closing() async throws {
        try await withTransports { transports, registry, _, ways, clock in
            let one = try await registry.create(
                try HubRegistry.name("one"), HubChange(credentials: [.set(.apns(Self.credential("one")))]))
            let two = try await registry.create(
                try HubRegistry.name("two"), HubChange(credentials: [.set(.apns(Self.credential("two")))]))
            _ = await transports.send(Self.batch(one.id))
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await transports.run() }
                #expect(await eventually { clock.sleeperCount > 0 })
                clock.advance(by: HubTransports.idleTime)
                #expect(await eventually { ways.all.contains("closed one within 3.0 seconds") })
                _ = await transports.send(Self.batch(two.id))
                group.cancelAll()
            }
            #expect(ways.all == ["one", "closed one within 3.0 seconds", "two", "closed two within 3.0 seconds"])
        }
    }
}
