import ClarionTesting
import NIOConcurrencyHelpers
import RichPushModel
import StorageConformance
import TagExpressions
import Testing

@testable import PushHub

@Suite("Sends at random, on a transport that fails at random, by nodes that die at random")
struct RandomOperationsTests {
    private static let window = 20
    private static let audiences: [String?] = [
        nil, "a", "!a", "a || b", "a && !b", "(a || c) && b", "nobody", "$InstallationId:{device-3}",
    ]

    /// Fails at random, but keeps to one answer for a push that was taken: then every other answer for it is a mistake.
    private final class Weather: Sendable {
        private struct State {
            var random: SeededGenerator
            var taken: Set<PushID> = []
            var answers = 0
        }

        private let state: NIOLockedValueBox<State>
        init(_ random: SeededGenerator) { state = NIOLockedValueBox(State(random: random)) }
        var taken: Set<PushID> { state.withLockedValue { $0.taken } }
        var answers: Int { state.withLockedValue { $0.answers } }

        func outcome(_ push: PushID) -> PushOutcome {
            state.withLockedValue { state in
                let dice = Int.random(in: 0..<100, using: &state.random)
                if state.taken.contains(push) || dice < 70 {
                    state.taken.insert(push)
                    state.answers += 1
                    return .accepted
                }
                switch dice {
                case ..<75: return .rejected(reason: "PayloadEmpty")
                case ..<80: return .retry(after: .seconds(Int64(dice)), reason: "TooManyRequests")
                case ..<88: return .unknown(reason: "timeout")
                case ..<90: return .misconfigured(reason: "InvalidProviderToken")
                case ..<92: return .gone(since: Timestamp(seconds: 1))
                default: return .notSent(reason: "stream refused")
                }
            }
        }
    }

    private func register(_ bench: HubBench, _ random: inout SeededGenerator) async throws -> [DeviceRecord] {
        var records: [DeviceRecord] = []
        for number in 0..<120 {
            let tags = ["a", "b", "c"].filter { _ in Bool.random(using: &random) }
            let handle = Int.random(in: 0..<100, using: &random)
            records.append(try await bench.register(number, tags: tags, handle: handle))
        }
        return records
    }

    /// Lets nodes work, some of which die, until every send has ended. Returns how many died.
    private func run(_ bench: HubBench, _ receipts: [SendReceipt], _ random: inout SeededGenerator) async throws -> Int {
        var deaths = 0
        for round in 1...5000 {
            let dies = round < 60 && Int.random(in: 0..<3, using: &random) == 0
            let queue = DyingQueue(
                bench.store.hub.queue, checkpointsBeforeDeath: dies ? Int.random(in: 0...6, using: &random) : .max)
            let node = bench.dispatcher(queue) { $0.window = Self.window }
            await node.takeOver()
            _ = await node.pass()
            deaths += dies ? 1 : 0
            bench.clock.advance(by: .seconds(Int64.random(in: 0...20, using: &random)))
            var isOver = true
            for receipt in receipts where isOver { isOver = try await bench.telemetry(receipt).state.isFinal }
            if isOver { break }
        }
        return deaths
    }

    @Test("tallies sum up to the audience, and what was taken equals tallies plus few repeats")
    func operations() async throws {
        var random = SeededGenerator()
        print("seed \(random.seed)")
        let weather = Weather(SeededGenerator(seed: random.next()))
        let bench = try await HubBench { target, _ in weather.outcome(target.pushID) }
        let records = try await register(bench, &random)
        var receipts: [SendReceipt] = []
        var sizes: [Int] = []
        for _ in 0..<12 {
            let audience = Self.audiences.randomElement(using: &random) ?? nil
            let expression = try audience.map { try TagExpression(parsing: $0) }
            sizes.append(records.count { expression?.matches($0.matchingTags) ?? true })
            receipts.append(try await bench.send(to: audience))
        }
        let deaths = try await run(bench, receipts, &random)
        var accepted = 0
        for (receipt, size) in zip(receipts, sizes) {
            let telemetry = try await bench.telemetry(receipt)
            #expect(telemetry.state == .completed || telemetry.state == .expired)
            #expect(telemetry.outcomes.values.reduce(0, +) == size)
            accepted += telemetry.outcomes[.accepted] ?? 0
        }
        #expect(accepted == weather.taken.count)
        let repeats = weather.answers - accepted
        #expect(repeats >= 0)
        #expect(repeats <= deaths * 4 * Self.window)
    }
}
