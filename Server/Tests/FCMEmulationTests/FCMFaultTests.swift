import RichPushModel
import Testing

@testable import FCMEmulation

@Suite("Faults of the local FCM")
struct FCMFaultTests {
    @Test(
        "a fault answers for the service, and nothing is delivered",
        arguments: [
            (.tooManyRequests(nil), 429, nil), (.tooManyRequests(.seconds(7)), 429, "7"),
            (.tooManyRequests(.date(inSeconds: 90)), 429, "Fri, 15 Jan 2027 08:01:30 GMT"),
            (.unavailable(nil), 503, nil), (.unavailable(.seconds(120)), 503, "120"), (.serverError, 500, nil),
            (.badGateway, 502, nil), (.refusal(.registered), 404, nil), (.revokeTokens, 401, nil),
        ] as [(FCMFault, Int, String?)])
    func answers(fault: FCMFault, status: Int, pause: String?) throws {
        var fixture = try FCMFixture()
        fixture.state.faults.add(fault, at: .send, times: 1, after: 0, every: nil)
        let answer = fixture.post(fixture.send()).answer
        #expect(answer.status == status)
        #expect(answer.headers.first { $0.name == "retry-after" }?.value == pause)
        #expect(answer.body.hasPrefix(fault == .badGateway ? "<!DOCTYPE html>" : #"{"error""#))
        #expect(fixture.events() == [])
        #expect(fixture.state.recorder.exchanges.last?.fault == fault)
        #expect(fixture.state.recorder.exchanges.last?.status == status)
        let code = fixture.state.recorder.exchanges.last?.errorCode.map { #""errorCode":"\#($0)""# }
        #expect(answer.body.contains(code ?? "errorCode") == (code != nil), "what is recorded is what was answered")
        if fault == .revokeTokens {
            #expect(fixture.broken(by: fixture.send()) == [.credentialNotRevoked])
        } else {
            #expect(fixture.push() != nil)
        }
    }

    @Test(
        "what happens to an answer leaves the message where it is, or undone",
        arguments: [
            (.delay(milliseconds: 5), true, true), (.loseAnswer, true, false), (.halfAnswer, true, false),
            (.goAway(processed: true), true, true), (.goAway(processed: false), false, false), (.resetStream, false, false),
            (.stall, false, false),
        ] as [(FCMFault, Bool, Bool)])
    func outcomes(fault: FCMFault, isDelivered: Bool, isAnswered: Bool) throws {
        var fixture = try FCMFixture()
        fixture.state.faults.add(fault, at: .send, times: 1, after: 0, every: nil)
        #expect(fixture.post(fixture.send()).fault == fault)
        #expect(fixture.events().count == (isDelivered ? 1 : 0))
        #expect((fixture.state.recorder.exchanges.last?.status != nil) == isAnswered)
    }

    @Test("a fault waits for a request of its endpoint that has nothing wrong with it")
    func onlyGoodRequests() throws {
        var fixture = try FCMFixture()
        fixture.state.faults.add(.serverError, at: .send, times: 2, after: 0, every: nil)
        fixture.post(fixture.send(#""data":1"#))
        #expect(fixture.post(try fixture.grant()).answer.status == 200)
        #expect(fixture.state.faults.count == 2)
        fixture.state.faults.add(.badGateway, at: .token, times: 1, after: 0, every: nil)
        #expect(fixture.post(try fixture.grant()).answer.status == 502)
    }

    @Test("faults strike after some requests, and again and again")
    func plan() throws {
        var fixture = try FCMFixture()
        fixture.state.faults.add(.serverError, at: .send, times: 2, after: 1, every: nil)
        fixture.state.faults.add(.unavailable(nil), at: .send, times: 1, after: 0, every: 3)
        let statuses = (0..<10).map { _ in fixture.post(fixture.send()).answer.status }
        #expect(statuses == [200, 500, 500, 200, 503, 200, 200, 503, 200, 200])
        fixture.state.faults.clear()
        #expect(fixture.state.faults.count == 0)
    }

    @Test("a message whose answer was lost is delivered again when it is sent again: there is no idempotency key")
    func duplicates() throws {
        var fixture = try FCMFixture()
        fixture.state.faults.add(.loseAnswer, at: .send, times: 1, after: 0, every: nil)
        let request = fixture.send(#""data":{"a":"b"}"#)
        fixture.post(request)
        fixture.post(request)
        #expect(fixture.events().count == 2)
    }
}
