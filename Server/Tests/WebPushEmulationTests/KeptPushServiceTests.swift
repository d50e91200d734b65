import Foundation
import RichPushModel
import Testing
import WebPushProtocol

@testable import WebPushEmulation

@Suite("What the local push service keeps between runs")
struct KeptPushServiceTests {
    @Test("users, endpoints and waiting messages are as good after a restart as before")
    func restart() throws {
        var before = PushServiceFixture()
        let (connection, uaid, _) = before.connect()
        let endpoints = [
            before.register(on: connection), before.register(PushServiceFixture.channel(2), on: connection, withKey: false),
        ]
        before.state.closed(connection)
        let ids = [before.push(endpoints[0]), before.push(endpoints[1], topic: "news")]
        let kept = try JSONDecoder().decode(KeptPushService.self, from: JSONEncoder().encode(before.state.kept))
        var after = PushServiceFixture()
        after.state.tokenKey = .init(data: [UInt8](repeating: 1, count: 32))
        try after.state.restore(kept)
        #expect(after.state.kept == kept)
        for endpoint in endpoints {
            var request = before.sender.request(endpoint, now: after.clock.now)
            request.set("ttl", "0")
            #expect(after.post(request).answer?.status == 201)
        }
        let (_, answered, messages) = after.connect(uaid: uaid)
        #expect(answered == uaid)
        #expect(messages.map(\.version) == [ids[1], ids[0]])
    }

    @Test("a subscription that ended is gone after a restart as well")
    func ended() throws {
        var before = PushServiceFixture()
        let (connection, _, _) = before.connect()
        let endpoint = before.register(on: connection)
        _ = before.register(PushServiceFixture.channel(2), on: connection)
        _ = before.say(#"{"messageType":"unregister","channelID":"\#(PushServiceFixture.channel(1))"}"#, on: connection)
        var after = PushServiceFixture()
        try after.state.restore(before.state.kept)
        #expect(after.post(before.sender.request(endpoint, now: after.clock.now)).answer?.status == 410)
    }

    @Test("every change of what is kept changes the revision, and a ping does not")
    func revision() {
        var fixture = PushServiceFixture()
        var seen = [fixture.state.keptRevision]
        let (connection, uaid, _) = fixture.connect()
        let endpoint = fixture.register(on: connection)
        seen.append(fixture.state.keptRevision)
        fixture.state.closed(connection)
        fixture.push(endpoint)
        seen.append(fixture.state.keptRevision)
        let (again, _, messages) = fixture.connect(uaid: uaid)
        seen.append(fixture.state.keptRevision)
        _ = fixture.say("{}", on: again)
        #expect(seen.last == fixture.state.keptRevision)
        _ = fixture.acknowledge(messages, on: again)
        seen.append(fixture.state.keptRevision)
        #expect(seen == Array(Set(seen)).sorted())
    }

    @Test("a state of another version, or one that does not fit itself, is refused and takes in nothing")
    func refused() throws {
        var fixture = PushServiceFixture()
        let (connection, _, _) = fixture.connect()
        _ = fixture.register(on: connection)
        var kept = fixture.state.kept
        let service = RunningPushService.inProcess()
        kept.version = 9
        #expect(throws: LocalWebPushError.self) { try service.restore(kept) }
        kept.version = KeptPushService.presentVersion
        kept.users[0].subscriptions[0].channelID = PushServiceFixture.channel(7)
        #expect(throws: LocalWebPushError.self) { try service.restore(kept) }
        kept.users[0].subscriptions[0].channelID = PushServiceFixture.channel(1)
        kept.tokenKey = "AAAA"
        #expect(throws: LocalWebPushError.self) { try service.restore(kept) }
        #expect(service.keptState.isEmpty)
        #expect(service.users.isEmpty)
    }
}

@Suite("Browsers within the process")
struct BrowserSessionTests {
    private func push(_ message: String, to subscription: WebPushSubscription, of service: LocalWebPush, _ sender: TestSender)
        throws -> Int?
    {
        var request = sender.request(subscription.endpoint.url, now: service.core.clock.now)
        request.set(try WebPushEncryption.body(of: Array(message.utf8), for: subscription))
        return service.core.judge(request).answer?.status
    }

    @Test("a browser subscribes, reads its push and acknowledges it")
    func delivery() async throws {
        let (service, sender) = (RunningPushService.inProcess(), TestSender())
        let session = try await BrowserSession.connect(SimulatedBrowser(), to: service)
        let subscription = try await session.subscribe(serverKey: sender.publicText)
        #expect(try push("hello", to: subscription, of: service, sender) == 201)
        var pushes = session.pushes.makeAsyncIterator()
        #expect(await pushes.next()?.text == "hello")
        let uaid = try #require(session.browser.uaid)
        #expect(await eventuallyIsEmpty(service, uaid))
        #expect(service.recorder.deliveries.map(\.acknowledgement) == [100])
    }

    @Test("a permission that is withdrawn ends the endpoint")
    func permission() async throws {
        let (service, sender) = (RunningPushService.inProcess(), TestSender())
        let session = try await BrowserSession.connect(SimulatedBrowser(), to: service)
        let subscription = try await session.subscribe(serverKey: sender.publicText)
        session.withdrawPermission()
        #expect(try push("hello", to: subscription, of: service, sender) == 410)
        #expect(service.recorder.reports.map(\.code) == [202])
    }

    @Test("a key that the service refuses fails the subscription")
    func refusedKey() async throws {
        let session = try await BrowserSession.connect(SimulatedBrowser(), to: RunningPushService.inProcess())
        await #expect(throws: BrowserSession.Failure.refused(status: 400)) { try await session.subscribe(serverKey: "AAAA") }
        #expect(session.browser.channelIDs.isEmpty)
    }

    @Test("a browser that is reset loses its subscriptions at the next connection")
    func reset() async throws {
        let (service, sender) = (RunningPushService.inProcess(), TestSender())
        let session = try await BrowserSession.connect(SimulatedBrowser(), to: service)
        _ = try await session.subscribe(serverKey: sender.publicText)
        let uaid = try #require(session.browser.uaid)
        service.reset(uaid)
        for await _ in session.pushes { Issue.record("nothing was sent") }
        #expect(!session.isOpen)
        let next = try await BrowserSession.connect(session.browser, to: service)
        #expect(next.browser.uaid != uaid)
        #expect(next.browser.channelIDs.isEmpty)
        await #expect(throws: BrowserSession.Failure.closed) { try await session.subscribe(serverKey: nil) }
    }
}
