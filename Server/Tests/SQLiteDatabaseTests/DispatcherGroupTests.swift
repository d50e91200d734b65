import ClarionTesting
import NIOConcurrencyHelpers
import RichPushModel
import ServiceErrors
import Testing

@testable import PushHub

@Suite("A send in groups")
struct DispatcherGroupTests {
    private static func body(_ text: String) -> [UInt8] { Array(#"{"aps":{"alert":"\#(text)"}}"#.utf8) }

    private static func user(_ number: Int) throws -> UserName { try #require(UserName("user-\(number)")) }

    /// Groups of 40 and 30 percent. The second has a text of its own, and another in Swedish; there is one for the others in Swedish too.
    private static func command(key: String = "k") throws -> SendCommand {
        var command = SendCommand(message: PushMessage(body: body("default")), audience: nil)
        command.split = PushSplit(key: key, percents: [40, 30])
        let swedish = LanguageTag("sv")
        command.translations = [
            PushTranslation(TranslationKey(nil, group: 2), body: body("two")),
            PushTranslation(TranslationKey(swedish, group: 2), body: body("två")),
            PushTranslation(TranslationKey(swedish), body: body("svenska")),
        ]
        return command
    }

    /// What each device got, by its number.
    private static func arrivals(_ bench: HubBench) -> NIOLockedValueBox<[Int: [String]]> {
        let arrivals = NIOLockedValueBox<[Int: [String]]>([:])
        bench.transport.beforeAnswering { batch in
            arrivals.withLockedValue { arrivals in
                for target in batch.targets {
                    let text = String(decoding: batch.bodies[target.body], as: UTF8.self)
                    arrivals[HubBench.number(target.handle), default: []].append(text)
                }
            }
        }
        return arrivals
    }

    @Test("a send that is asked to reports each of its devices once, and no other send does")
    func reports() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, users: 5)
        for reportsOutcomes in [true, false] {
            var command = try Self.command()
            command.reportsOutcomes = reportsOutcomes
            let receipt = try await bench.hub.send(command)
            _ = try await bench.settle(receipt, bench.dispatcher())
            let reports = try await bench.hub.outcomeReports(of: receipt.id, limit: 9)
            let devices = reports.flatMap(\.groups).filter { $0.outcome == .accepted }.flatMap { $0.devices.map(\.text) }
            #expect(devices.sorted() == (reportsOutcomes ? (0..<10).map { "device-\($0)" } : []))
            try await bench.hub.removeOutcomeReports(reports.map(\.number), of: receipt.id)
            #expect(try await bench.hub.outcomeReports(of: receipt.id, limit: 9).isEmpty)
        }
    }

    /// Two devices for each user; of every third the languages are Swedish.
    private static func register(_ bench: HubBench, users: Int) async throws {
        for number in 0..<2 * users {
            var device = DeviceUpsert(
                id: try #require(RecordID("device-\(number)")), kind: .installation, handle: HubBench.handle(number),
                tags: [Tag.user(try user(number / 2))])
            device.languages = number % 3 == 0 ? LanguagePreference(["sv"]) : nil
            _ = try await bench.hub.upsert(device)
        }
    }

    @Test("each device gets the text of its user's group, in its language, and the groups are counted")
    func groups() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, users: 150)
        let arrivals = Self.arrivals(bench)
        let command = try Self.command()
        let split = try #require(command.split)
        let receipt = try await bench.hub.send(command)
        let end = try await bench.settle(receipt, bench.dispatcher { $0.window = 70 })
        #expect(end.outcomes == [.accepted: 300])
        var counts: [Int: Int] = [:]
        for number in 0..<300 {
            let group = split.group(of: PushRecipient(user: try Self.user(number / 2)))
            counts[group, default: 0] += 1
            let isSwedish = number % 3 == 0
            let text = group == 2 ? (isSwedish ? "två" : "two") : (isSwedish ? "svenska" : "default")
            #expect(
                arrivals.withLockedValue { $0[number] } == [String(decoding: Self.body(text), as: UTF8.self)], "device \(number)")
        }
        #expect(try await bench.hub.groupOutcomes(of: receipt.id).mapValues { $0[.accepted, default: 0] } == counts)
        #expect(counts.count == 3)
    }

    @Test("tries that fail, pushes that are refused, and what is held back count for their group once")
    func failures() async throws {
        let bench = try await HubBench { target, attempt in
            switch HubBench.number(target.handle) % 4 {
            case 0: attempt == 1 ? .retry(after: .seconds(1), reason: "r") : .accepted
            case 1: .rejected(reason: "BadTopic")
            default: .accepted
            }
        }
        try await Self.register(bench, users: 40)
        var command = try Self.command()
        command.cap = FrequencyCap("news=1/1h")
        for held in [false, true] {
            let receipt = try await bench.hub.send(command)
            let end = try await bench.settle(receipt, bench.dispatcher { $0.window = 9 })
            #expect(end.outcomes == (held ? [.capped: 80] : [.accepted: 60, .rejected: 20]))
            let groups = try await bench.hub.groupOutcomes(of: receipt.id)
            let sum = groups.values.reduce(into: [TargetOutcome: Int]()) { $0.merge($1, uniquingKeysWith: +) }
            #expect(sum == end.outcomes)
        }
    }

    @Test("a send without groups counts none")
    func none() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, users: 3)
        let receipt = try await bench.send()
        _ = try await bench.settle(receipt, bench.dispatcher())
        #expect(try await bench.hub.groupOutcomes(of: receipt.id).isEmpty)
    }

    @Test("a translation for a group that the send does not have is refused, and so are groups of device tokens and templates")
    func refused() async throws {
        let bench = try await HubBench()
        func refusal(_ change: (inout SendCommand) throws -> Void) async throws -> ServiceErrorCode? {
            var command = try Self.command()
            try change(&command)
            do { _ = try await bench.hub.send(command) } catch let error as ServiceError { return error.code }
            return nil
        }
        #expect(try await refusal { _ in } == nil)
        #expect(try await refusal { $0.translations[0].key.group = 3 } == .invalidField)
        #expect(try await refusal { $0.translations[0].key.group = nil } == .invalidField)
        #expect(try await refusal { $0.split = nil } == .invalidField)
        #expect(try await refusal { ($0.translations, $0.format) = ([], .template) } == .invalidField)
        #expect(try await refusal { ($0.translations, $0.recipients) = ([], .handles([HubBench.handle(1)])) } == .invalidField)
        #expect(try await refusal { $0.translations[1].key = $0.translations[0].key } == .invalidField)
    }

    @Test("an idempotency key stands for one split")
    func key() async throws {
        let bench = try await HubBench()
        var command = try Self.command()
        command.idempotencyKey = "k"
        _ = try await bench.hub.send(command)
        #expect(try await bench.hub.send(command).isRepeat)
        command.split = PushSplit(key: "other", percents: [40, 30])
        await #expect { _ = try await bench.hub.send(command) } throws: { ($0 as? ServiceError)?.code == .idempotencyMismatch }
    }
}
