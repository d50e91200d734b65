import APNsProtocol
import ClarionTesting
import NIOCore
import NIOHTTP2
import Testing

@testable import APNsEmulation

@Suite("What is done to connections on the wire")
struct WireCommandTests {
    private func outcome(_ client: WireClient, _ request: WireClient.Request) async -> String {
        do {
            return try await client.send(request).status
        } catch let ended as WireClientHandler.Ended {
            return ended.code
        } catch {
            return "\(type(of: error))"
        }
    }

    @Test("a refused stream is reset twice, as at Apple, unless the rules say otherwise", arguments: [true, false])
    func refusedTwice(twice: Bool) async throws {
        try await RunningEmulator.run { rules in
            rules.resetsRefusedStreamsTwice = twice
        } _: { emulator in
            let client = try await emulator.connect()
            emulator.apns.inject(.refuseStream)
            #expect(await outcome(client, emulator.push()) != "200")
            #expect(await outcome(client, emulator.push()) == "200")
            let frames = emulator.apns.recordedFrames.filter { $0.name == "RST_STREAM" && $0.direction == .sent }
            #expect(frames.map { $0.payload.last } == (twice ? [7, 5] : [7]))
            #expect(frames.allSatisfy { $0.stream == 1 })
            #expect(emulator.apns.traffic.refusedStreams == 1)
            try await client.close()
        }
    }

