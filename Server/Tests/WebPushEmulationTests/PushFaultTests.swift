import RichPushModel
import Testing

@testable import WebPushEmulation

@Suite("Faults on demand")
struct PushFaultTests {
    private func connected() -> (PushServiceFixture, uaid: String, endpoint: String) {
        var fixture = PushServiceFixture()
        let (connection, uaid, _) = fixture.connect()
        let endpoint = fixture.register(on: connection)
        return (fixture, uaid, endpoint)
    }

    @Test(
        "a fault answers for the service, and nothing is delivered",
        arguments: [
            (SenderFault.tooManyRequests(retryAfter: 7), 429, "7"), (.tooManyRequests(retryAfter: nil), 429, nil),
            (.unavailable(retryAfter: 120), 503, "120"), (.gone, 410, nil), (.tooLarge, 413, nil), (.serverError, 500, nil),
            (.redirect, 307, nil),
        ] as [(SenderFault, Int, String?)])
    func answers(fault: SenderFault, status: Int, pause: String?) {
        var (fixture, uaid, endpoint) = connected()
        fixture.state.faults.add(fault, times: 1)
        let (answer, messages) = fixture.post(fixture.sender.request(endpoint, now: fixture.clock.now))
        #expect(answer?.status == status)
        #expect(answer?.headers.first { $0.name == "retry-after" }?.value == pause)
        #expect(messages.isEmpty)
        #expect(fixture.state.users[uaid]?.messages.isEmpty == true)
        #expect(fixture.state.recorder.exchanges.last?.fault == fault)
        #expect(fixture.post(fixture.sender.request(endpoint, now: fixture.clock.now)).answer?.status == 201)
    }

    @Test("a 201 that is lost leaves the message where it is")
    func lostAnswer() {
        var (fixture, uaid, endpoint) = connected()
        fixture.state.faults.add(.closeBeforeAnswer, times: 1)
        let (answer, messages) = fixture.post(fixture.sender.request(endpoint, now: fixture.clock.now))
        #expect(answer == nil)
        #expect(messages.count == 1)
        #expect(fixture.state.users[uaid]?.messages.count == 1)
        #expect(fixture.state.recorder.exchanges.last?.status == nil)
    }

    @Test("a connection that ends in order keeps no message of the request that it names")
    func orderlyEnd() {
        var (fixture, uaid, endpoint) = connected()
        fixture.state.faults.add(.endInOrder, times: 1)
        let verdict = fixture.state.judge(
            fixture.sender.request(endpoint, now: fixture.clock.now), vapid: nil, now: fixture.clock.now)
        #expect(verdict.answer?.status == 401, "only a request that passes every check meets it")
        let request = fixture.sender.request(endpoint, now: fixture.clock.now)
        let vapid = request.header("authorization").flatMap(VAPIDStatement.init(authorization:))
        let end = fixture.state.judge(request, vapid: vapid, now: fixture.clock.now)
        #expect(end.answer == nil && end.endsInOrder)
        #expect(fixture.state.users[uaid]?.messages.isEmpty == true)
    }

    @Test("a fault waits for a request that has nothing wrong with it")
    func onlyGoodRequests() {
        var (fixture, _, endpoint) = connected()
        fixture.state.faults.add(.serverError, times: 2)
        var request = fixture.sender.request(endpoint, now: fixture.clock.now)
        request.set("ttl", nil)
        #expect(fixture.post(request).answer?.status == 400)
        #expect(fixture.state.faults.count == 2)
    }

    @Test("the end of a connection in the middle of a body is taken there and nowhere else")
    func inBody() {
        var (fixture, _, endpoint) = connected()
        let request = fixture.sender.request(endpoint, now: fixture.clock.now)
        let fails = fixture.state.failsInBody(request, now: fixture.clock.now)
        #expect(!fails)
        fixture.state.faults.add(.closeInBody, times: 1)
        #expect(fixture.post(request).answer?.status == 201)
        let failsNow = fixture.state.failsInBody(request, now: fixture.clock.now)
        #expect(failsNow)
        #expect(fixture.state.faults.count == 0)
    }

    @Test("a sender that follows the redirect is found out")
    func redirect() throws {
        var (fixture, _, endpoint) = connected()
        fixture.state.faults.add(.redirect, times: 1)
        var request = fixture.sender.request(endpoint, now: fixture.clock.now)
        let place = try #require(fixture.post(request).answer?.headers.first { $0.name == "location" }?.value)
        request.path = String(place.dropFirst(PushServiceFixture.origin.count))
        #expect(fixture.post(request).answer?.status == 400)
        #expect(fixture.state.recorder.exchanges.last?.brokenRule == .noRedirect)
    }
}
