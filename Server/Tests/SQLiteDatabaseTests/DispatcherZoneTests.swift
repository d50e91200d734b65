import CalendarTime
import ClarionTesting
import NIOConcurrencyHelpers
import RichPushModel
import SQLStorage
import ServiceErrors
import TagExpressions
import Testing

@testable import PushHub
@testable import StorageConformance

/// A hub that sends at the same time of day everywhere.
@Suite("A send by local time")
struct DispatcherZoneTests {
    private static let zones = TimeZoneDatabase()

    /// Forty zones with many offsets.
    private static let names = [
        "Pacific/Kiritimati", "Pacific/Auckland", "Pacific/Fiji", "Australia/Sydney", "Australia/Lord_Howe", "Australia/Adelaide",
        "Asia/Tokyo", "Asia/Seoul", "Asia/Shanghai", "Asia/Singapore", "Australia/Eucla", "Asia/Bangkok", "Asia/Yangon",
        "Asia/Dhaka", "Asia/Kathmandu", "Asia/Kolkata", "Asia/Karachi", "Asia/Kabul", "Asia/Dubai", "Asia/Tehran",
        "Europe/Moscow", "Africa/Nairobi", "Europe/Kyiv", "Africa/Cairo", "Europe/Berlin", "Europe/Paris", "Africa/Lagos",
        "Europe/London", "Atlantic/Azores", "America/Nuuk", "America/Sao_Paulo", "America/St_Johns", "America/Halifax",
        "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "America/Anchorage", "Pacific/Honolulu",
        "Pacific/Pago_Pago",
    ]

