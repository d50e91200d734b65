import RichPushModel
import Testing

@testable import WebPushEmulation

@Suite("Messages that wait for a browser")
struct WaitingMessageTests {
    /// A fixture whose browser has subscribed and is away.
    private func away(_ adjust: (inout LocalWebPushBounds) -> Void = { _ in }) -> (
        PushServiceFixture, uaid: String, endpoint: String
    ) {
        var fixture = PushServiceFixture(adjust)
        let (connection, uaid, _) = fixture.connect()
        let endpoint = fixture.register(on: connection)
        fixture.state.closed(connection)
        return (fixture, uaid, endpoint)
    }

    @Test("a message with TTL 0 is dropped when the browser is away")
    func nowOrNever() {
        var (fixture, uaid, endpoint) = away()
        #expect(!fixture.push(endpoint, ttl: "0").isEmpty)
        #expect(fixture.connect(uaid: uaid).messages.isEmpty)
    }

    @Test("a message with TTL 0 goes to a connected browser once, and ends with the connection")
    func nowOnly() {
        var (fixture, uaid, endpoint) = away()
        let connection = fixture.connect(uaid: uaid).connection
        var request = fixture.sender.request(endpoint, now: fixture.clock.now)
        request.set("ttl", "0")
        #expect(fixture.post(request).messages.count == 1)
        fixture.state.closed(connection)
        #expect(fixture.connect(uaid: uaid).messages.isEmpty)
    }

    @Test("a message waits until it expires")
    func expiry() {
        var (fixture, uaid, endpoint) = away()
        let first = fixture.push(endpoint, ttl: "60")
        fixture.push(endpoint, ttl: "59")
        fixture.clock.advance(by: .seconds(59))
        #expect(fixture.connect(uaid: uaid).messages.map(\.version) == [first])
    }

    @Test("ten messages leave together, those with a topic first, and the next ones when all are acknowledged")
    func batches() {
        var (fixture, uaid, endpoint) = away()
        var plain = (0..<11).map { _ in fixture.push(endpoint) }
        let topic = fixture.push(endpoint, topic: "news")
        let (connection, _, first) = fixture.connect(uaid: uaid)
        #expect(first.map(\.version) == [topic] + plain.prefix(9))
        #expect(fixture.acknowledge(Array(first.dropLast()), on: connection).isEmpty)
        plain.append(fixture.push(endpoint))
        let second = fixture.acknowledge([first[9]], on: connection)
        #expect(second.map(\.version) == plain.suffix(3))
        #expect(fixture.acknowledge(second, on: connection).isEmpty)
        #expect(fixture.state.users[uaid]?.messages.isEmpty == true)
    }

    @Test("a message for a connected browser without a backlog leaves at once, although others are under way")
    func live() {
        var (fixture, uaid, endpoint) = away()
        _ = fixture.connect(uaid: uaid)
        for _ in 0..<3 {
            #expect(fixture.post(fixture.sender.request(endpoint, now: fixture.clock.now)).messages.count == 1)
        }
    }

    @Test("a message with TTL 0 does not let the next batch go")
    func urgentBesideBatch() {
        var (fixture, uaid, endpoint) = away()
        for _ in 0..<11 { fixture.push(endpoint) }
        #expect(fixture.connect(uaid: uaid).messages.count == 10)
        var request = fixture.sender.request(endpoint, now: fixture.clock.now)
        request.set("ttl", "0")
        #expect(fixture.post(request).messages.count == 1)
    }

    @Test("what is not acknowledged comes again at the next connection")
    func redelivery() {
        var (fixture, uaid, endpoint) = away()
        let ids = (0..<3).map { _ in fixture.push(endpoint) }
        let (connection, _, first) = fixture.connect(uaid: uaid)
        _ = fixture.acknowledge([first[1]], on: connection)
        fixture.state.closed(connection)
        #expect(fixture.connect(uaid: uaid).messages.map(\.version) == [ids[0], ids[2]])
        #expect(fixture.state.recorder.deliveries.map(\.isRepeat) == [false, false, false, true, true])
        #expect(fixture.state.recorder.deliveries.map(\.acknowledgement) == [nil, 100, nil, nil, nil])
    }

