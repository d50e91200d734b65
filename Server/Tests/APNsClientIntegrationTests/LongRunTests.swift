import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Foundation
import Testing

@Suite("A long run through faults", .timeLimit(.minutes(30)))
struct LongRunTests {
    /// What the client said of one push, as small as it can be kept.
    private enum Account: UInt8 {
        case accepted, rejected, notSent, unknown

        init(_ outcome: APNsOutcome) {
            switch outcome {
            case .accepted: self = .accepted
            case .rejected: self = .rejected
            case .notSent: self = .notSent
            case .unknown: self = .unknown
            }
        }
    }

    private static let isLong = ProcessInfo.processInfo.environment["LONG_TESTS"] == "1"
    private static let total = isLong ? 1_000_000 : 100_000

    /// The faults of ten thousand requests: every kind that the local APNs has, spread.
    private func injectFaults(into apns: LocalAPNs, _ round: Int) {
        let ends: [InjectedFault.LastStream] = [.beforeThisRequest, .thisRequest, .twoStep, .zero, .thisRequestUnanswered]
        apns.inject(.delay(.milliseconds(20)), count: 20, afterRequests: 900)
        apns.inject(.refuseStream, count: 30, afterRequests: 900)
        apns.inject(.status(429, .tooManyRequests), count: 5, afterRequests: 900)
        apns.inject(.resetStream(processed: round.isMultiple(of: 2)), count: 3, afterRequests: 900)
        apns.inject(.status(400, .badTopic), count: 4, afterRequests: 900)
        apns.inject(.status(503, .serviceUnavailable), count: 2, afterRequests: 900)
        apns.inject(.resetConnection(processed: round.isMultiple(of: 3)), afterRequests: 900)
        apns.inject(.status(500, .internalServerError), count: 2, afterRequests: 900)
        switch round % 5 {
        case 1: apns.inject(.blackHole, afterRequests: 900)
        case 3: apns.inject(.wedge(processed: round.isMultiple(of: 2)), afterRequests: 900)
        default: break
        }
        apns.inject(.goAway(lastStream: ends[round % ends.count], reason: .shutdown), afterRequests: 1_700)
    }

    @Test("every push of a long run has one outcome, and the server's record agrees with the client's account")
    func account() async throws {
        var rules = EmulationRules()
        rules.limitEnforcement = .immediately
        var timing = APNsClientTiming()
        timing.initialBackOff = .milliseconds(10)
        timing.maximumBackOff = .milliseconds(50)
        timing.connectPace = .milliseconds(5)
        timing.drain = .seconds(2)
        timing.pushDeadline = .seconds(20)
        // So that connections that have gone silent are found within seconds, both those that answer PING and those that do not.
        timing.stallBeforePing = .seconds(1)
        timing.pingAnswer = .seconds(2)
        timing.noAnswer = .seconds(3)
        try await LocalService.run(rules: rules, limits: APNsClientLimits(connections: 3, resends: 50), timing: timing) {
            service in
            let tokens = service.tokens(1000)
            var ids: [UUID] = []
            var accounts: [Account] = []
            ids.reserveCapacity(Self.total)
            accounts.reserveCapacity(Self.total)
            let size = 2_500
            var failures: [APNsFailure: Int] = [:]
            for round in 0..<(Self.total / 10_000) {
                injectFaults(into: service.apns, round)
                let batches = (0..<4).map { _ in (0..<size).map { service.push(tokens[$0 % tokens.count]) } }
                let outcomes = await service.whileTimePasses { await send(batches, to: service.client) }
                for (index, batch) in batches.enumerated() {
                    #expect(outcomes[index]?.count == batch.count)
                    ids += batch.compactMap(\.apnsID)
                    accounts += (outcomes[index] ?? []).map(Account.init)
                    for case .unknown(let failure) in outcomes[index] ?? [] { failures[failure, default: 0] += 1 }
                }
            }
            service.apns.clearFaults()
            compare(ids, accounts, with: service)
            // Every push is answered, or its connection ends long before.
            #expect(failures[.deadline] == nil, "\(failures)")
        }
    }

    /// All batches at once.
    private func send(_ batches: [[APNsPush]], to client: APNsClient) async -> [Int: [APNsOutcome]] {
        await withTaskGroup(of: (Int, [APNsOutcome]).self) { tasks in
            for (index, batch) in batches.enumerated() { tasks.addTask { (index, await client.send(batch)) } }
            return await tasks.reduce(into: [Int: [APNsOutcome]]()) { $0[$1.0] = $1.1 }
        }
    }

    private func compare(_ ids: [UUID], _ accounts: [Account], with service: LocalService) {
        let counts = service.apns.acceptanceCounts
        var sums: [Account: Int] = [:]
        var disagreements = 0
        for (id, account) in zip(ids, accounts) {
            sums[account, default: 0] += 1
            let count = counts[id] ?? 0
            switch account {
            case .accepted: if count != 1 { disagreements += 1 }
            case .rejected, .notSent: if count != 0 { disagreements += 1 }
            case .unknown: if count > 1 { disagreements += 1 }
            }
        }
        #expect(ids.count == Self.total && accounts.count == Self.total)
        #expect(disagreements == 0)
        let metrics = service.client.metrics
        #expect(metrics.accepted == sums[.accepted] ?? 0 && metrics.rejected == sums[.rejected] ?? 0)
        #expect(metrics.notSent == sums[.notSent] ?? 0 && metrics.unknown == sums[.unknown] ?? 0)
        #expect(metrics.inFlight == 0 && metrics.queued == 0)
        // A connection that falls silent or is reset takes up to a thousand with it, and four in ten rounds have one of each.
        #expect((sums[.notSent] ?? 0) == 0 && (sums[.unknown] ?? 0) < Self.total / 5)
        #expect(metrics.goAways >= Self.total / 20_000)
        print("a long run: \(sums.map { "\($0.key) \($0.value)" }.sorted()), sent again \(metrics.resends)")
    }
}
