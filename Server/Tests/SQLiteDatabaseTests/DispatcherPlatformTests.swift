import ClarionTesting
import NIOConcurrencyHelpers
import RichPushModel
import ServiceErrors
import StorageConformance
import TagExpressions
import Testing

@testable import PushHub

/// A hub that sends to phones and browsers at once.
@Suite("A send to every platform")
struct DispatcherPlatformTests {
    private static func register(
        _ bench: HubBench, _ number: Int, on platform: Platform, tags: [String] = [], zone: String? = nil,
        languages: [String] = []
    ) async throws {
        var device = DeviceUpsert(
            id: try #require(RecordID("device-\(number)")), kind: .installation, platform: platform,
            handle: handle(number, on: platform), tags: tags.compactMap(Tag.init))
        (device.timeZone, device.languages) = (zone, LanguagePreference(languages))
        _ = try await bench.hub.upsert(device)
    }

    private static func handle(_ number: Int, on platform: Platform) -> DeviceToken {
        let handle = HubBench.handle(number)
        let token = SampleSubscription.token("https://fcm.googleapis.com/" + handle.text)
        return platform == .browser ? DeviceToken(canonical: token) : handle
    }

    private static func number(_ handle: DeviceToken) -> Int {
        HubBench.number(DeviceToken(canonical: String(handle.text.prefix { $0 != " " })))
    }

