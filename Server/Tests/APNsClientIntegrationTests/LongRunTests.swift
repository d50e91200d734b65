import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Foundation
import Testing

@Suite("A long run through faults", .timeLimit(.minutes(60)))
struct LongRunTests {
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
        timing.pushDeadline = .seconds(600)
        // So that connections that have gone silent are found within seconds, both those that answer PING and those that do not.
        timing.stallBeforePing = .seconds(1)
        // Long enough that a machine under load does not take a connection for dead that is not: such a guess is no evidence.
        timing.pingAnswer = .seconds(15)
        timing.noAnswer = .seconds(15)
        let evidence = LongRunEvidence()
        try await LocalService.run(
            rules: rules, limits: APNsClientLimits(connections: 3), timing: timing, observer: evidence
        ) { service in
            let exchanges = service.apns.exchanges
            let reading = Task { for await exchange in exchanges { evidence.note(exchange) } }
            defer { reading.cancel() }
            let tokens = service.tokens(1000)
            var pushes: [LongRunEvidence.Push] = []
            pushes.reserveCapacity(Self.total)
            let size = 2_500
            for round in 0..<(Self.total / 10_000) {
                injectFaults(into: service.apns, round)
                let batches = (0..<4).map { _ in (0..<size).map { service.push(tokens[$0 % tokens.count]) } }
                let outcomes = await service.whileTimePasses { await send(batches, to: service.client) }
                for (index, batch) in batches.enumerated() {
                    #expect(outcomes[index]?.count == batch.count)
                    for (push, outcome) in zip(batch, outcomes[index] ?? []) {
                        pushes.append(LongRunEvidence.Push(id: try #require(push.apnsID), outcome: outcome))
                    }
                }
            }
            service.apns.clearFaults()
            #expect(pushes.count == Self.total)
            await evidence.complete(service.apns)
            compare(pushes, with: service, evidence.verdict(on: pushes))
        }
    }

    /// All batches at once.
    private func send(_ batches: [[APNsPush]], to client: APNsClient) async -> [Int: [APNsOutcome]] {
        await withTaskGroup(of: (Int, [APNsOutcome]).self) { tasks in
            for (index, batch) in batches.enumerated() { tasks.addTask { (index, await client.send(batch)) } }
            return await tasks.reduce(into: [Int: [APNsOutcome]]()) { $0[$1.0] = $1.1 }
        }
    }

    private func compare(
        _ pushes: [LongRunEvidence.Push], with service: LocalService, _ verdict: LongRunEvidence.Verdict
    ) {
        let counts = service.apns.acceptanceCounts
        var sums = (accepted: 0, rejected: 0, notSent: 0, unknown: 0)
        var disagreements = 0
        for push in pushes {
            let count = counts[push.id] ?? 0
            switch push.outcome {
            case .accepted:
                sums.accepted += 1
                if count != 1 { disagreements += 1 }
            case .rejected:
                sums.rejected += 1
                if count != 0 { disagreements += 1 }
            case .notSent: sums.notSent += 1
            case .unknown:
                sums.unknown += 1
                if count > 1 { disagreements += 1 }
            }
        }
        #expect(disagreements == 0)
        #expect(sums.notSent == 0)
        // Whatever the client does not know lies where the local APNs has seen to it, push by push.
        #expect(verdict.contradictions.isEmpty, "\(verdict.contradictions.count): \(verdict.contradictions.prefix(10))")
        #expect(sums.rejected == verdict.refusals - verdict.lostRefusals)
        #expect(verdict.refusals > 0)
        let metrics = service.client.metrics
        #expect(metrics.accepted == sums.accepted)
        #expect(metrics.rejected == sums.rejected)
        #expect(metrics.notSent == 0)
        #expect(metrics.unknown == sums.unknown)
        #expect(metrics.inFlight == 0)
        #expect(metrics.queued == 0)
        #expect(verdict.goAways.contains(metrics.goAways), "\(metrics.goAways), \(verdict.goAways)")
        #expect(verdict.goAways.upperBound >= Self.total / 20_000)
        #expect(verdict.goAways.lowerBound > 0)
        // Every request is a push or its retry, and each arrived according to the local APNs.
        #expect(metrics.requests == pushes.count + metrics.resends)
        #expect(metrics.requests == verdict.requests)
        let refused = service.apns.complaints.first { $0.kind == .exceededStreamLimit }?.count ?? 0
        #expect(verdict.unjudged.contains(refused), "\(refused) refused for the limit, \(verdict.unjudged) not judged")
        print("a long run: \(sums), sent again \(metrics.resends), \(verdict)")
    }
}
