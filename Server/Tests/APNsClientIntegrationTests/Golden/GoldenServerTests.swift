import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Foundation
import Testing

/// What the local APNs says, pinned by decoders that it does not use: the values of Reference/APNs.md#1-4 to #1-7, and h2 as the
/// client that made these requests.
@Suite("Recorded traffic of the local APNs", .timeLimit(.minutes(10)))
struct GoldenServerTests {
    private var quickTiming: APNsClientTiming {
        var timing = APNsClientTiming()
        timing.initialBackOff = .milliseconds(10)
        timing.maximumBackOff = .milliseconds(50)
        timing.connectPace = .milliseconds(5)
        timing.drain = .seconds(2)
        return timing
    }

    private func isAllAccepted(_ session: RecordedSession, _ count: Int) async -> Bool {
        await session.client.send((0..<count).map { session.push($0) }).allSatisfy { $0.isAccepted }
    }

    @Test("SETTINGS are Apple's, with one stream until the first acceptance, and both sides acknowledge what they hear")
    func settings() async throws {
        let traffic = try await RecordedSession.record { session in
            #expect(await isAllAccepted(session, 300))
        }
        #expect(traffic.violations.isEmpty)
        let connection = try #require(traffic.connections.first)
        let said = connection.settings.filter { $0.side == "s" && !$0.isAcknowledgement }.map(\.values)
        #expect(said == [[1: 4096, 3: 1, 4: 65_535, 5: 16_384, 6: 8_000], [3: 1_000]])
        #expect(connection.frames.first { $0.side == "s" }?.kind == "Settings")
        #expect(connection.settings.count { $0.side == "c" && $0.isAcknowledgement } == 2)
        #expect(connection.settings.count { $0.side == "s" && $0.isAcknowledgement } == 1)
        #expect((2...1_000).contains(connection.mostOpen), "the limit was used, and kept")
    }

    @Test("a lowered limit is kept to from its acknowledgement on, by the account of others")
    func loweredLimit() async throws {
        var rules = EmulationRules()
        rules.concurrentStreams = 20
        let traffic = try await RecordedSession.record(rules: rules) { session in
            for round in 0..<5 {
                // A refusal lowers the limit to 1, the next success raises it again.
                session.apns.inject(.status(400, .badTopic), afterRequests: 30 + round)
                let outcomes = await session.client.send((0..<100).map { session.push($0) })
                #expect(outcomes.count { $0.isAccepted } == 99)
            }
        }
        #expect(traffic.violations.isEmpty)
        let limits = traffic.connections[0].settings.filter { $0.side == "s" }.compactMap { $0.values[3] }
        #expect(limits == [1, 20] + Array(repeating: [1, 20], count: 5).flatMap { $0 })
        #expect((2...20).contains(traffic.connections[0].mostOpen))
    }

    @Test("a refused stream is reset twice, with REFUSED_STREAM and STREAM_CLOSED, and comes again under a new number")
    func refusedStreams() async throws {
        let traffic = try await RecordedSession.record(timing: quickTiming) { session in
            session.apns.inject(.refuseStream, count: 3, afterRequests: 10)
            #expect(await isAllAccepted(session, 50))
        }
        #expect(traffic.violations.isEmpty)
        let resets = traffic.connections[0].resets
        try #require(resets.count == 6 && resets.allSatisfy { $0.side == "s" })
        for pair in stride(from: 0, to: 6, by: 2) {
            #expect(resets[pair].code == 7 && resets[pair + 1].code == 5)
            #expect(resets[pair].stream == resets[pair + 1].stream)
        }
        #expect(traffic.requests.count == 53)
        #expect(traffic.answers.count == 50)
        #expect(Set(traffic.requests.compactMap { $0.value("apns-id") }).count == 50)
    }

    @Test(
        "GOAWAY names its last stream and its reason in JSON, once or in two steps",
        arguments: [InjectedFault.LastStream.thisRequest, .beforeThisRequest, .twoStep])
    func goAway(lastStream: InjectedFault.LastStream) async throws {
        let traffic = try await RecordedSession.record(timing: quickTiming) { session in
            session.apns.inject(.goAway(lastStream: lastStream, reason: .shutdown), afterRequests: 20)
            #expect(await isAllAccepted(session, 60))
        }
        #expect(traffic.violations.isEmpty)
        try #require(traffic.connections.count == 2)
        // The first push goes alone, so the twenty-first request is on stream 41.
        let last = lastStream == .beforeThisRequest ? 39 : 41
        let named = RecordedTraffic.GoAway(side: "s", last: last, code: 0, debug: #"{"reason":"Shutdown"}"#)
        let firstStep = RecordedTraffic.GoAway(side: "s", last: 0x7fff_ffff, code: 0, debug: "")
        #expect(
            traffic.connections[0].goAways.filter { $0.side == "s" } == (lastStream == .twoStep ? [firstStep, named] : [named]))
        #expect(traffic.connections[0].answers.allSatisfy { $0.stream <= last })
        #expect(traffic.answers.count == 60)
        #expect(Set(traffic.connections[1].requests.compactMap { $0.value("apns-id") }).count == 60 - (last + 1) / 2)
    }

    @Test("credit comes back when half of a window is used, and not before")
    func credit() async throws {
        let traffic = try await RecordedSession.record { session in
            let pushes = (0..<60).map { session.push($0, size: 3900) }
            #expect(await session.client.send(pushes).allSatisfy { $0.isAccepted })
        }
        #expect(traffic.violations.isEmpty)
        let credits = traffic.connections[0].credits.filter { $0.side == "s" }
        #expect(credits.count > 2)
        #expect(credits.allSatisfy { $0.stream == 0 && (32_768...65_535).contains($0.increment) })
    }

    @Test("a PING is answered with its own eight bytes")
    func ping() async throws {
        var timing = quickTiming
        timing.stallBeforePing = .milliseconds(20)
        let traffic = try await RecordedSession.record(timing: timing) { session in
            session.apns.inject(.delay(.milliseconds(400)))
            #expect(await isAllAccepted(session, 1))
        }
        #expect(traffic.violations.isEmpty)
        let pings = traffic.connections[0].pings
        #expect(pings.contains { $0.side == "c" && !$0.isAcknowledgement })
        #expect(pings.filter { $0.side == "s" }.allSatisfy { $0.isAcknowledgement })
        #expect(pings.contains { $0.side == "s" })
    }

    @Test("a refusal and an error of the server are answers that h2 takes")
    func refusals() async throws {
        let traffic = try await RecordedSession.record { session in
            session.apns.inject(.status(503, .serviceUnavailable))
            let outcomes = [await session.client.send(session.push(0)), await session.client.send(session.push(1))]
            #expect(outcomes[0].reason == .serviceUnavailable && outcomes[1].isAccepted)
        }
        #expect(traffic.violations.isEmpty)
        let refused = try #require(traffic.answers.first)
        #expect(refused.value(":status") == "503")
        #expect(refused.value("content-type") == "application/json")
        #expect(refused.value("apns-id") != nil)
        #expect(refused.isComplete)
    }
}