    private static func command(_ audience: String? = nil) throws -> SendCommand {
        var command = SendCommand(
            message: PushMessage(body: Array(#"{"aps":{"alert":"Hello"}}"#.utf8)),
            audience: try audience.map { try TagExpression(parsing: $0) })
        command.reachesEveryPlatform = true
        return command
    }

    private static func settled(_ command: SendCommand, _ bench: HubBench) async throws -> NotificationTelemetry {
        try await bench.settle(try await bench.hub.send(command), bench.dispatcher())
    }

    /// The numbers of the devices that got a push in batches after the first ones, in order, by platform.
    private static func reached(_ bench: HubBench, after first: Int = 0) -> [Platform: [Int]] {
        bench.transport.batches.dropFirst(first).reduce(into: [:]) { reached, batch in
            reached[batch.platform, default: []] += batch.targets.map { Self.number($0.handle) }
        }.mapValues { $0.sorted() }
    }

    @Test("each platform gets batches of its own, and those of browsers say that the message is Apple's")
    func batches() async throws {
        let bench = try await HubBench()
        for number in 0..<300 { try await Self.register(bench, number, on: number % 3 == 0 ? .browser : .apns) }
        try await Self.register(bench, 300, on: .wns)
        let end = try await Self.settled(Self.command(), bench)
        #expect(end.platformOutcomes == [.apns: [.accepted: 200], .browser: [.accepted: 100]])
        #expect(Self.reached(bench)[.browser] == (0..<300).filter { $0.isMultiple(of: 3) })
        #expect(bench.transport.batches.allSatisfy { $0.bodyPlatform == ($0.platform == .browser ? .apns : nil) })
    }

    private static func register(
        _ bench: HubBench, _ number: Int, on platform: Platform, template: String
    ) async throws {
        _ = try await bench.hub.upsert(
            DeviceUpsert(
                id: try #require(RecordID("device-\(number)")), kind: .registration, platform: platform,
                handle: handle(number, on: platform), template: DeviceTemplate(name: "t", body: template)))
    }

    private static let properties = SendCommand(
        message: PushMessage(body: Array(#"{"text":"Hello"}"#.utf8)), format: .template, recipients: .everyone)

    @Test("a template send fills the templates of each platform, in batches of its own")
    func templates() async throws {
        let bench = try await HubBench()
        for number in 0..<4 { try await Self.register(bench, number, on: .apns, template: #"{"aps":{"alert":"$(text)"}}"#) }
        for number in 4..<6 { try await Self.register(bench, number, on: .browser, template: #"{"title":"$(text)"}"#) }
        try await Self.register(bench, 6, on: .adm, template: #"{"data":{"a":"$(text)"}}"#)
        let end = try await Self.settled(Self.properties, bench)
        #expect(end.platformOutcomes == [.apns: [.accepted: 4], .browser: [.accepted: 2], .adm: [.noTransport: 1]])
        #expect(Self.reached(bench) == [.apns: [0, 1, 2, 3], .browser: [4, 5]])
        let bodies = bench.transport.batches.reduce(into: [:]) {
            $0[$1.platform] = $1.bodies.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(bodies == [.apns: [#"{"aps":{"alert":"Hello"}}"#], .browser: [#"{"title":"Hello"}"#]])
    }

    @Test("a refused credential of one platform holds up its own templates alone")
    func refusedCredential() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, 1, on: .apns, template: #"{"aps":{"alert":"$(text)"}}"#)
        try await Self.register(bench, 2, on: .browser, template: #"{"title":"$(text)"}"#)
        bench.transport.follow { target, _ in
            Self.number(target.handle) == 2 ? .misconfigured(reason: "the key is refused") : .accepted
        }
        let receipt = try await bench.hub.send(Self.properties)
        _ = await bench.dispatcher().pass()
        let now = try await bench.hub.telemetry(of: receipt.id)
        #expect(now?.platformOutcomes == [.apns: [.accepted: 1]] && now?.state == .dispatching)
    }

    @Test("a test send of templates asks each platform with its own batch")
    func testSend() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, 1, on: .apns, template: #"{"aps":{"alert":"$(text)"}}"#)
        try await Self.register(bench, 2, on: .browser, template: #"{"title":"$(text)"}"#)
        let report = try await bench.hub.test(Self.properties, through: bench.transport)
        #expect(report.results.map(\.platform) == [.apns, .browser] && report.results.allSatisfy { $0.outcome == .accepted })
        #expect(Self.reached(bench) == [.apns: [1], .browser: [2]])
    }

    @Test("an audience is the same on every platform")
    func audience() async throws {
        let bench = try await HubBench()
        for number in 0..<8 {
            let tags = ["a", "b", "c"].enumerated().filter { number >> $0.offset & 1 == 1 }.map(\.element)
            try await Self.register(bench, number, on: .apns, tags: tags)
            try await Self.register(bench, 100 + number, on: .browser, tags: tags)
        }
        for audience in ["a", "a && !b", "(a || b) && c", "!a", "b || c", "!a || b", "a && b && c", "unused"] {
            let before = bench.transport.batches.count
            _ = try await Self.settled(Self.command(audience), bench)
            let reached = Self.reached(bench, after: before)
            #expect(reached[.browser, default: []] == reached[.apns, default: []].map { $0 + 100 }, "\(audience)")
        }
    }

    @Test("a native send for Apple's devices reaches no browser")
    func appleAlone() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, 1, on: .apns)
        try await Self.register(bench, 2, on: .browser)
        var command = try Self.command()
        command.reachesEveryPlatform = false
        #expect(try await Self.settled(command, bench).outcomes == [.accepted: 1])
        #expect(Self.reached(bench) == [.apns: [1]])
    }

    @Test("a hub without browsers has no slice for them")
    func noBrowsers() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, 1, on: .apns)
        _ = try await bench.hub.send(try Self.command())
        #expect(await bench.dispatcher().pass() == 1)
    }

    @Test("a scheduled send reaches a browser that is the first of its hub and registers after the send was accepted")
    func scheduled() async throws {
        let bench = try await HubBench()
        var command = try Self.command()
        command.dueAt = bench.clock.now + .seconds(60)
        let receipt = try await bench.hub.send(command)
        try await Self.register(bench, 1, on: .browser)
        #expect(try await bench.settle(receipt, bench.dispatcher()).platformOutcomes[.browser] == [.accepted: 1])
    }

    @Test("a send by local time reaches each browser at the time of its zone")
    func localTime() async throws {
        let bench = try await HubBench()
        for (number, zone) in ["Asia/Tokyo", "Europe/Berlin", nil].enumerated() {
            try await Self.register(bench, number, on: .apns, tags: ["t"], zone: zone)
            try await Self.register(bench, 10 + number, on: .browser, tags: ["t"], zone: zone)
        }
        let start = bench.clock.now
        let moments = ["Asia/Tokyo": start + .seconds(100), "Europe/Berlin": start + .seconds(200)]
        let arrivals = NIOLockedValueBox<[Int: Timestamp]>([:])
        bench.transport.beforeAnswering { batch in
            arrivals.withLockedValue { arrivals in
                for target in batch.targets { arrivals[Self.number(target.handle)] = bench.clock.now }
            }
        }
        var command = try Self.command("t")
        command.zones = ZoneMoments(
            wish: "test", moments: moments, otherwise: start + .seconds(300), notBefore: start, lifetime: nil)
        let end = try await Self.settled(command, bench)
        #expect(end.platformOutcomes == [.apns: [.accepted: 3], .browser: [.accepted: 3]])
        let found = arrivals.withLockedValue { $0 }
        for (number, second) in [(0, 100), (1, 200), (2, 300)] {
            let due = start + .seconds(second)
            for device in [number, 10 + number] {
                let arrival = try #require(found[device])
                #expect(arrival >= due && arrival < due + .seconds(30), "device \(device)")
            }
        }
    }

    @Test("a browser gets the translation for its reader")
    func translations() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, 1, on: .browser, languages: ["sv-SE"])
        try await Self.register(bench, 2, on: .browser, languages: ["fr"])
        var command = try Self.command()
        let body = Array(#"{"aps":{"alert":"Hej"}}"#.utf8)
        command.translations = [PushTranslation(TranslationKey(LanguageTag("sv")), body: body)]
        _ = try await Self.settled(command, bench)
        let bodies = bench.transport.batches.reduce(into: [Int: [UInt8]]()) { bodies, batch in
            for target in batch.targets { bodies[Self.number(target.handle)] = batch.bodies[target.body] }
        }
        #expect(bodies == [1: body, 2: command.message.body])
    }

    @Test("a user with a phone and a browser is counted once for a frequency cap")
    func frequencyCap() async throws {
        let bench = try await HubBench()
        let user = Tag.user(try #require(UserName("alice"))).text
        try await Self.register(bench, 1, on: .apns, tags: [user])
        try await Self.register(bench, 2, on: .browser, tags: [user])
        var command = try Self.command()
        let cap = try #require(FrequencyCap("news=1/1h"))
        command.cap = cap
        #expect(try await Self.settled(command, bench).outcomes == [.accepted: 2])
        #expect(try await Self.settled(command, bench).outcomes == [.capped: 2])
    }

    @Test("users of one group get its text on phone and browser alike")
    func groups() async throws {
        let bench = try await HubBench()
        for number in 0..<40 {
            let user = Tag.user(try #require(UserName("user\(number / 2)"))).text
            try await Self.register(bench, number, on: number.isMultiple(of: 2) ? .apns : .browser, tags: [user])
        }
        var command = try Self.command()
        command.split = PushSplit(key: "s", percents: [50])
        let other = Array(#"{"aps":{"alert":"Other"}}"#.utf8)
        command.translations = [PushTranslation(TranslationKey(nil, group: 1), body: other)]
        let receipt = try await bench.hub.send(command)
        _ = try await bench.settle(receipt, bench.dispatcher())
        let got = bench.transport.batches.reduce(into: [Int: [UInt8]]()) { got, batch in
            for target in batch.targets { got[Self.number(target.handle)] = batch.bodies[target.body] }
        }
        #expect((0..<20).allSatisfy { got[2 * $0] == got[2 * $0 + 1] })
        #expect(Set(got.values) == [other, command.message.body])
        #expect(try await bench.hub.groupOutcomes(of: receipt.id).values.reduce(0) { $0 + ($1[.accepted] ?? 0) } == 40)
    }

    @Test("after a cancel no part of a send goes on")
    func cancelled() async throws {
        let bench = try await HubBench()
        for number in 0..<20 { try await Self.register(bench, number, on: number < 10 ? .apns : .browser) }
        let receipt = try await bench.hub.send(Self.command())
        bench.transport.beforeAnswer { _ = try? await bench.hub.cancel(receipt.id) }
        let dispatcher = bench.dispatcher { $0.window = 5 }
        let end = try await bench.settle(receipt, dispatcher)
        #expect(end.state == .cancelled)
        // A batch of each platform may have been on its way.
        #expect(Self.reached(bench).values.allSatisfy { $0.count <= 5 })
        #expect(await dispatcher.pass() == 0)
    }

    @Test("a browser whose push has to wait gets it at a later try")
    func retried() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, 1, on: .apns)
        try await Self.register(bench, 2, on: .browser)
        bench.transport.follow { target, attempt in
            Self.number(target.handle) == 2 && attempt == 1 ? .retry(after: .seconds(60), reason: "429") : .accepted
        }
        let end = try await Self.settled(Self.command(), bench)
        #expect(end.platformOutcomes == [.apns: [.accepted: 1], .browser: [.accepted: 1]])
        #expect(Self.reached(bench)[.browser] == [2, 2])
        #expect(bench.transport.batches.allSatisfy { $0.bodyPlatform == ($0.platform == .browser ? .apns : nil) })
    }

    @Test("a browser that became a phone before its second try gets no push made for a browser")
    func changedPlatform() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, 1, on: .apns)
        try await Self.register(bench, 2, on: .browser)
        bench.transport.follow { target, _ in
            Self.number(target.handle) == 2 ? .retry(after: .seconds(60), reason: "429") : .accepted
        }
        let receipt = try await bench.hub.send(Self.command())
        _ = await bench.dispatcher().pass()
        try await Self.register(bench, 2, on: .apns)
        bench.transport.follow { _, _ in .accepted }
        let end = try await bench.settle(receipt, bench.dispatcher())
        #expect(end.state == .completed)
        #expect(Self.reached(bench)[.apns] == [1])
        #expect(Self.reached(bench)[.browser] == [2])
    }

    @Test("an audience of twenty tags reaches phones and browsers that have one of them")
    func manyTags() async throws {
        let bench = try await HubBench()
        for number in 0..<20 {
            try await Self.register(bench, number, on: .apns, tags: ["t\(number)"])
            try await Self.register(bench, 100 + number, on: .browser, tags: ["t\(number)"])
        }
        try await Self.register(bench, 200, on: .browser, tags: ["other"])
        _ = try await Self.settled(Self.command((0..<20).map { "t\($0)" }.joined(separator: " || ")), bench)
        #expect(Self.reached(bench) == [.apns: Array(0..<20), .browser: Array(100..<120)])
    }

    @Test("a count of an audience has the devices of every platform")
    func count() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, 1, on: .apns, tags: ["t"])
        try await Self.register(bench, 2, on: .browser, tags: ["t"])
        try await Self.register(bench, 3, on: .wns, tags: ["t"])
        #expect(
            try await bench.hub.count(try TagExpression(parsing: "t")) == AudienceCount(targets: 2, isComplete: true))
    }

    @Test("a pace is divided between the platforms, and the parts are not more than the whole")
    func pace() throws {
        func parts(_ pace: Int) throws -> [PlatformPart] {
            [
                PlatformPart(
                    platform: .browser, query: try #require(AudienceQuery(nil, amongAnyOf: ["e"])),
                    slices: SlicePlan(audience: 1), pushesPerSecond: pace)
            ]
        }
        #expect(try parts(30).rest(of: 100) == 70)
        #expect(try parts(30).rest(of: nil) == nil)
        #expect([PlatformPart]().rest(of: 100) == 100)
    }

    private static func parts(pace: Int, audience size: Int, browsers: Int) throws -> (
        parts: [PlatformPart], query: AudienceQuery
    ) {
        var command = try command("beta")
        command.pushesPerSecond = pace
        let query = try AudienceQuery(command.audience) { _ in 1 }
        let entry = try #require(Platform.browser.indexEntry)
        let compiled = CompiledAudience(query: query, size: size, entrySizes: [entry: browsers])
        return (NotificationHub.others(of: command, compiled, command.audience, isScheduled: false), query)
    }

    @Test(
        "browsers leave phones at least half of a pace, also where all of them may be in another audience",
        arguments: [(100, 500, 1_000), (1_000, 10_001, 10_001), (100, 3, 10_001)])
    func phonesGoOn(pace: Int, size: Int, browsers: Int) throws {
        let parts = try Self.parts(pace: pace, audience: size, browsers: browsers).parts
        #expect(parts.rest(of: pace) == pace / 2)
        #expect(parts.first?.pushesPerSecond == pace / 2)
    }

    @Test("a small audience is read by its own tags, however many browsers the hub has, and a large one by the browsers")
    func covers() throws {
        let small = try Self.parts(pace: 100, audience: 3, browsers: 10_001)
        #expect(small.parts.map(\.query) == [small.query])
        let large = try Self.parts(pace: 100, audience: 10_001, browsers: 3)
        #expect(large.parts.map(\.query) != [large.query])
    }

    @Test("a send to every platform that is for device tokens, or not for Apple's devices, is refused")
    func refused() async throws {
        let bench = try await HubBench()
        var other = try Self.command()
        other.format = .native(.browser)
        var direct = try Self.command()
        direct.recipients = .handles([HubBench.handle(1)])
        for command in [other, direct] {
            await #expect(throws: ServiceError.self) { try await bench.hub.send(command) }
        }
    }
}
