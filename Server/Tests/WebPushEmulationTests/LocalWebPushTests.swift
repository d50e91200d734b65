import AsyncHTTPClient
import ClarionTesting
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import RichPushModel
import Testing
import WebPushProtocol

@testable import WebPushEmulation

/// Whether nothing waits for a browser any more, soon.
func eventuallyIsEmpty(_ service: LocalWebPush, _ uaid: String) async -> Bool {
    await eventually { service.waitingMessages(for: uaid) == 0 }
}

@Suite("The local push service on a port", .timeLimit(.minutes(1)))
struct LocalWebPushTests {
    @Test("a browser subscribes by WebSocket, a sender posts, and the browser reads and acknowledges")
    func endToEnd() async throws {
        try await RunningPushService.run { running in
            let session = try await running.connect()
            let subscription = try await session.subscribe(serverKey: running.sender.publicText)
            #expect(subscription.origin == running.service.origin)
            let answer = try await running.push("hello", to: subscription)
            #expect(answer.status == .created)
            var pushes = session.pushes.makeAsyncIterator()
            #expect(await pushes.next()?.text == "hello")
            let uaid = try #require(session.browser.uaid)
            #expect(await eventuallyIsEmpty(running.service, uaid))
            #expect(running.service.recorder.deliveries.map(\.acknowledgement) == [100])
            #expect(running.service.recorder.exchanges.map(\.status) == [201])
        }
    }

    @Test("nothing is lost over a restart: the endpoint lives, and what waited or was not acknowledged comes")
    func restart() async throws {
        let before = try await subscribedAndRestarted()
        try await RunningPushService.run(port: before.port, kept: before.kept, sender: before.sender) { running in
            var browser = before.browser
            browser.behaviour.acknowledges = true
            let session = try await running.connect(browser)
            #expect(session.browser.uaid == before.browser.uaid)
            var pushes = session.pushes.makeAsyncIterator()
            #expect(await pushes.next()?.outcome == .repeated, "it was read before, and not acknowledged")
            #expect(await pushes.next()?.text == "second")
            let subscription = try #require(session.browser.subscription(session.browser.channelIDs[0]))
            #expect(try await running.push("third", to: subscription).status == .created)
            #expect(await pushes.next()?.text == "third")
            #expect(await eventuallyIsEmpty(running.service, try #require(session.browser.uaid)))
        }
    }

    private struct Before {
        var browser: SimulatedBrowser
        var kept: KeptPushService
        var port: Int
        var sender: TestSender
    }

    /// A browser that read one message and acknowledged nothing; a second message came while it was away.
    private func subscribedAndRestarted() async throws -> Before {
        var before: Before?
        try await RunningPushService.run { running in
            var behaviour = SimulatedBrowser.Behaviour()
            behaviour.acknowledges = false
            let session = try await running.connect(SimulatedBrowser(behaviour: behaviour))
            let subscription = try await session.subscribe(serverKey: running.sender.publicText)
            let uaid = try #require(session.browser.uaid)
            _ = try await running.push("first", to: subscription)
            var pushes = session.pushes.makeAsyncIterator()
            #expect(await pushes.next()?.text == "first")
            session.close()
            #expect(await eventually { !running.service.isConnected(uaid) })
            #expect(try await running.push("second", to: subscription).status == .created)
            before = Before(
                browser: session.browser, kept: running.service.keptState, port: running.port, sender: running.sender)
        }
        return try #require(before)
    }

    @Test("a refusal has its JSON, and the connection stays for the next request")
    func refusal() async throws {
        try await RunningPushService.run { running in
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(running.port)/wpush/v2/x")
            request.method = .POST
            request.headers = ["ttl": "60"]
            for _ in 0..<2 {
                let answer = try await running.client.execute(request, timeout: .seconds(20))
                #expect(answer.status == .notFound)
                let body = try await answer.body.collect(upTo: 10_000)
                #expect(String(buffer: body).hasPrefix(#"{"code":404,"errno":102,"error":"Not Found","message":"#))
            }
            request.body = .bytes([UInt8](repeating: 0, count: 100_000))
            #expect(try await running.client.execute(request, timeout: .seconds(20)).status == .payloadTooLarge)
        }
    }

