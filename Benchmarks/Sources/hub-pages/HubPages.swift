import Foundation
import Logging
import PushHub
import RichPushModel
import SQLStorage
import SQLiteDatabase
import TagExpressions

/// `hub-pages DEVICES ROUNDS` fills a hub in SQLite and reads the audience of sends to all, to a tenth and to a hundredth of it, page
/// by page as the dispatcher does. Prints devices per second, of the clock and of the processor.
///
/// `hub-pages fill DATABASE HUB DEVICES` fills a hub of a database file and does nothing else.
@main
enum HubPages {
    /// In the past: a send reaches those who were there before it.
    private static let now = Timestamp(seconds: 1_700_000_000)
    /// As many as the dispatcher reads at once.
    private static let pageSize = 1_000

    static func main() async throws {
        if CommandLine.arguments.count == 5, CommandLine.arguments[1] == "fill", let count = Int(CommandLine.arguments[4]) {
            return try await fill(CommandLine.arguments[2], hubName: CommandLine.arguments[3], count)
        }
        let words = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        guard words.count == 2, words[0] >= 1_000, words[1] > 0 else {
            print("usage: hub-pages DEVICES ROUNDS | fill DATABASE HUB DEVICES")
            exit(64)
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "clarion-pages-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try SQLiteDatabase(path: folder.appending(path: "clarion.sqlite").path(), access: .server)
        try await SchemaMigrator().migrate(database, at: now)
        let hub = try await SQLHubStore(database).ensureHub(named: "bench", at: now)
        let start = ContinuousClock.now
        try await fill(database, hub, words[0])
        print("\(words[0]) devices, stored in \((ContinuousClock.now - start) / .seconds(1)) seconds")
        for (name, tag) in [("all", nil), ("100 %", "all"), ("10 %", "tenth:3"), ("1 %", "part:42")] {
            var best = (perSecond: [Double](), perProcessorSecond: [Double]())
            for _ in 0..<words[1] {
                let (rate, processor) = try await read(database, hub, tag)
                best.perSecond.append(rate)
                best.perProcessorSecond.append(processor)
            }
            let median = { (values: [Double]) in Int(values.sorted()[values.count / 2]) }
            print("\(name): \(median(best.perSecond)) devices per second, \(median(best.perProcessorSecond)) per CPU second")
        }
        try database.close()
    }

    private static func fill(_ path: String, hubName: String, _ count: Int) async throws {
        let database = try SQLiteDatabase(path: path, access: .server)
        try await SchemaMigrator().migrate(database, at: now)
        try await fill(database, SQLHubStore(database).ensureHub(named: hubName, at: now), count)
        try database.close()
    }

    private static func fill(_ database: SQLiteDatabase, _ hub: HubID, _ count: Int) async throws {
        let store = SQLDeviceStore(database)
        for first in stride(from: 0, to: count, by: 500) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in first..<min(first + 500, count) {
                    group.addTask { _ = try await store.upsert(device(number), in: hub, at: now) }
                }
                try await group.waitForAll()
            }
        }
    }

    private static func device(_ number: Int) -> DeviceUpsert {
        let digits = String(number, radix: 16, uppercase: true)
        let tags = ["all", "tenth:\(number % 10)", "part:\(number % 100)"]
        guard let id = RecordID("device-\(number)") else { preconditionFailure("a name of letters and digits is an id") }
        return DeviceUpsert(
            id: id, kind: .registration,
            handle: DeviceHandle(canonical: String(repeating: "0", count: 64 - digits.count) + digits),
            tags: tags.compactMap { Tag($0) })
    }

    /// Every target of a send, and how fast they were read.
    private static func read(_ database: SQLiteDatabase, _ hub: HubID, _ tag: String?) async throws -> (Double, Double) {
        let queue = SQLSliceQueue(database)
        let leases = try await leases(database, queue, hub, tag)
        var found = 0
        let (start, before) = (ContinuousClock.now, processorSeconds())
        for var lease in leases {
            while lease.cursor < lease.last {
                let request = PageRequest(lease: lease, now: now, limit: pageSize, scanLimit: 10_000, pendingLimit: 1_000)
                guard let page = try await queue.page(request), case .walk(let walk) = page.work else { break }
                found += walk.candidates.count
                lease.cursor = walk.through
            }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return (Double(found) / seconds, Double(found) / (processorSeconds() - before))
    }

    /// A new send, and all its slices.
    private static func leases(
        _ database: SQLiteDatabase, _ queue: SQLSliceQueue, _ hub: HubID, _ tag: String?
    ) async throws -> [SliceLease] {
        let stores = NotificationHub.Stores(
            devices: SQLDeviceStore(database), intake: SQLIntakeStore(database), telemetry: SQLTelemetryStore(database))
        let sender = NotificationHub(
            id: hub, stores: stores, clock: StandingClock(), logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        let message = PushMessage(body: Array(#"{"aps":{"alert":"x"}}"#.utf8))
        _ = try await sender.send(SendCommand(message: message, audience: try tag.map { try TagExpression(parsing: $0) }))
        return try await queue.lease(
            LeaseRequest(
                owner: "bench", now: now, until: now + .seconds(86_400), limit: 1_000, smallLimit: 1_000, largeLimit: 1_000,
                singleLimit: 1_000))
    }

    /// The moment of everything here.
    private struct StandingClock: ServiceClock {
        var now: Timestamp { HubPages.now }
        var uptime: Duration { .zero }
        func sleep(for duration: Duration) async throws {}
    }

    private static func processorSeconds() -> Double {
        var usage = rusage()
        // 0 is RUSAGE_SELF, which has another type on each platform.
        getrusage(0, &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}
