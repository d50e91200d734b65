import ClarionTesting
import NIOConcurrencyHelpers
import RichPushModel
import ServiceErrors
import TagExpressions
import Testing

@testable import PushHub
@testable import StorageConformance

/// A hub that sends to each device in its language.
@Suite("A send with translations")
struct DispatcherTranslationTests {
    private static func body(_ text: String) -> [UInt8] { Array(#"{"aps":{"alert":"\#(text)"}}"#.utf8) }

    private static func command(_ languages: [String], to audience: String? = nil) throws -> SendCommand {
        var command = SendCommand(
            message: PushMessage(body: body("Hello")), audience: try audience.map { try TagExpression(parsing: $0) })
        command.translations = languages.map { PushTranslation(TranslationKey(LanguageTag($0)), body: body($0)) }
        return command
    }

    private static func register(_ bench: HubBench, _ number: Int, _ languages: [String]?) async throws {
        var device = DeviceUpsert(
            id: try #require(RecordID("device-\(number)")), kind: .installation, handle: HubBench.handle(number))
        device.languages = languages.map(LanguagePreference.init)
        _ = try await bench.hub.upsert(device)
    }

    /// The bodies that each device got, by its number.
    private final class Arrivals: Sendable {
        private let bodies = NIOLockedValueBox<[Int: [String]]>([:])

        init(_ bench: HubBench) {
            let bodies = bodies
            bench.transport.beforeAnswering { batch in
                bodies.withLockedValue { bodies in
                    for target in batch.targets {
                        let body = String(decoding: batch.bodies[target.body], as: UTF8.self)
                        bodies[HubBench.number(target.handle), default: []].append(body)
                    }
                }
            }
        }

        var all: [Int: [String]] { bodies.withLockedValue { $0 } }
    }

    @Test("each device gets the body of its language once, whichever languages stand beside it in a page")
    func languages() async throws {
        let bench = try await HubBench()
        let spoken = [["de"], ["sv-SE"], nil, ["fr", "de-AT"], ["fr"], []]
        let expected = ["de", "sv", "Hello", "de", "Hello", "Hello"]
        for number in 0..<300 { try await Self.register(bench, number, spoken[number % 6]) }
        let arrivals = Arrivals(bench)
        let receipt = try await bench.hub.send(try Self.command(["de", "sv"]))
        let end = try await bench.settle(receipt, bench.dispatcher())
        #expect(end.state == .completed && end.outcomes == [.accepted: 300])
        let wrong = (0..<300).filter { number in
            arrivals.all[number] != [String(decoding: Self.body(expected[number % 6]), as: UTF8.self)]
        }
        #expect(wrong.isEmpty, "devices \(wrong) got \(wrong.prefix(3).map { arrivals.all[$0] ?? [] })")
    }

    @Test("a push that is tried again has the body of the same language, and headers like any other")
    func retries() async throws {
        let bench = try await HubBench { _, attempt in attempt == 1 ? .retry(after: .seconds(1), reason: "x") : .accepted }
        try await Self.register(bench, 1, ["sv"])
        try await Self.register(bench, 2, nil)
        let arrivals = Arrivals(bench)
        var command = try Self.command(["sv"])
        (command.message.collapseID, command.message.topic) = ("same", "org.example.app")
        let receipt = try await bench.hub.send(command)
        _ = try await bench.settle(receipt, bench.dispatcher())
        let (own, plain) = (String(decoding: Self.body("sv"), as: UTF8.self), String(decoding: Self.body("Hello"), as: UTF8.self))
        #expect(arrivals.all == [1: [own, own], 2: [plain, plain]])
        let headers = bench.transport.batches.flatMap(\.headers).map { header in
            "\(header.topic ?? "") \(header.collapseID ?? "") \(header.pushType) \(header.priority)"
        }
        #expect(Set(headers) == ["org.example.app same alert 10"])
    }

    @Test("a translation that is too large counts for its devices alone")
    func tooLarge() async throws {
        let bench = try await HubBench()
        try await Self.register(bench, 1, ["sv"])
        try await Self.register(bench, 2, nil)
        var command = try Self.command(["sv"])
        command.translations[0].body = Self.body(String(repeating: "x", count: 4_100))
        let end = try await bench.settle(try await bench.hub.send(command), bench.dispatcher())
        #expect(end.outcomes == [.tooLarge: 1, .accepted: 1])
    }

    @Test("translations that no send can have are refused")
    func refusals() async throws {
        let bench = try await HubBench()
        func refusal(_ change: (inout SendCommand) throws -> Void) async throws -> ServiceErrorCode? {
            var command = try Self.command(["de", "sv"])
            try change(&command)
            do {
                _ = try await bench.hub.send(command)
                return nil
            } catch let error as ServiceError { return error.code }
        }
        #expect(try await refusal { $0.translations[1] = $0.translations[0] } == .invalidField)
        #expect(try await refusal { $0.recipients = .handles([HubBench.handle(1)]) } == .invalidField)
        #expect(try await refusal { $0.format = .template } == .invalidField)
        #expect(try await refusal { $0.translations[0].body = Array("{".utf8) } != nil)
        #expect(try await refusal { $0.translations[0].body = Array(#"{"aps":{"content-available":1}}"#.utf8) } == nil)
        let many = (0...PushTranslation.limit).map { "l\($0)" }
        #expect(try await refusal { $0.translations = try Self.command(many).translations } == .invalidField)
    }

    @Test("an idempotency key stands for the translations too")
    func keys() async throws {
        let bench = try await HubBench()
        var command = try Self.command(["de"])
        command.idempotencyKey = "once"
        let first = try await bench.hub.send(command)
        #expect(try await bench.hub.send(command).id == first.id)
        command.translations[0].body = Self.body("other")
        await #expect(throws: ServiceError.self) { _ = try await bench.hub.send(command) }
        command.translations = []
        await #expect(throws: ServiceError.self) { _ = try await bench.hub.send(command) }
    }
}