    @Test("a graceful GOAWAY serves everything in its pause and then names the real last stream")
    func twoSteps() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            #expect(await outcome(client, emulator.push()) == "200")
            emulator.apns.inject(.delay(.milliseconds(300)))
            async let late = outcome(client, emulator.push())
            #expect(await eventually { emulator.apns.recordedExchanges.count >= 2 })
            await emulator.apns.goAway(reason: .shutdown, pause: .milliseconds(50))
            #expect(await late == "200")
            try await client.channel.closeFuture.get()
            let goAways = try await client.observation().goAways
            #expect(goAways.map(\.last) == [0x7FFF_FFFF, 3])
            #expect(goAways.map(\.data) == ["", #"{"reason":"Shutdown"}"#])
        }
    }

    @Test("GOAWAY of any shape: code, text, repeats, a stream of choice")
    func anyGoAway() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            #expect(await outcome(client, emulator.push()) == "200")
            let form = GoAwayForm(lastStream: .stream(1), code: 7, debugData: "plain text", times: 2)
            emulator.apns.inject(.goAwayFrame(form))
            #expect(await outcome(client, emulator.push()) != "200")
            try await client.channel.closeFuture.get()
            let goAways = try await client.observation().goAways
            #expect(goAways.map(\.last) == [1, 1])
            #expect(goAways.allSatisfy { $0.code == .refusedStream && $0.data == "plain text" })
            #expect(emulator.apns.requests(for: emulator.token).accepted == 1)
        }
    }

    @Test("connections can be dropped without GOAWAY, and wedged")
    func dropAndWedge() async throws {
        try await RunningEmulator.run { emulator in
            let dropped = try await emulator.connect()
            #expect(await outcome(dropped, emulator.push()) == "200")
            await emulator.apns.dropConnections()
            try await dropped.channel.closeFuture.get()
            #expect(try await dropped.observation().goAways.isEmpty)

            let wedged = try await emulator.connect()
            #expect(await outcome(wedged, emulator.push()) == "200")
            await emulator.apns.wedgeConnections()
            async let lost = outcome(wedged, emulator.push())
            #expect(await eventually { (emulator.apns.traffic.received["HEADERS"] ?? 0) >= 3 })
            try await wedged.close()
            #expect(await lost != "200")
            #expect(emulator.apns.recordedExchanges.count == 2)
        }
    }

    @Test("more connections than the rate allows are closed at once")
    func connectRate() async throws {
        try await RunningEmulator.run { rules in
            rules.connectRate = .init(count: 1, seconds: 3_600)
        } _: { emulator in
            let first = try await emulator.connect()
            #expect(await outcome(first, emulator.push()) == "200")
            let second = try? await emulator.connect()
            try await second?.channel.closeFuture.get()
            emulator.apns.rules.connectRate = nil
            let third = try await emulator.connect()
            #expect(await outcome(third, emulator.push()) == "200")
            try await first.close()
            try await third.close()
        }
    }

    @Test("the limit of streams falls on command and stays there, until another command or the rules raise it")
    func streamLimit() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            #expect(await outcome(client, emulator.push()) == "200")
            await emulator.apns.announce(streamLimit: 1)
            #expect(await outcome(client, emulator.push()) == "200")
            #expect(await outcome(client, emulator.push()) == "200")
            await emulator.apns.announce(streamLimit: 7)
            #expect(await outcome(client, emulator.push()) == "200")
            #expect(await outcome(client, emulator.push(path: "/3/device/" + String(repeating: "0", count: 64))) == "400")
            #expect(await outcome(client, emulator.push()) == "200")
            emulator.apns.rules.concurrentStreams = 500
            #expect(await outcome(client, emulator.push()) == "200")
            let streams = try await client.observation().settings.compactMap { $0.first { $0.hasPrefix("streams") } }
            let expected = [1, 1000, 1, 7, 1, 7, 500].map { "streams=\($0)" }
            #expect(streams == expected, "refusals punish, and the next success gives back what was ordered")
            try await client.close()
        }
    }

    @Test("a wrong credential is answered before the body, if the rules say so, and its refusal may come in pieces")
    func earlyAnswer() async throws {
        try await RunningEmulator.run { rules in
            (rules.answersBeforeBody, rules.answerPieces, rules.retryAfter) = (true, 5, 30)
        } _: { emulator in
            let client = try await emulator.connect()
            let answer = try await client.send(emulator.push(authorization: "bearer a.b.c"))
            #expect(answer.status == "403" && answer.body == #"{"reason":"InvalidProviderToken"}"#)
            #expect(emulator.apns.recordedExchanges.map(\.payloadSize) == [0])
            // It follows the answer.
            #expect(
                await eventually {
                    let reset = emulator.apns.recordedFrames.first { $0.name == "RST_STREAM" && $0.direction == .sent }
                    return reset?.payload == [0, 0, 0, 0]
                })
            #expect(emulator.apns.recordedFrames.count { $0.name == "DATA" && $0.direction == .sent } == 5)
            emulator.apns.inject(.status(503, .serviceUnavailable))
            #expect(try await client.send(emulator.push()).headers["retry-after"] == "30")
            try await client.close()
        }
    }

    @Test("credit that never comes back stops a client whose bodies fill the window")
    func withheldCredit() async throws {
        try await RunningEmulator.run { rules in
            rules.credit = .never
        } _: { emulator in
            let client = try await emulator.connect()
            async let blocked = outcome(client, emulator.push(String(repeating: "x", count: 100_000)))
            #expect(await eventually { emulator.apns.traffic.receivedData >= 65_535 })
            try await client.close()
            #expect(await blocked != "413")
            #expect(emulator.apns.traffic.sent["WINDOW_UPDATE"] == nil)
            #expect(emulator.apns.traffic.receivedData == 65_535)
        }
    }

    @Test("credit comes back once half of the window is used up")
    func halfWindow() async throws {
        try await RunningEmulator.run { emulator in
            let client = try await emulator.connect()
            #expect(await outcome(client, emulator.push(String(repeating: "x", count: 65_535))) == "413")
            let updates = emulator.apns.recordedFrames.filter { $0.name == "WINDOW_UPDATE" && $0.stream == 0 }
            let increments = updates.map { $0.payload.reduce(0) { $0 << 8 | Int($1) } }
            #expect(increments.allSatisfy { $0 > 32_767 })
            #expect(!increments.isEmpty)
            #expect(increments.reduce(0, +) <= 65_535)
            try await client.close()
        }
    }
}
