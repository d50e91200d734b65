import APNsProtocol
import ClarionTesting
import NIOCore
import NIOHTTP2
import Testing

@testable import APNsEmulation

@Suite("Faults on the wire")
struct WireFaultTests {
    private func outcome(_ client: WireClient, _ request: WireClient.Request) async -> String {
        do {
            return try await client.send(request).status
        } catch let ended as WireClientHandler.Ended {
            return ended.code
        } catch {
            return "\(type(of: error))"
        }
    }

    @Test(
        "GOAWAY names the last stream, and only what it covers is answered",
        arguments: [
            (InjectedFault.LastStream.zero, 0, false), (.beforeThisRequest, 1, false), (.thisRequest, 3, true),
            (.thisRequestUnanswered, 3, false), (.twoStep, 3, true),
        ])
    func goAway(lastStream: InjectedFault.LastStream, last: Int, answered: Bool) async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            #expect(await outcome(client, emulator.push()) == "200")
            emulator.apns.inject(.goAway(lastStream: lastStream, reason: .shutdown))
            let result = await outcome(client, emulator.push())
            #expect((result == "200") == answered, "\(result)")
            try await client.channel.closeFuture.get()
            let goAways = try await client.observation().goAways
            #expect(goAways.last?.last == last)
            #expect(goAways.last?.data == #"{"reason":"Shutdown"}"#)
            #expect(goAways.count == (lastStream == .twoStep ? 2 : 1))
            let processed = lastStream != .zero && lastStream != .beforeThisRequest
            #expect(emulator.apns.requests(for: emulator.token).accepted == (processed ? 2 : 1))
        }
    }

    @Test("a reset connection ends without an answer", arguments: [true, false])
    func resetConnection(processed: Bool) async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            emulator.apns.inject(.resetConnection(processed: processed))
            #expect(await outcome(client, emulator.push()) != "200")
            #expect(emulator.apns.requests(for: emulator.token).accepted == (processed ? 1 : 0))
            let next = try await emulator.connect()
            #expect(await outcome(next, emulator.push()) == "200")
            try await next.close()
        }
    }

    @Test("a refused stream may be sent again on the same connection")
    func refuseStream() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            emulator.apns.inject(.refuseStream)
            let refused = await outcome(client, emulator.push())
            #expect(refused != "200")
            #expect(await outcome(client, emulator.push()) == "200")
            #expect(emulator.apns.requests(for: emulator.token) == .init(requests: 2, accepted: 1))
            try await client.close()
        }
    }

    @Test("a black hole keeps the connection and answers nothing; other connections work")
    func blackHole() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            emulator.apns.inject(.blackHole)
            async let lost = outcome(client, emulator.push())
            let other = try await emulator.connect()
            var exchanges = 0
            while exchanges == 0 {
                await Task.yield()
                exchanges = emulator.apns.recordedExchanges.count
            }
            #expect(await outcome(other, emulator.push()) == "200")
            #expect(client.channel.isActive)
            try await client.close()
            #expect(await lost == "closed")
            try await other.close()
        }
    }

    @Test("on demand every connection gets GOAWAY with the reason")
    func goAwayOnDemand() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            #expect(await outcome(client, emulator.push()) == "200")
            await emulator.apns.goAway(reason: .badCertificateEnvironment)
            try await client.channel.closeFuture.get()
            let goAway = try await client.observation().goAways.first
            #expect(goAway?.last == 1)
            #expect(goAway?.code == .noError)
            #expect(goAway?.data == #"{"reason":"BadCertificateEnvironment"}"#)
        }
    }

    @Test("an idle connection gets GOAWAY and is ended")
    func idle() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            // Not before: a connection that is not established yet gets no GOAWAY.
            #expect(await outcome(client, emulator.push()) == "200")
            emulator.apns.rules.idleLimit = .zero
            try await client.channel.closeFuture.get()
            #expect(try await client.observation().goAways.first?.data == #"{"reason":"IdleTimeout"}"#)
        }
    }

    @Test("connections above the maximum are closed at once")
    func maximumConnections() async throws {
        try await RunningEmulator.run { rules in
            rules.maximumConnections = 1
        } _: { emulator in
            let first = try await emulator.connect()
            #expect(await outcome(first, emulator.push()) == "200")
            let second = try? await emulator.connect()
            try await second?.channel.closeFuture.get()
            #expect(await outcome(first, emulator.push()) == "200")
            try await first.close()
        }
    }

    @Test("the error budget of a connection ends it; a bad device token counts five times")
    func errorBudget() async throws {
        try await RunningEmulator.run { rules in
            rules.errorBudget = 6
        } _: { emulator in
            let client = try await emulator.connect()
            let unknown = "/3/device/" + String(repeating: "a", count: 64)
            #expect(await outcome(client, emulator.push(path: unknown)) == "400")
            #expect(await outcome(client, emulator.push("")) == "400")
            try await client.channel.closeFuture.get()
            // Some clients read nothing behind a GOAWAY, not even the rest of an answer.
            #expect(try await client.observation().order == ["400", "400", "goAway"])
        }
    }

    @Test("a server that goes away says so in its answer first, and in GOAWAY then")
    func shutdown() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            emulator.apns.inject(.shutdown)
            let answer = try await client.send(emulator.push())
            #expect(answer.status == "503" && answer.body == #"{"reason":"Shutdown"}"#)
            try await client.channel.closeFuture.get()
            #expect(try await client.observation().order == ["503", "goAway"])
        }
    }

    @Test("an orderly end takes back nothing that was answered before")
    func orderlyEnd() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            #expect(await outcome(client, emulator.push()) == "200")
            emulator.apns.inject(.closeConnection(processed: false), afterRequests: 1)
            let outcomes = try await client.send([emulator.push(), emulator.push()])
            #expect((try? outcomes[0].get().status) == "200" && (try? outcomes[1].get()) == nil)
        }
    }

    @Test("an injected 410 says since when, as every 410 does")
    func deadSince() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            emulator.apns.inject(.status(410, .unregistered))
            let body = try await client.send(emulator.push()).body
            #expect(body.hasPrefix(#"{"reason":"Unregistered","timestamp":"#))
            try await client.close()
        }
    }

    @Test("more headers than announced are 431 and complained of, and the connection goes on", arguments: [9_000, 15_000])
    func longHeaders(size: Int) async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            // The client has acknowledged the settings by then.
            #expect(await outcome(client, emulator.push()) == "200")
            var request = emulator.push()
            request.headers.append(("x-long", String(repeating: "a", count: size)))
            #expect(await outcome(client, request) == "431")
            #expect(await outcome(client, emulator.push()) == "200")
            #expect(emulator.apns.complaints.map(\.kind).contains(.exceededHeaderList))
            try await client.close()
        }
    }

    @Test("requests in the same bytes as the first one are beyond the first limit")
    func haste() async throws {
        try await RunningEmulator.run { emulator in
            let early = (0..<4).map { _ in emulator.push() }
            let client = try await emulator.connect(early: early)
            let statuses = try await client.earlyAnswers().map { (try? $0.get().status) ?? "refused" }
            #expect(statuses == ["200", "refused", "refused", "refused"])
            #expect(emulator.apns.complaints.map(\.kind).contains(.exceededStreamLimit))
            try await client.close()
        }
    }

    @Test("a wedged connection answers nothing after a token error")
    func wedge() async throws {
        try await RunningEmulator.run { rules in
            rules.wedgesAfterTokenError = true
            rules.providerTokenLifetime = -10
        } _: { emulator in
            let client = try await emulator.connect()
            #expect(await outcome(client, emulator.push()) == "403")
            async let lost = outcome(client, emulator.push())
            #expect(await eventually { (emulator.apns.traffic.received["HEADERS"] ?? 0) >= 2 })
            try await client.close()
            #expect(await lost == "closed")
            #expect(emulator.apns.recordedExchanges.count == 1)
        }
    }

    @Test("a violated limit may end the connection with a text that is not JSON")
    func violation() async throws {
        try await RunningEmulator.run { rules in
            rules.overLimit = .goAway
        } _: { emulator in
            emulator.apns.inject(.noAnswer)
            let client = try await emulator.connect(early: [emulator.push(), emulator.push()])
            try await client.channel.closeFuture.get()
            let goAway = try #require(await client.observation().goAways.first)
            #expect(goAway.code == .refusedStream)
            #expect(goAway.last == 1)
            #expect(goAway.data == "Maximum active streams violated for this endpoint.")
        }
    }
}
