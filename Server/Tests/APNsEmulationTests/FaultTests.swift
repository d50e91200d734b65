import APNsProtocol
import Testing

@testable import APNsEmulation

@Suite("Injected faults")
struct FaultTests {
    @Test("a status strikes as often as asked, delivers nothing, and leaves refusals alone")
    func status() throws {
        var fixture = try EmulatorFixture()
        fixture.apns.inject(.status(503, .serviceUnavailable), count: 2)
        #expect(EmulatorFixture.text(fixture.send { $0.topic = nil }) == "400 MissingTopic")
        #expect(EmulatorFixture.text(fixture.send()) == "503 ServiceUnavailable")
        #expect(EmulatorFixture.text(fixture.send()) == "503 ServiceUnavailable")
        #expect(fixture.apns.deliveries.isEmpty)
        #expect(EmulatorFixture.text(fixture.send()) == "200")
    }

    @Test("a fault may wait for later requests and for one device token")
    func aim() throws {
        var fixture = try EmulatorFixture()
        let other = fixture.apns.issueToken(device: "bob", topic: EmulatorFixture.bundleID)
        fixture.apns.inject(.status(500, .internalServerError), afterRequests: 1, token: fixture.token.uppercased())
        #expect(EmulatorFixture.text(fixture.send { $0.path = "/3/device/" + other }) == "200")
        #expect(EmulatorFixture.text(fixture.send()) == "200")
        #expect(EmulatorFixture.text(fixture.send()) == "500 InternalServerError")
        #expect(EmulatorFixture.text(fixture.send()) == "200")
    }

    @Test(
        "a fault says whether the request was processed and whether its answer is seen",
        arguments: [
            (InjectedFault.noAnswer, true, false), (.delay(.seconds(1)), true, true), (.blackHole, false, false),
            (.refuseStream, false, false), (.resetStream(processed: true), true, false),
            (.resetConnection(processed: false), false, false),
            (.goAway(lastStream: .zero, reason: nil), false, false),
            (.goAway(lastStream: .beforeThisRequest, reason: nil), false, false),
            (.goAway(lastStream: .thisRequest, reason: nil), true, true),
            (.goAway(lastStream: .thisRequestUnanswered, reason: nil), true, false),
            (.goAway(lastStream: .twoStep, reason: nil), true, true),
        ])
    func processing(_ fault: InjectedFault, processed: Bool, answered: Bool) throws {
        var fixture = try EmulatorFixture()
        fixture.apns.inject(fault)
        let verdict = fixture.send()
        #expect(verdict.fault == fault)
        #expect((verdict.answer != nil) == answered)
        #expect(fixture.apns.requests(for: fixture.token).accepted == (processed ? 1 : 0))
        #expect(fixture.apns.deliveries.count == (processed ? 1 : 0))
        #expect(fixture.apns.recordedExchanges.last?.fault == fault)
    }

    @Test("cleared faults strike no more")
    func clear() throws {
        var fixture = try EmulatorFixture()
        fixture.apns.inject(.blackHole, count: 5)
        fixture.apns.clearFaults()
        #expect(EmulatorFixture.text(fixture.send()) == "200")
    }
}
