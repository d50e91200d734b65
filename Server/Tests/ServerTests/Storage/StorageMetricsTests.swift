import AppBackend
import ClarionTesting
import Foundation
import HTTPService
import Logging
import PushHub
import RichPushModel
import SQLStorage
import SQLiteDatabase
import ServerObservability
import ServiceErrors
import Synchronization
import Testing

@testable import ServerComposition
@testable import ServerStorage

@Suite("Metrics of storage and upkeep")
struct StorageMetricsTests {
    private let registry = PrometheusMetrics()
    private let clock = ManualClock()

    /// The lines of `/metrics`, comments left out.
    private var lines: Set<String> {
        Set(registry.render().split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") })
    }

    @Test("transactions are timed, faults of the database are counted, and errors of a request are not")
    func database() async throws {
        let stub = StubDatabase()
        let database = MeasuredDatabase(stub, clock: clock, factory: registry)
        for reason in ["unavailable", "outcome_unknown", "damaged", "misconfigured", "defect"] {
            #expect(lines.contains(#"clarion_database_faults_total{reason="\#(reason)"} 0"#))
        }
        try await database.write { _ in }
        try await database.read { _ in }
        for error: any Error in [SQLFault.unavailable(reason: "gone"), SQLFault.outcomeUnknown, SQLFault.duplicate, Refusal()] {
            stub.fails(with: error)
            await #expect(throws: (any Error).self) { try await database.write { _ in } }
        }
        #expect(
            lines.isSuperset(of: [
                #"clarion_database_operation_duration_seconds_count{operation="read"} 1"#,
                #"clarion_database_operation_duration_seconds_count{operation="write"} 5"#,
                #"clarion_database_faults_total{reason="unavailable"} 1"#,
                #"clarion_database_faults_total{reason="outcome_unknown"} 1"#,
            ]))
        #expect(!lines.contains { $0.contains("Refusal") || $0.contains("duplicate") })
    }

    @Test("the upkeep gives a device the zone that it reported too soon, and counts that as no removal")
    func zones() async throws {
        let folder = NSTemporaryDirectory() + "clarion-zones-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let database = try SQLiteDatabase(path: folder + "/a.sqlite", access: .server)
        defer { try? database.close() }
        _ = try await SchemaMigrator().migrate(database, at: clock.now)
        let store = SQLDeviceStore(database)
        let hub = try await SQLHubStore(database).ensureHub(named: "hub", at: clock.now)
        var device = DeviceUpsert(id: try #require(RecordID("phone")), kind: .installation, handle: nil)
        for zone in ["Asia/Tokyo", "Europe/Berlin", "Europe/London"] {
            device.timeZone = zone
            _ = try await store.upsert(device, in: hub, at: clock.now)
        }
        clock.advance(by: DeviceZone.settling)
        #expect(try await Upkeep.devices(store, clock: clock, logger: Logger(label: "test")).turn() == 0)
        #expect(try await store.device(device.id, in: hub)?.zone.name == "Europe/London")
    }

    @Test("a database file counts the commits that changed something, and no connection is in use when nothing is done")
    func load() async throws {
        let folder = NSTemporaryDirectory() + "clarion-load-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let database = try SQLiteDatabase(path: folder + "/a.sqlite", access: .server)
        defer { try? database.close() }
        _ = try await SchemaMigrator().migrate(database, at: clock.now)
        let before = database.load.commits
        #expect(before > 0)
        _ = try await database.write { connection in
            try connection.run(SQLStatement("DELETE FROM hubs WHERE hub_id = $1"), [.integer(4_711)])
        }
        #expect(database.load.commits == before)
        #expect(database.load.reads == .init(size: 4, inUse: 0, waiting: 0))
        #expect(database.load.writes.size == 1)
        #expect(database.load.writes.waiting == 0)
    }

    @Test("operations of the content store are timed, its faults are counted, and errors of a request are not")
    func contents() async throws {
        let store = MeasuredContentStore(StubContents(), clock: clock, factory: registry)
        let upload = try await store.beginUpload(limit: 10)
        try await upload.write([1])
        await #expect(throws: ServiceError.self) { try await upload.write([]) }
        await #expect(throws: ServiceError.self) { try await upload.finish() }
        #expect(try await store.digests(after: nil, limit: 1).isEmpty)
        #expect(
            lines.isSuperset(of: [
                #"clarion_content_operation_duration_seconds_count{operation="begin"} 1"#,
                #"clarion_content_operation_duration_seconds_count{operation="write"} 2"#,
                #"clarion_content_operation_duration_seconds_count{operation="list"} 1"#,
                #"clarion_content_faults_total{operation="write"} 0"#, #"clarion_content_faults_total{operation="finish"} 1"#,
            ]))
    }

