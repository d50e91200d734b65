import ClarionTesting
import Foundation
import Logging
import RichPushModel
import SQLStorage
import StorageConformance
import Testing

@testable import PostgresDatabase
@testable import PushHub

extension PostgreSQLTests {
    @Suite("Stopping while the database says nothing")
    struct StopTests {
        /// A database behind a proxy that can hold what passes, with the proxy.
        private func held(_ body: (PostgresDatabase, TemporaryDatabase, FaultProxy) async throws -> Void) async throws {
            let store = try await TemporaryDatabase()
            let proxy = try await FaultProxy(.socket(store.server.socketPath))
            let url = "postgres://clarion@127.0.0.1:\(proxy.port)/\(store.name)?sslmode=disable"
            // So long that only the cancellation can be what ends a wait.
            var limits = TemporaryDatabase.limits
            (limits.statement, limits.queue) = (.seconds(300), .seconds(300))
            limits.grace = PostgresLimits().grace
            let database = try PostgresDatabase(DatabaseURL(url), limits: limits, logger: TemporaryDatabase.quiet)
            try await SchemaMigrator().migrate(database, at: Timestamp(seconds: 1))
            try await body(database, store, proxy)
            try await proxy.stop()
            database.close()
        }

        @Test(
            "a caller that is cancelled is answered within a second or so, though the connection hangs",
            .timeLimit(.minutes(10)))
        func cancelled() async throws {
            try await held { database, _, proxy in
                _ = try await database.number("SELECT 1")
                proxy.hold()
                let write = Task { try await database.write { try $0.script("SELECT 1") } }
                let read = Task { try await database.number("SELECT 1") }
                for _ in 1...100 { await Task.yield() }
                write.cancel()
                read.cancel()
                await #expect(throws: SQLFault.outcomeUnknown) { try await write.value }
                let error = await #expect(throws: SQLFault.self) { try await read.value }
                #expect(error != .outcomeUnknown, "a read leaves nothing unknown")
            }
        }

        @Test("a caller that is cancelled while all is well gets the answer")
        func well() async throws {
            let store = try await TemporaryDatabase()
            let gate = DispatchSemaphore(value: 0)
            let write = Task {
                try await store.database.write { connection in
                    gate.wait()
                    try connection.script("CREATE TABLE kept (id BIGINT)")
                }
            }
            write.cancel()
            gate.signal()
            try await write.value
            #expect(try await store.database.number("SELECT COUNT(*) FROM kept") == 0)
        }

        @Test(
            "a dispatcher that is asked to stop ends soon after its drain deadline, not after the database's",
            .timeLimit(.minutes(10)))
        func dispatcher() async throws {
            try await held { database, _, proxy in
                let hub = try await SQLHubStore(database).ensureHub(named: "test", at: SystemClock().now)
                let now = SystemClock().now
                let device = DeviceUpsert(
                    id: try #require(RecordID("a")), kind: .installation,
                    handle: DeviceToken(canonical: String(repeating: "A", count: 64)), tags: [])
                _ = try await SQLDeviceStore(database).upsert(device, in: hub, at: now - .seconds(1))
                let message = AcceptedMessage(body: Array(#"{"aps":{"alert":"a"}}"#.utf8), pushType: "alert", priority: 10)
                _ = try await SQLIntakeStore(database).accept(
                    AcceptedSend(
                        hub: hub, id: NotificationID(), message: message, audience: nil, enqueuedAt: now, dueAt: now,
                        slices: SlicePlan(audience: 1)))
                var settings = DispatchSettings()
                settings.drainDeadline = .milliseconds(200)
                let transport = ScriptedTransport()
                let dispatcher = Dispatcher(
                    queue: SQLSliceQueue(database), transport: transport, clock: .system, settings: settings,
                    logger: TemporaryDatabase.quiet)
                transport.beforeAnswer { proxy.hold() }
                async let end: Void = dispatcher.run()
                while transport.batches.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
                let started = ContinuousClock.now
                dispatcher.shutDown()
                await end
                #expect(ContinuousClock.now - started < .seconds(150), "the database's deadline is twice that")
            }
        }
    }
}