    private static func moment(_ time: String, in zone: String) throws -> Timestamp {
        let wish = try #require(LocalDateTime(time))
        let rules = try #require(zones.zone(zone))
        return Timestamp(seconds: try #require(rules.seconds(of: wish)))
    }

    private static func moments(
        _ time: String, _ names: [String], fallback: String = "UTC", notBefore: Timestamp = .init(milliseconds: 0),
        lifetime: Duration? = nil
    ) throws -> ZoneMoments {
        ZoneMoments(
            wish: time, moments: Dictionary(uniqueKeysWithValues: try names.map { ($0, try moment(time, in: $0)) }),
            otherwise: try moment(time, in: fallback), notBefore: notBefore, lifetime: lifetime)
    }

    private static func register(_ bench: HubBench, _ number: Int, zone: String?, tags: [String] = []) async throws {
        var device = DeviceUpsert(
            id: try #require(RecordID("device-\(number)")), kind: .installation, handle: HubBench.handle(number),
            tags: tags.compactMap(Tag.init))
        device.timeZone = zone
        _ = try await bench.hub.upsert(device)
    }

    private static func command(_ zones: ZoneMoments, to audience: String? = nil) throws -> SendCommand {
        var command = SendCommand(
            message: PushMessage(body: Array(#"{"aps":{"alert":"Good morning"}}"#.utf8)),
            audience: try audience.map { try TagExpression(parsing: $0) })
        command.zones = zones
        return command
    }

    /// When each device got its push, by its number.
    private final class Arrivals: Sendable {
        private let moments = NIOLockedValueBox<[Int: [Timestamp]]>([:])

        init(_ bench: HubBench) {
            let moments = moments
            bench.transport.beforeAnswering { batch in
                let now = bench.clock.now
                moments.withLockedValue { moments in
                    for target in batch.targets { moments[HubBench.number(target.handle), default: []].append(now) }
                }
            }
        }

        var all: [Int: [Timestamp]] { moments.withLockedValue { $0 } }
    }

    @Test("to 100,000 devices in 40 zones reaches each once, within its minute")
    func everywhere() async throws {
        let bench = try await HubBench(on: .sqlite)
        for start in stride(from: 0, to: 100_000, by: 1000) {
            try await withThrowingTaskGroup { group in
                for number in start..<start + 1000 {
                    let zone = number % 41 == 40 ? nil : Self.names[number % 41]
                    group.addTask { try await Self.register(bench, number, zone: zone, tags: ["news"]) }
                }
                try await group.waitForAll()
            }
        }
        let arrivals = Arrivals(bench)
        let zones = try Self.moments("2027-01-17T09:00", Self.names, fallback: "Europe/Berlin")
        let receipt = try await bench.hub.send(try Self.command(zones, to: "news"))
        #expect(try await bench.telemetry(receipt).state == .scheduled)
        #expect(try await bench.hub.timeZones(of: .tag(try #require(Tag("news")))) == Set(Self.names + [""]))
        bench.clock.advance(by: try Self.moment("2027-01-17T08:58", in: "Pacific/Kiritimati") - bench.clock.now)
        let end = try await bench.settle(receipt, bench.dispatcher(), step: .seconds(60))
        #expect(end.state == .completed && end.outcomes == [.accepted: 100_000])
        var (late, early, wrong) = (0, 0, 0)
        for (number, moments) in arrivals.all {
            let zone = number % 41 == 40 ? "Europe/Berlin" : Self.names[number % 41]
            let due = try #require(zones.moments[zone])
            if moments.count != 1 { wrong += 1 }
            if moments[0] < due { early += 1 }
            if moments[0] - due >= .seconds(60) { late += 1 }
        }
        #expect(arrivals.all.count == 100_000 && (late, early, wrong) == (0, 0, 0))
        #expect(try await bench.hub.waves(of: receipt.id).allSatisfy(\.isOver))
    }

    @Test("to many clocks of one moment reaches each of a large audience once, also a device that changed its clock meanwhile")
    func manyClocks() async throws {
        let bench = try await HubBench(on: .sqlite)
        let clocks = (0..<90).map { "Europe/Berlin=\(10 + $0 / 6):\($0 % 6)0-23:00" }
        for start in stride(from: 0, to: 11_000, by: 1000) {
            try await withThrowingTaskGroup { group in
                for number in start..<start + 1000 {
                    group.addTask { try await Self.register(bench, number, zone: clocks[number % 90], tags: ["news"]) }
                }
                try await group.waitForAll()
            }
        }
        let due = bench.clock.now + .seconds(600)
        let zones = ZoneMoments(
            wish: "quiet", moments: Dictionary(uniqueKeysWithValues: clocks.map { ($0, due) }), otherwise: bench.clock.now,
            notBefore: bench.clock.now)
        let arrivals = Arrivals(bench)
        let receipt = try await bench.hub.send(try Self.command(zones, to: "news"))
        for number in stride(from: 0, to: 11_000, by: 50) {
            try await Self.register(bench, number, zone: clocks[(number + 45) % 90], tags: ["news"])
        }
        bench.clock.advance(by: .seconds(601))
        let end = try await bench.settle(receipt, bench.dispatcher(), step: .seconds(1))
        #expect(end.outcomes == [.accepted: 11_000])
        #expect(arrivals.all.count == 11_000 && arrivals.all.values.allSatisfy { $0.count == 1 })
        let waves = try await bench.hub.waves(of: receipt.id)
        #expect(waves.count == 6 && waves.allSatisfy { $0.moment - due < .milliseconds(10) })
    }

    @Test("zones of one moment are set apart by milliseconds, but for what is due at once or with all other zones")
    func staggered() throws {
        let (now, later) = (Timestamp(seconds: 1_000), Timestamp(seconds: 2_000))
        var moments = Dictionary(uniqueKeysWithValues: (0..<50).map { ("Zone/\($0 + 10)", later) })
        for number in 0..<50 { moments["Now/\(number)"] = now }
        let zones = ZoneMoments(wish: "", moments: moments, otherwise: nil, notBefore: now)
        let apart = ZoneMoments(wish: "", moments: moments, otherwise: now, notBefore: now).staggered(by: 20)
        #expect(apart.waves.map { $0.moment - later } == [now - later, .zero, .milliseconds(1), .milliseconds(2)])
        #expect(apart.waves.map(\.zones.count) == [51, 20, 20, 10])
        // Without others, those that come are due with the last.
        #expect(zones.staggered(by: 20).waves.map(\.zones.count) == [50, 51])
    }

    @Test("counts those whose time had passed when it was asked for as expired, and sends to the others")
    func passed() async throws {
        let bench = try await HubBench()
        for (number, zone) in ["Asia/Tokyo", "Europe/Berlin", "America/New_York"].enumerated() {
            try await Self.register(bench, number, zone: zone)
        }
        let arrivals = Arrivals(bench)
        // 08:00 UTC on the day: it is past nine in Tokyo, nine in Berlin, and early in New York.
        bench.clock.advance(by: try Self.moment("2027-01-17T08:00", in: "UTC") - bench.clock.now)
        let zones = try Self.moments(
            "2027-01-17T09:00", ["Asia/Tokyo", "Europe/Berlin", "America/New_York"], notBefore: bench.clock.now)
        let receipt = try await bench.hub.send(try Self.command(zones))
        let end = try await bench.settle(receipt, bench.dispatcher(), step: .seconds(60))
        #expect(end.outcomes == [.expired: 1, .accepted: 2] && end.state == .expired)
        #expect(arrivals.all.keys.sorted() == [1, 2])
    }

    @Test("that begins late, because no node ran, is sent late everywhere and not dropped")
    func late() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, 1, zone: "Asia/Tokyo")
        try await Self.register(bench, 2, zone: "America/New_York")
        let zones = try Self.moments(
            "2027-01-17T09:00", ["Asia/Tokyo", "America/New_York"], notBefore: bench.clock.now)
        let receipt = try await bench.hub.send(try Self.command(zones))
        bench.clock.advance(by: .seconds(4 * 86_400))
        let end = try await bench.settle(receipt, bench.dispatcher())
        #expect(end.state == .completed && end.outcomes == [.accepted: 2])
    }

    @Test("with a lifetime is worth sending for that long in each zone")
    func lifetime() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, 1, zone: "Asia/Tokyo")
        try await Self.register(bench, 2, zone: "America/New_York")
        let zones = try Self.moments("2027-01-17T09:00", ["Asia/Tokyo", "America/New_York"], lifetime: .seconds(3600))
        let receipt = try await bench.hub.send(try Self.command(zones))
        bench.clock.advance(by: try Self.moment("2027-01-17T10:00", in: "Asia/Tokyo") - bench.clock.now)
        let end = try await bench.settle(receipt, bench.dispatcher(), step: .seconds(60))
        #expect(end.outcomes == [.expired: 1, .accepted: 1])
        let header = try #require(bench.transport.batches.first?.headers.first)
        #expect(header.expiration == zones.moments["America/New_York"].map { $0.seconds + 3600 })
    }

    @Test("reaches a device in a zone that it did not know with its last wave")
    func newZone() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, 1, zone: "Asia/Tokyo")
        try await Self.register(bench, 2, zone: "America/New_York")
        var zones = try Self.moments("2027-01-17T09:00", ["Asia/Tokyo", "America/New_York"])
        zones.otherwise = nil
        let receipt = try await bench.hub.send(try Self.command(zones))
        try await Self.register(bench, 3, zone: "Europe/Berlin")
        let arrivals = Arrivals(bench)
        bench.clock.advance(by: try #require(zones.moments["Asia/Tokyo"]) - bench.clock.now)
        let end = try await bench.settle(receipt, bench.dispatcher(), step: .seconds(60))
        #expect(end.outcomes == [.accepted: 3])
        #expect(arrivals.all[3] == arrivals.all[2] && arrivals.all[1] != arrivals.all[2])
    }

    @Test("that is due now in every zone is cut as any other send")
    func atOnce() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, 1, zone: "Asia/Tokyo")
        let now = bench.clock.now
        let zones = ZoneMoments(wish: "quiet", moments: ["Asia/Tokyo": now], otherwise: nil, notBefore: now)
        let receipt = try await bench.hub.send(try Self.command(zones))
        #expect(receipt.targets == 1)
        #expect(try await bench.hub.waves(of: receipt.id).isEmpty)
        #expect(try await bench.settle(receipt, bench.dispatcher()).outcomes == [.accepted: 1])
    }

    @Test("keeps its pace in the minute that many zones share")
    func pace() async throws {
        let bench = try await HubBench()
        let alike = ["Europe/Berlin", "Europe/Paris", "Africa/Lagos"]
        for number in 0..<30 { try await Self.register(bench, number, zone: alike[number % 3]) }
        let arrivals = Arrivals(bench)
        var command = try Self.command(try Self.moments("2027-01-17T09:00", alike, fallback: "Europe/Berlin"))
        command.pushesPerSecond = 2
        let receipt = try await bench.hub.send(command)
        bench.clock.advance(by: try Self.moment("2027-01-17T09:00", in: "Europe/Berlin") - bench.clock.now)
        let end = try await bench.settle(receipt, bench.dispatcher(), step: .seconds(1))
        #expect(end.outcomes == [.accepted: 30])
        let moments = arrivals.all.values.flatMap(\.self).sorted()
        let (first, last) = (try #require(moments.first), try #require(moments.last))
        #expect(last - first >= .seconds(13))
    }

    @Test("names each device that got nothing, in pages, and finds it by its record")
    func failures() async throws {
        let bench = try await HubBench { _, _ in .rejected(reason: "BadTopic") }
        let names = Array(Self.names.prefix(12))
        for (number, name) in names.enumerated() { try await Self.register(bench, number, zone: name) }
        let zones = try Self.moments("2027-01-17T09:00", names)
        let receipt = try await bench.hub.send(try Self.command(zones))
        let end = try await bench.settle(receipt, bench.dispatcher(), step: .seconds(600))
        #expect(end.outcomes == [.rejected: 12])
        var (found, place): (Set<RecordID>, SliceKey) = ([], .beforeAll)
        while let failure = try await bench.hub.failures(of: receipt.id, outcome: nil, after: place, limit: 1).first {
            if let record = failure.record { found.insert(record) }
            place = failure.key
        }
        #expect(found.count == 12)
        for record in found {
            let before = SliceKey(SliceKey(of: record).number - 1)
            let next = try await bench.hub.failures(of: receipt.id, outcome: nil, after: before, limit: 1)
            #expect(next.map(\.record) == [record])
        }
    }

    @Test("is one send for its idempotency key, also when a retry knows of other zones")
    func repeats() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, 1, zone: "Asia/Tokyo")
        var command = try Self.command(try Self.moments("2027-01-17T09:00", ["Asia/Tokyo"]))
        command.idempotencyKey = "key"
        let first = try await bench.hub.send(command)
        command.zones = try Self.moments("2027-01-17T09:00", ["Asia/Tokyo", "Asia/Seoul"])
        let second = try await bench.hub.send(command)
        #expect(second.id == first.id && second.isRepeat)
        command.zones = try Self.moments("2027-01-17T10:00", ["Asia/Tokyo"])
        await #expect(throws: ServiceError.self) { try await bench.hub.send(command) }
    }

    @Test("keeps the moments of its waves when the waits of a clock that was set are shortened")
    func repair() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, 1, zone: "Asia/Tokyo")
        try await Self.register(bench, 2, zone: "America/New_York")
        let zones = try Self.moments("2027-01-17T09:00", ["Asia/Tokyo", "America/New_York"], fallback: "Asia/Tokyo")
        // The first wave is due at the very moment, so the send is not scheduled.
        bench.clock.advance(by: try #require(zones.moments["Asia/Tokyo"]) - bench.clock.now)
        let receipt = try await bench.hub.send(try Self.command(zones))
        #expect(try await bench.telemetry(receipt).state == .accepted)
        _ = try await SQLWaitRepair(bench.store.database, lease: .seconds(60)).run(at: bench.clock.now)
        let arrivals = Arrivals(bench)
        let end = try await bench.settle(receipt, bench.dispatcher(), step: .seconds(60))
        #expect(end.outcomes == [.accepted: 2])
        let (arrived, due) = (try #require(arrivals.all[2]?.first), try #require(zones.moments["America/New_York"]))
        #expect(arrived >= due)
    }

    @Test("is refused to handles, to templates and with another time")
    func refused() async throws {
        let bench = try await HubBench()
        let zones = try Self.moments("2027-01-17T09:00", ["Asia/Tokyo"])
        var direct = try Self.command(zones)
        direct.recipients = .handles([HubBench.handle(1)])
        var template = try Self.command(zones)
        template.format = .template
        var scheduled = try Self.command(zones)
        scheduled.dueAt = bench.clock.now + .seconds(9)
        for command in [direct, template, scheduled] {
            await #expect(throws: ServiceError.self) { try await bench.hub.send(command) }
        }
    }
}