    @Test("a sweep notes when it succeeded and what it removed; one that fails leaves the moment as it was")
    func sweeps() async throws {
        let sweeps = SweepMetrics(factory: registry)
        let clock = clock
        let turns = TurnCount()
        let start = clock.now
        let upkeep = Upkeep(
            name: .telemetry, interval: .seconds(60), failure: "a test", clock: clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) {
            guard turns.next() == 1 else { throw SQLFault.outcomeUnknown }
            return 12
        }
        let task = Task { await upkeep.run(metrics: sweeps) }
        #expect(await eventually { turns.count == 1 && clock.sleeperCount == 1 })
        clock.advance(by: .seconds(60))
        #expect(await eventually { turns.count == 2 && clock.sleeperCount == 1 })
        task.cancel()
        await task.value
        #expect(
            lines == [
                #"clarion_sweep_last_success_timestamp_seconds{sweep="telemetry"} \#(start.milliseconds / 1000)"#,
                #"clarion_sweep_removed_total{sweep="telemetry"} 12"#,
            ])
    }

    @Test("a sweep that never succeeds is as old as the node")
    func sweepsFromTheStart() {
        SweepMetrics(factory: registry).began([.backend, .jobs], at: clock.now)
        #expect(
            lines == [
                #"clarion_sweep_last_success_timestamp_seconds{sweep="backend"} \#(clock.now.milliseconds / 1000)"#,
                #"clarion_sweep_last_success_timestamp_seconds{sweep="jobs"} \#(clock.now.milliseconds / 1000)"#,
            ])
    }

    @Test("jobs are counted while they run and when they end")
    func jobs() {
        let jobs = JobMetrics(factory: registry)
        #expect(lines.contains(#"clarion_jobs_ended_total{state="failed"} 0"#))
        jobs.note(.began)
        jobs.note(.began)
        jobs.note(.ended(.failed))
        jobs.note(.paused)
        #expect(
            lines == [
                "clarion_jobs_running 1", #"clarion_jobs_ended_total{state="completed"} 0"#,
                #"clarion_jobs_ended_total{state="failed"} 1"#,
            ])
    }
}

private struct Refusal: Error {}

private final class TurnCount: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }
    func next() -> Int {
        value.withLock { value in
            value += 1
            return value
        }
    }
}

/// A database that does nothing, or fails once.
private final class StubDatabase: SQLDatabase {
    private let error = Mutex<(any Error)?>(nil)

    let dialect = SQLDialect.sqlite
    let lastWriteFault: String? = nil
    var load: DatabaseLoad {
        DatabaseLoad(reads: .init(size: 1, inUse: 0, waiting: 0), writes: .init(size: 1, inUse: 0, waiting: 0), commits: 0)
    }

    func fails(with error: any Error) { self.error.withLock { $0 = error } }

    private func run<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result {
        if let error = error.withLock({ $0 }) { throw error }
        return try body(StubConnection())
    }

    func read<Result: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Result) async throws -> Result {
        try run(body)
    }

    func write<Result: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Result) async throws -> Result {
        try run(body)
    }

    func tableNames() async throws -> [String] { [] }

    func close() throws {}
}

private struct StubConnection: SQLConnection {
    let dialect = SQLDialect.sqlite
    func rows(_ statement: SQLStatement, _ values: [SQLValue]) throws -> [SQLRow] { [] }
    func run(_ statement: SQLStatement, _ values: [SQLValue]) throws -> Int { 0 }
    func script(_ text: String) throws {}
}

private struct StubContents: ContentStore {
    struct Upload: ContentUpload {
        func write(_ chunk: [UInt8]) async throws { if chunk.isEmpty { throw ServiceError(.contentTooLarge) } }
        func finish() async throws -> StoredBytes { throw ServiceError(.storageUnavailable) }
        func abort() async {}
    }

    func beginUpload(limit: Int64) async throws -> any ContentUpload { Upload() }
    func open(_ digest: ContentDigest) async throws -> (any ContentReader)? { nil }
    func remove(_ digest: ContentDigest, storedBefore moment: Timestamp) async throws -> Bool { true }
    func digests(after digest: ContentDigest?, limit: Int) async throws -> [ContentDigest] { [] }
}
