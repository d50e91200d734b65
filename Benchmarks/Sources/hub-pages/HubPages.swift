import Foundation
import Logging
import PostgresDatabase
import PushHub
import RichPushModel
import SQLStorage
import SQLiteDatabase
import TagExpressions

/// `hub-pages DEVICES ROUNDS [URL MICROSECONDS]` fills a hub and reads the audiences of sends page by page, as the dispatcher does: in
/// SQLite, or in the empty PostgreSQL database of the URL with so much added to each round trip. Prints devices per second, of the clock
/// and of the processor.
///
/// `hub-pages fill DATABASE HUB DEVICES` fills a hub of a database file and does nothing else; with `followers` in place of `fill` the
/// devices are tokens of the Live Activity 1. With `mixed` and the address of a push service at the end they are `MixedDevices`.
@main
enum HubPages {
    /// In the past: a send reaches those who were there before it.
    private static let now = Timestamp(seconds: 1_700_000_000)
    /// As many as the dispatcher reads at once.
    private static let pageSize = 1_000

    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        if words.count >= 4, let count = Int(words[3]) {
            switch (words[0], words.count) {
            case ("fill", 4): return try await fill(words[1], hubName: words[2], count) { device($0, false) }
            case ("followers", 4): return try await fill(words[1], hubName: words[2], count, with: follower)
            case ("mixed", 5):
                let devices = MixedDevices(pushService: words[4])
                return try await fill(words[1], hubName: words[2], count) { devices.mixed(device($0, false), $0) }
            default: break
            }
        }
        let numbers = words.prefix(2).compactMap { Int($0) }
        guard numbers.count == 2, numbers[0] >= 1_000, numbers[1] > 0 else { usage() }
        switch words.count {
        case 2: try await measureSQLite(devices: numbers[0], rounds: numbers[1])
        case 4:
            guard let delay = UInt32(words[3]) else { usage() }
            let logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
            let database = try PostgresDatabase(DatabaseURL(words[2]), logger: logger)
            print("PostgreSQL, \(delay) µs added to each round trip")
            try await measure(database, devices: numbers[0], rounds: numbers[1], delay: delay)
        default: usage()
        }
    }

    private static func usage() -> Never {
        print(
            """
            usage: hub-pages DEVICES ROUNDS [URL MICROSECONDS] | fill|followers DATABASE HUB DEVICES
                             | mixed DATABASE HUB DEVICES URL
            """)
        exit(64)
    }

    private static func measureSQLite(devices: Int, rounds: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "clarion-pages-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        print("SQLite")
        let database = try SQLiteDatabase(path: folder.appending(path: "clarion.sqlite").path(), access: .server)
        try await measure(database, devices: devices, rounds: rounds, delay: 0)
    }

    /// The devices are in so many time zones, evenly, and of 41 one has none.
    private static let zones = 40

    /// Audiences by name, as sends that are due everywhere at once. `row` and `tenth` are independent of each other.
    private static let audiences: [(name: String, tags: String?)] = [
        ("all", nil), ("100 %", "all"), ("10 %", "tenth:3"), ("1 %", "part:42"), ("a || b", "tenth:1 || tenth:2"),
        ("20 tags", (0..<20).map { "part:\($0)" }.joined(separator: " || ")), ("a && b, 1 %", "tenth:3 && row:4"),
        ("!a", "!tenth:1"), ("(a || b) && !c", "(tenth:1 || tenth:2) && !row:4"),
    ]

    private static func measure(_ database: any SQLDatabase, devices: Int, rounds: Int, delay: UInt32) async throws {
        try await SchemaMigrator().migrate(database, at: now)
        let hub = try await SQLHubStore(database).ensureHub(named: "bench", at: now)
        let start = ContinuousClock.now
        try await fill(database, hub, devices) { device($0, true) }
        print("\(devices) devices, stored in \((ContinuousClock.now - start) / .seconds(1)) seconds")
        let read = delay > 0 ? DelayedDatabase(database, microseconds: delay) : database
        let plain = audiences.map { (name: $0.name, tags: $0.tags, isLocal: false) }
        let local = audiences.prefix(2).map { (name: "\($0.name), local time", tags: $0.tags, isLocal: true) }
        for (name, tags, isLocal) in plain + local {
            var perSecond: [Double] = []
            var perProcessorSecond: [Double] = []
            for _ in 0..<rounds {
                let (rate, processor) = try await self.read(read, hub, tags, isLocal: isLocal)
                perSecond.append(rate)
                perProcessorSecond.append(processor)
            }
            let median = { (values: [Double]) in Int(values.sorted()[values.count / 2]) }
            print("\(name): \(median(perSecond)) devices per second, \(median(perProcessorSecond)) per CPU second")
        }
        try database.close()
    }

    private static func fill(
        _ path: String, hubName: String, _ count: Int, with device: @escaping @Sendable (Int) -> DeviceUpsert
    ) async throws {
        let database = try SQLiteDatabase(path: path, access: .server)
        try await SchemaMigrator().migrate(database, at: now)
        let hub = try await SQLHubStore(database).ensureHub(named: hubName, at: now)
        try await fill(database, hub, count, with: device)
        try database.close()
    }

    private static func fill(
        _ database: any SQLDatabase, _ hub: HubID, _ count: Int, with device: @escaping @Sendable (Int) -> DeviceUpsert
    ) async throws {
        let store = SQLDeviceStore(database)
        for first in stride(from: 0, to: count, by: 500) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in first..<min(first + 500, count) {
                    let device = device(number)
                    group.addTask { _ = try await store.upsert(device, in: hub, at: now) }
                }
                try await group.waitForAll()
            }
        }
    }

    /// The record of a token, as an installation has one for each activity that it shows.
    private static func follower(_ number: Int) -> DeviceUpsert {
        var device = device(number, false, named: "follower")
        device.platform = InstallationToken.Kind.activity(id: "1").platform
        device.tags = [InstallationToken.Kind.tag(ofActivity: "1")].compactMap(\.self)
        return device
    }

    private static func device(_ number: Int, _ hasRow: Bool, named name: String = "device") -> DeviceUpsert {
        let digits = String(number, radix: 16, uppercase: true)
        let tags = ["all", "tenth:\(number % 10)", "part:\(number % 100)"] + (hasRow ? ["row:\(number / 10 % 10)"] : [])
        guard let id = RecordID("\(name)-\(number)") else { preconditionFailure("a name of letters and digits is an id") }
        var device = DeviceUpsert(
            id: id, kind: .registration,
            handle: DeviceToken(canonical: String(repeating: "0", count: 64 - digits.count) + digits),
            tags: tags.compactMap { Tag($0) })
        let zone = number / 7 % (zones + 1)
        if hasRow, zone < zones { device.timeZone = "Zone/\(zone)" }
        return device
    }

    /// Each zone at its own moment, all of which have come.
    private static var moments: ZoneMoments {
        ZoneMoments(
            wish: "bench",
            moments: Dictionary(uniqueKeysWithValues: (0..<zones).map { ("Zone/\($0)", now - .seconds(1800 * Int64($0))) }),
            otherwise: now - .seconds(900), notBefore: Timestamp(seconds: 0))
    }

    /// Every target of a send, and how fast they were read.
    private static func read(
        _ database: any SQLDatabase, _ hub: HubID, _ tag: String?, isLocal: Bool
    ) async throws -> (Double, Double) {
        let queue = SQLSliceQueue(database)
        let leases = try await leases(database, queue, hub, tag, isLocal: isLocal)
        var found = 0
        let (start, before) = (ContinuousClock.now, processorSeconds())
        for var lease in leases {
            while lease.cursor < lease.last {
                let request = PageRequest(lease: lease, now: now, limit: pageSize, scanLimit: 10_000, pendingLimit: 1_000)
                guard let page = try await queue.page(request), case .walk(let walk) = page.work else { break }
                found += walk.targets.count
                lease.cursor = walk.through
            }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return (Double(found) / seconds, Double(found) / (processorSeconds() - before))
    }

    /// A new send, and all its slices.
    private static func leases(
        _ database: any SQLDatabase, _ queue: SQLSliceQueue, _ hub: HubID, _ tag: String?, isLocal: Bool
    ) async throws -> [SliceLease] {
        let stores = NotificationHub.Stores(
            devices: SQLDeviceStore(database), intake: SQLIntakeStore(database), telemetry: SQLTelemetryStore(database))
        let sender = NotificationHub(
            id: hub, stores: stores, clock: StandingClock(), logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        let message = PushMessage(body: Array(#"{"aps":{"alert":"x"}}"#.utf8))
        var command = SendCommand(message: message, audience: try tag.map { try TagExpression(parsing: $0) })
        if isLocal { command.zones = moments }
        _ = try await sender.send(command)
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
