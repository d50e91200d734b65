import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Foundation
import Testing

@Suite("The client when the local APNs fails", .timeLimit(.minutes(10)))
struct FaultTests {
    private var quickTiming: APNsClientTiming {
        var timing = APNsClientTiming()
        timing.initialBackOff = .milliseconds(10)
        timing.maximumBackOff = .milliseconds(50)
        timing.pushDeadline = .seconds(60)
        timing.drain = .seconds(2)
        return timing
    }

    @Test(
        "a GOAWAY in the middle of a batch loses nothing and repeats nothing",
        arguments: [InjectedFault.LastStream.zero, .beforeThisRequest, .thisRequest, .twoStep])
    func goAway(lastStream: InjectedFault.LastStream) async throws {
        try await LocalService.run(timing: quickTiming) { service in
            service.apns.inject(.goAway(lastStream: lastStream, reason: .shutdown), afterRequests: 400)
            let pushes = service.pushes(1500)
            let outcomes = await service.client.send(pushes)
            var accepted = 0
            for (push, outcome) in zip(pushes, outcomes) {
                let count = service.apns.acceptances(of: try #require(push.apnsID))
                #expect(count <= 1)
                if outcome.isAccepted {
                    accepted += 1
                    #expect(count == 1)
                } else if case .notSent = outcome {
                    #expect(count == 0)
                }
            }
            #expect(accepted == 1500)
            #expect(service.client.metrics.goAways >= 1)
            #expect(service.client.metrics.lastGoAwayReason == .shutdown)
        }
    }

    @Test("refused streams are sent again, every time")
    func refusedStreams() async throws {
        try await LocalService.run(timing: quickTiming) { service in
            service.apns.inject(.refuseStream, count: 50, afterRequests: 10)
            let pushes = service.pushes(500)
            #expect(await service.client.send(pushes).filter(\.isAccepted).count == 500)
            #expect(service.client.metrics.resends == 50)
            #expect(service.apns.acceptanceCounts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("what a fault leaves open is unknown, and only that", arguments: [true, false])
    func resets(processed: Bool) async throws {
        try await LocalService.run(timing: quickTiming) { service in
            service.apns.inject(.resetStream(processed: processed), count: 3, afterRequests: 5)
            let pushes = service.pushes(100)
            let outcomes = await service.client.send(pushes)
            #expect(outcomes.filter(\.isAccepted).count == 97)
            for (push, outcome) in zip(pushes, outcomes) where !outcome.isAccepted {
                #expect(outcome == .unknown(.streamReset))
                let count = service.apns.acceptances(of: try #require(push.apnsID))
                #expect(count == (processed ? 1 : 0))
            }
        }
    }

    @Test("a torn connection leaves unknown pushes and a client that goes on")
    func tornConnection() async throws {
        try await LocalService.run(timing: quickTiming) { service in
            service.apns.inject(.resetConnection(processed: true), afterRequests: 100)
            let pushes = service.pushes(1000)
            let outcomes = await service.client.send(pushes)
            for (push, outcome) in zip(pushes, outcomes) {
                let count = service.apns.acceptances(of: try #require(push.apnsID))
                switch outcome {
                case .accepted: #expect(count == 1)
                case .unknown: #expect(count <= 1)
                case .notSent, .rejected: #expect(count == 0)
                }
            }
            #expect(await service.client.send(service.pushes(1)).first?.isAccepted == true)
        }
    }

    @Test("a server that stops answering costs one deadline, not the client")
    func noAnswer() async throws {
        var timing = quickTiming
        timing.pushDeadline = .seconds(8)
        try await LocalService.run(timing: timing) { service in
            service.apns.inject(.noAnswer, count: 2, afterRequests: 1)
            let outcomes = await service.client.send(service.pushes(10))
            #expect(outcomes.filter { $0 == .unknown(.deadline) }.count == 2)
            #expect(outcomes.filter(\.isAccepted).count == 8)
        }
    }

    @Test("rejections that lower the stream limit to 1 do not stop the rest")
    func loweredLimit() async throws {
        var rules = EmulationRules()
        rules.limitEnforcement = .immediately
        try await LocalService.run(rules: rules, timing: quickTiming) { service in
            let bad = (0..<20).map { _ in service.push(String(repeating: "cd", count: 32)) }
            var pushes = service.pushes(400)
            for (index, push) in bad.enumerated() { pushes.insert(push, at: 10 + index * 15) }
            let outcomes = await service.client.send(pushes)
            #expect(outcomes.filter { $0.reason == .badDeviceToken }.count == 20)
            #expect(outcomes.filter(\.isAccepted).count == 400)
            #expect(service.apns.acceptanceCounts.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("a cancelled task gets its outcomes at once")
    func cancellation() async throws {
        try await LocalService.run(timing: quickTiming) { service in
            #expect(await service.client.send(service.pushes(1)).first?.isAccepted == true)
            service.apns.inject(.noAnswer, count: 5)
            let pushes = service.pushes(5)
            let task = Task { await service.client.send(pushes) }
            while service.client.metrics.inFlight < 5 { try await Task.sleep(for: .milliseconds(5)) }
            task.cancel()
            #expect(await task.value == Array(repeating: .unknown(.cancelled), count: 5))
        }
    }

    @Test("a client without a server says unreachable, and shutting it down ends what waits")
    func unreachable() async throws {
        var timing = quickTiming
        timing.pushDeadline = .seconds(5)
        try await LocalService.run(timing: timing) { service in
            await service.apns.shutdown()
            #expect(await service.client.send(service.push("aabb")) == .notSent(.unreachable))
        }
    }
}
