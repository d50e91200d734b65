import APNsProtocol
import Foundation
import Testing

@testable import APNsEmulation

@Suite("Injected faults")
struct FaultTests {
    @Test("a status is injected as often as asked, delivers nothing, and leaves refusals alone")
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
            (.goAway(lastStream: .twoStep, reason: nil), true, true), (.streamLimit(1), true, true),
            (.goAway(lastStream: .twoStepBeforeThisRequest, reason: nil), false, false),
            (.goAwayFrame(GoAwayForm(lastStream: .stream(1))), false, false), (.shutdown, false, true),
            (.wedge(processed: true), true, false), (.resetStreamWithCode(11, processed: false), false, false),
            (.closeConnection(processed: true), true, false), (.closeConnection(processed: false), false, false),
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

    @Test("a retry is no violation after an answer that a fault withheld, and is one after an answer that came")
    func excusedRepeat() throws {
        var fixture = try EmulatorFixture()
        let id = "EC5A59D7-2E32-F33D-0000-00000000000A"
        fixture.apns.inject(.noAnswer)
        _ = fixture.send { $0.apnsID = id }
        #expect(EmulatorFixture.text(fixture.send { $0.apnsID = id }) == "200")
        #expect(fixture.apns.complaints.isEmpty)
        #expect(fixture.apns.acceptances(of: try #require(UUID(uuidString: id))) == 2)
        _ = fixture.send { $0.apnsID = id }
        #expect(fixture.apns.complaints == [ClientComplaint(kind: .repeatedAcceptedPushes, count: 1)])
    }

    @Test("cleared faults are no longer injected")
    func clear() throws {
        var fixture = try EmulatorFixture()
        fixture.apns.inject(.blackHole, count: 5)
        fixture.apns.clearFaults()
        #expect(EmulatorFixture.text(fixture.send()) == "200")
    }

    @Test("a periodic fault affects every nth request, and other faults the requests between")
    func periodic() throws {
        var fixture = try EmulatorFixture()
        fixture.apns.inject(.status(500, .internalServerError), everyRequests: 3)
        fixture.apns.inject(.status(503, .shutdown), afterRequests: 3)
        let statuses = (0..<9).map { _ in fixture.send().answer?.status ?? 0 }
        #expect(statuses == [200, 200, 500, 503, 200, 500, 200, 200, 500])
        fixture.apns.clearFaults()
        #expect((0..<6).allSatisfy { _ in fixture.send().answer?.status == 200 })
    }

    @Test("pushes to a dead token are accepted and lost until its death is reported")
    func delayedDeath() throws {
        var fixture = try EmulatorFixture()
        let died = fixture.clock.now
        fixture.apns.invalidate(token: fixture.token, reason: .unregistered, at: died, noticedAfter: .seconds(90))
        _ = fixture.apns.connect(device: EmulatorFixture.device)
        #expect(EmulatorFixture.text(fixture.send()) == "200")
        #expect(fixture.apns.deliveries.map(\.state) == [.discarded])
        fixture.clock.advance(by: .seconds(90))
        let verdict = fixture.send()
        #expect(EmulatorFixture.text(verdict) == "410 Unregistered")
        #expect(verdict.answer?.timestamp == died.milliseconds)
    }

    @Test("provider tokens can be declared expired, whatever their age, and that can be taken back")
    func recalledTokens() throws {
        var fixture = try EmulatorFixture()
        fixture.apns.expireProviderTokens(issuedBefore: fixture.clock.now.seconds + 1)
        #expect(EmulatorFixture.text(fixture.send()) == "403 ExpiredProviderToken")
        fixture.apns.expireProviderTokens(issuedBefore: nil)
        #expect(EmulatorFixture.text(fixture.send()) == "200")
    }
}