    @Test("a newer message with the same topic and subscription replaces an older one")
    func topics() {
        var fixture = PushServiceFixture()
        let (connection, uaid, _) = fixture.connect()
        let endpoint = fixture.register(on: connection)
        let elsewhere = fixture.register(PushServiceFixture.channel(2), on: connection)
        fixture.state.closed(connection)
        fixture.push(endpoint, topic: "score")
        let others = [fixture.push(elsewhere, topic: "score"), fixture.push(endpoint, topic: "news")]
        let newer = fixture.push(endpoint, topic: "score")
        #expect(fixture.connect(uaid: uaid).messages.map(\.version) == others + [newer])
    }

    @Test("more than 150 waiting messages reset the user, who gets a new id")
    func reset() {
        var (fixture, uaid, endpoint) = away()
        for _ in 0..<150 { fixture.push(endpoint) }
        let before = fixture.state.users[uaid]?.isOverfull
        #expect(before == false)
        fixture.push(endpoint)
        let (_, answered, messages) = fixture.connect(uaid: uaid)
        #expect(answered != uaid)
        #expect(messages.isEmpty)
        #expect(fixture.post(fixture.sender.request(endpoint, now: fixture.clock.now)).answer?.status == 410)
    }

    @Test("a connected browser that acknowledges nothing is reset as well, and its connection ends")
    func connectedReset() {
        var (fixture, uaid, endpoint) = away { $0.waitingMessages = 2 }
        let connection = fixture.connect(uaid: uaid).connection
        for _ in 0..<2 { fixture.push(endpoint) }
        let verdict = fixture.state.judge(
            fixture.sender.request(endpoint, now: fixture.clock.now),
            vapid: VAPIDStatement(authorization: fixture.sender.authorization(now: fixture.clock.now)), now: fixture.clock.now)
        #expect(verdict.answer?.status == 201)
        #expect(verdict.instructions == [.init(connection: connection, action: .close(.userReset))])
        #expect(fixture.state.users[uaid] == nil)
    }

    @Test("a second connection with the same id displaces the first")
    func displacement() {
        var (fixture, uaid, endpoint) = away()
        let first = fixture.connect(uaid: uaid).connection
        let second = fixture.state.open()
        let instructions = fixture.state.receive(
            #"{"messageType":"hello","use_webpush":true,"uaid":"\#(uaid)"}"#, on: second, now: fixture.clock.now)
        #expect(instructions.first == .init(connection: first, action: .close(.displaced)))
        fixture.state.closed(first)
        #expect(fixture.post(fixture.sender.request(endpoint, now: fixture.clock.now)).messages.count == 1)
        #expect(fixture.state.recorder.deliveries.last?.connection == second)
    }

    @Test("a message can be cancelled while it is not acknowledged, and only once")
    func cancellation() {
        var (fixture, uaid, endpoint) = away()
        let id = fixture.push(endpoint)
        let request = SenderRequest(method: "DELETE", path: "/m/\(id)")
        #expect(fixture.post(request).answer?.status == 204)
        #expect(fixture.post(request).answer?.status == 404)
        #expect(fixture.connect(uaid: uaid).messages.isEmpty)
    }

    @Test("codes of acknowledgements and failures are recorded, and a failure keeps the message")
    func codes() {
        var (fixture, uaid, endpoint) = away()
        fixture.push(endpoint)
        let (connection, _, messages) = fixture.connect(uaid: uaid)
        _ = fixture.say(#"{"messageType":"nack","version":"\#(messages[0].version)","code":302}"#, on: connection)
        #expect(fixture.state.users[uaid]?.messages.count == 1)
        _ = fixture.acknowledge(messages, on: connection, code: 101)
        #expect(fixture.state.recorder.reports.map(\.code) == [302, 101])
        #expect(fixture.state.users[uaid]?.messages.isEmpty == true)
    }
}
