import AsyncHTTPClient
import ClarionTesting
import Foundation
import NIOCore
import RichPushModel
import Testing

@testable import FCMEmulation

@Suite("The local FCM on a port", .timeLimit(.minutes(1)))
struct LocalFCMTests {
    @Test("a key file brings an access token, which sends a message to a phone", arguments: [false, true])
    func endToEnd(http1Only: Bool) async throws {
        try await RunningFCM.run(http1Only: http1Only) { running in
            let file = FCMFixture.members(try running.fcm.makeKey(project: FCMFixture.project))
            #expect(file["token_uri"]?.asText == "https://127.0.0.1:\(running.port)/token")
            #expect(file["private_key"]?.asText?.hasPrefix("-----BEGIN PRIVATE KEY-----\n") == true)
            var events = running.phone.events.makeAsyncIterator()
            let answer = try await running.push()
            #expect(answer.status == 200)
            #expect(answer.response.version == (http1Only ? .http1_1 : .http2))
            guard case .message(let message)? = await events.next() else { return #expect(Bool(false), "nothing came") }
            #expect(message.data == ["a": "b"])
            #expect(answer.body == #"{"name":"projects/\#(FCMFixture.project)/messages/\#(message.id)"}"#)
            #expect(running.fcm.recorder.exchanges.map(\.isHTTP2) == [!http1Only])
        }
    }

    @Test("a body that is too long is refused, over both versions", arguments: [false, true])
    func longBody(http1Only: Bool) async throws {
        try await RunningFCM.run(http1Only: http1Only) { running in
            let body = String(repeating: " ", count: GoogleRequest.largestBody + 70_000)
            let answer = try? await running.call("POST", "/v1/projects/\(FCMFixture.project)/messages:send", body)
            // Over HTTP/2 the rest of the body is not waited for, which some clients take for a failure.
            if http1Only { #expect(answer?.status == 400) }
            #expect(running.fcm.recorder.exchanges.map(\.brokenRule) == [.bodySize])
            let next = try await running.push()
            #expect(next.status == 200)
        }
    }

    @Test("several hundred requests side by side on one connection are all answered")
    func sideBySide() async throws {
        try await RunningFCM.run { running in
            running.fcm.quotas.devicePerMinute = 1_000
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<300 { group.addTask { try await running.push().status } }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [200: 300])
            #expect(running.fcm.recorder.deliveries.count == 300)
        }
    }

    @Test("more bytes than a connection's window pass")
    func credit() async throws {
        try await RunningFCM.run { running in
            let filler = String(repeating: " ", count: 500_000)
            for _ in 0..<20 {
                let answer = try await running.push(#""data":{"a":"b"}\#(filler)"#)
                #expect(answer.status == 200)
            }
        }
    }

    private static let path = "/v1/projects/\(FCMFixture.project)/messages:send"

    /// The frames of the answer to one request on stream 1, up to a number of them, and the end of the connection after a second.
    private func frames(_ fault: FCMFault, _ count: Int, _ running: RunningFCM, _ clock: ManualClock) async throws -> [FrameClient
        .Seen]
    {
        running.fcm.inject(fault)
        let client = try await FrameClient.connect(to: running)
        try await client.send(
            running, stream: 1, path: Self.path, body: #"{"message":{"token":"\#(running.phone.token ?? "")"}}"#)
        var (seen, frames) = ([FrameClient.Seen](), client.frames.makeAsyncIterator())
        while seen.count < count, let frame = await frames.next() { seen.append(frame) }
        if case .goAway? = seen.last {
            #expect(await eventually { clock.hasSleeper(dueIn: .seconds(1)) })
            clock.advance(by: .seconds(1))
            #expect(await frames.next() == .closed)
        }
        await client.close()
        return seen
    }

    @Test("faults are seen in the frames as they are meant")
    func frames() async throws {
        // By a clock that stands still, so that a slow machine sees GOAWAY before the end.
        let clock = ManualClock(start: SystemClock().now)
        try await RunningFCM.run(clock: clock) { running in
            #expect(try await frames(.resetStream, 1, running, clock) == [.reset(stream: 1, code: 2)])
            #expect(try await frames(.goAway(processed: false), 1, running, clock) == [.goAway(last: 0)])
            let drained = try await frames(.goAway(processed: true), 3, running, clock)
            #expect(drained.first == .headers(stream: 1, status: "200"))
            #expect(drained.last == .goAway(last: 1))
            #expect(try await frames(.loseAnswer, 1, running, clock) == [.closed])
            let half = try await frames(.halfAnswer, 2, running, clock)
            guard case .data(1, let text, false)? = half.last else { return #expect(Bool(false), "no half of a body came") }
            #expect(text.hasPrefix(#"{"name":"#) && !text.hasSuffix("}"))
            #expect(running.fcm.recorder.deliveries.count == 3)
        }
    }

    @Test("a stalled stream holds up no other one")
    func stall() async throws {
        try await RunningFCM.run { running in
            running.fcm.inject(.stall)
            let client = try await FrameClient.connect(to: running)
            let body = #"{"message":{"topic":"news"}}"#
            for stream in [1, 3] { try await client.send(running, stream: stream, path: Self.path, body: body) }
            var frames = client.frames.makeAsyncIterator()
            #expect(await frames.next() == .headers(stream: 3, status: "200"))
            await client.close()
        }
    }

    @Test("an answer comes when its time has come by the clock", arguments: [false, true])
    func delay(http1Only: Bool) async throws {
        let clock = ManualClock(start: SystemClock().now)
        try await RunningFCM.run(http1Only: http1Only, clock: clock) { running in
            running.fcm.inject(.delay(milliseconds: 30_000))
            async let answer = running.push()
            #expect(await eventually { clock.hasSleeper(dueIn: .milliseconds(30_000)) })
            clock.advance(by: .milliseconds(30_000))
            let status = try await answer.status
            #expect(status == 200)
        }
    }

    @Test("a connection on which nothing happens is closed after two looks")
    func idle() async throws {
        let clock = ManualClock(start: SystemClock().now)
        try await RunningFCM.run(clock: clock) { running in
            let client = try await FrameClient.connect(to: running)
            try await client.send(running, stream: 1, path: Self.path, body: #"{"message":{"topic":"news"}}"#)
            var frames = client.frames.makeAsyncIterator()
            #expect(await frames.next() == .headers(stream: 1, status: "200"))
            for _ in 0..<2 {
                #expect(await eventually { clock.hasSleeper(dueIn: .seconds(60)) })
                clock.advance(by: .seconds(60))
            }
            while let frame = await frames.next(), frame != .closed {}
        }
    }

    @Test("over HTTP/1.1 a lost answer ends the connection, and the message was delivered")
    func lostAnswer() async throws {
        try await RunningFCM.run(http1Only: true) { running in
            running.fcm.inject(.loseAnswer)
            await #expect(throws: (any Error).self) { try await running.push() }
            #expect(running.fcm.recorder.deliveries.count == 1)
            running.fcm.inject(.goAway(processed: true))
            let answer = try await running.push()
            #expect(answer.response.headers.first(name: "connection") == "close")
        }
    }

    @Test("an address that other machines reach is refused, and so are a bad certificate and a second start")
    func refusals() async throws {
        let identity = LocalFCMSettings.Identity(certificatePEM: "x", privateKeyPEM: "y")
        let remote = LocalFCM(
            settings: LocalFCMSettings(identity: identity, host: "0.0.0.0"), clock: .system,
            group: .singletonMultiThreadedEventLoopGroup,
            logger: RunningFCM.quiet)
        await #expect(throws: LocalFCMError.notLoopback(host: "0.0.0.0")) { try await remote.start() }
        await #expect(throws: LocalFCMError.self) { try await RunningFCM.inProcess().start() }
        try await RunningFCM.run { running in
            await #expect(throws: LocalFCMError.alreadyStarted) { try await running.fcm.start() }
        }
    }

    @Test("connections may be refused, and end with the service")
    func connections() async throws {
        try await RunningFCM.run { running in
            running.fcm.refusesConnections = true
            let refused = try await FrameClient.connect(to: running)
            #expect(await refused.frames.first { _ in true } == .closed)
            running.fcm.refusesConnections = false
            #expect(try await running.push().status == 200)
            let client = try await FrameClient.connect(to: running)
            try await client.send(running, stream: 1, path: "/nothing", body: "")
            var frames = client.frames.makeAsyncIterator()
            #expect(await frames.next() == .headers(stream: 1, status: "404"))
            var events = running.phone.events.makeAsyncIterator()
            await running.fcm.shutdown()
            while let frame = await frames.next(), frame != .closed {}
            #expect(await events.next() == nil)
            #expect(await running.phone.events.first { _ in true } == nil)
        }
    }

    @Test("a phone with a new reader ends the stream of the one before")
    func readers() async throws {
        let fcm = RunningFCM.inProcess()
        try fcm.addProject(FCMFixture.project)
        let phone = try fcm.addDevice("phone", project: FCMFixture.project, package: "com.example.shop")
        var (first, second) = (phone.events.makeAsyncIterator(), phone.events.makeAsyncIterator())
        #expect(await first.next() == nil)
        try phone.act(.renewToken)
        #expect(await second.next() == .newToken(try #require(phone.token)))
        #expect(fcm.device("phone")?.fid == phone.fid)
        #expect(fcm.device("other") == nil)
        #expect(throws: LocalFCMError.self) { try fcm.addDevice("phone", project: FCMFixture.project, package: "other") }
    }
}