    @Test("a message can be cancelled at its location")
    func cancellation() async throws {
        try await RunningPushService.run { running in
            let session = try await running.connect()
            let subscription = try await session.subscribe(serverKey: running.sender.publicText)
            let uaid = try #require(session.browser.uaid)
            session.close()
            #expect(await eventually { !running.service.isConnected(uaid) })
            let answer = try await running.push("hello", to: subscription)
            var request = HTTPClientRequest(url: try #require(answer.headers.first(name: "location")))
            request.method = .DELETE
            #expect(try await running.client.execute(request, timeout: .seconds(20)).status == .noContent)
            #expect(running.service.waitingMessages(for: uaid) == 0)
        }
    }

    @Test("a lost answer and the end of a connection in a body are errors for the sender, and the former delivers")
    func lostConnections() async throws {
        try await RunningPushService.run { running in
            let session = try await running.connect()
            let subscription = try await session.subscribe(serverKey: running.sender.publicText)
            running.service.inject(.closeInBody)
            await #expect(throws: (any Error).self) { try await running.push("lost", to: subscription) }
            running.service.inject(.closeBeforeAnswer)
            await #expect(throws: (any Error).self) { try await running.push("kept", to: subscription) }
            var pushes = session.pushes.makeAsyncIterator()
            #expect(await pushes.next()?.text == "kept")
        }
    }

    @Test("connections can be refused, and those of browsers ended")
    func refusedConnections() async throws {
        try await RunningPushService.run { running in
            let session = try await running.connect()
            running.service.closeBrowsers(staysAway: true)
            for await _ in session.pushes { Issue.record("nothing was sent") }
            #expect(session.closeCode == 4774)
            running.service.refusesConnections = true
            await #expect(throws: (any Error).self) { try await running.connect() }
            running.service.refusesConnections = false
            #expect(try await running.connect().isOpen)
        }
    }

    @Test("a browser that speaks against the protocol is closed with the code that says why")
    func protocolErrors() async throws {
        try await RunningPushService.run { running in
            let mistakes: [(code: UInt16, make: @Sendable (BrowserSession) -> Void)] = [
                (1011, { $0.say("nonsense") }), (1011, { $0.say(#"{"messageType":"hello","use_webpush":true}"#) }),
                (1009, { $0.say(String(repeating: "x", count: 70_000)) }), (1003, { $0.say(bytes: [1]) }),
            ]
            for (code, make) in mistakes {
                let session = try await running.connect()
                make(session)
                for await _ in session.pushes { Issue.record("nothing was sent") }
                #expect(session.closeCode == code)
            }
            #expect(running.service.users.isEmpty)
        }
    }

    @Test("a browser that does not say hello is closed after five seconds, and one that answers pings stays")
    func deadlines() async throws {
        let clock = ManualClock()
        try await RunningPushService.run(clock: clock) { running in
            let wire = try await BrowserSession.wire(
                host: "127.0.0.1", port: running.port, group: MultiThreadedEventLoopGroup.singleton)
            #expect(await eventually { clock.hasSleeper(dueIn: .seconds(5)) })
            clock.advance(by: .seconds(5))
            var incoming = wire.incoming.makeAsyncIterator()
            #expect(await incoming.next() == .closed(1011))
            #expect(await incoming.next() == nil)

            let session = try await running.connect()
            #expect(await eventually { clock.hasSleeper(dueIn: .seconds(300)) })
            clock.advance(by: .seconds(300))
            // The simulated browser answers pings, so the wait for its pong ends and the connection stays.
            #expect(await eventually { clock.hasSleeper(dueIn: .seconds(300)) && !clock.hasSleeper(dueIn: .seconds(4)) })
            clock.advance(by: .seconds(4))
            _ = try await session.subscribe(serverKey: nil)
            #expect(session.isOpen)
        }
    }

    @Test("an address that other machines reach is refused, and a service starts once")
    func start() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let open = LocalWebPush(
            settings: LocalWebPushSettings(host: "0.0.0.0"), clock: .system, group: group, logger: RunningPushService.quiet)
        await #expect(throws: LocalWebPushError.notLoopback(host: "0.0.0.0")) { try await open.start() }
        try await RunningPushService.run { running in
            await #expect(throws: LocalWebPushError.alreadyStarted) { try await running.service.start() }
            let second = LocalWebPush(
                settings: LocalWebPushSettings(port: running.port), clock: .system, group: group, logger: RunningPushService.quiet
            )
            await #expect(throws: LocalWebPushError.self) { try await second.start() }
            await second.shutdown()
        }
    }
}
