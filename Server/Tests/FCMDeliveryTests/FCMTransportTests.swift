import ClarionTesting
import FCMProtocol
import Foundation
import Logging
import PushHub
import RichPushModel
import Testing

@testable import FCMDelivery

@Suite("Pushes to Android devices")
struct FCMTransportTests {
    private static let message = #"{"message":{"data":{"a":"b"}}}"#

    private let clock = ManualClock()
    private let fcm = ScriptedFCM()
    private let notes = LogNotes()

    private func transport(
        perMinute: Int = 600_000_000, ramp: Duration = .zero, deadline: Duration = .seconds(20),
        accounts: ScriptedAccounts = .init()
    ) -> FCMTransport {
        FCMTransport(
            credentials: accounts, sender: fcm, messagesPerMinute: perMinute, ramp: ramp, deadline: deadline, clock: clock,
            logger: notes.logger, jitter: { 0 })
    }

    private func batch(
        _ handles: [String], body: String = message, platform: Platform = .fcmv1, hub: Int64 = 1,
        headers: PushBatch.Headers = .init(pushType: "", priority: 10)
    ) -> PushBatch {
        var batch = PushBatch(
            hub: HubID(hub), bodies: [Array(body.utf8)], headers: [headers],
            targets: handles.map { .init(handle: DeviceToken(canonical: $0), pushID: PushID(UUID())) })
        batch.platform = platform
        return batch
    }

    private func handles(_ count: Int) -> [String] { (0..<count).map { "device:\($0);" } }

    private func send(_ handles: [String]) async -> [PushOutcome] { Array(await transport().send(batch(handles))) }

    @Test("a message goes to its project with the access token and its target")
    func request() async throws {
        #expect(await send(["t:APA91b"]) == [.accepted])
        let request = try #require(fcm.messages.first)
        #expect(request.url == "https://fcm.googleapis.com/v1/projects/shop-1234/messages:send")
        #expect(
            request.headers.map { "\($0.name): \($0.value)" } == [
                "authorization: Bearer token-1", "content-type: application/json",
            ])
        #expect(fcm.bodies == [#"{"message":{"token":"t:APA91b","data":{"a":"b"}}}"#])
    }

    @Test("each device gets its own target, and each outcome stands at its place")
    func places() async {
        fcm.follow { body, _ in body.contains("device:7;") ? ScriptedFCM.error(404, "UNREGISTERED") : ScriptedFCM.status(200) }
        let outcomes = await send(handles(20))
        #expect(outcomes.enumerated().filter { $1 != .accepted }.map(\.offset) == [7])
        #expect(Set(fcm.bodies).count == 20)
    }

    @Test(
        "each answer becomes its outcome",
        arguments: [
            (ScriptedFCM.status(200), PushOutcome.accepted),
            (ScriptedFCM.error(404, "UNREGISTERED"), .gone(since: ManualClock.standardStart)),
            (ScriptedFCM.error(403, "SENDER_ID_MISMATCH"), .misconfigured(reason: "SENDER_ID_MISMATCH")),
            (ScriptedFCM.error(400, "INVALID_ARGUMENT", field: "message.token"), .badToken),
            (
                ScriptedFCM.error(400, "INVALID_ARGUMENT", field: "message.data"),
                .rejected(reason: "INVALID_ARGUMENT at message.data")
            ),
            (ScriptedFCM.status(413), .tooLarge),
            (ScriptedFCM.status(404), .misconfigured(reason: "status 404")),
            (ScriptedFCM.status(403), .misconfigured(reason: "status 403")),
            (ScriptedFCM.error(401, "THIRD_PARTY_AUTH_ERROR"), .misconfigured(reason: "THIRD_PARTY_AUTH_ERROR")),
            (ScriptedFCM.error(429, "QUOTA_EXCEEDED"), .retry(after: .seconds(60), reason: "QUOTA_EXCEEDED")),
            (ScriptedFCM.error(429, "QUOTA_EXCEEDED", retryAfter: "7"), .retry(after: .seconds(7), reason: "QUOTA_EXCEEDED")),
            (ScriptedFCM.error(503, "UNAVAILABLE"), .retry(after: .seconds(10), reason: "UNAVAILABLE")),
            (
                ScriptedFCM.error(503, "UNAVAILABLE", retryAfter: "Thu, 01 Jan 1970 00:00:40 GMT"),
                .retry(after: .seconds(40), reason: "UNAVAILABLE")
            ),
            (ScriptedFCM.error(500, "INTERNAL", retryAfter: "80000"), .retry(after: .seconds(3_600), reason: "INTERNAL")),
            (ScriptedFCM.status(502, "<html>"), .retry(after: .seconds(10), reason: "status 502")),
            (FCMReply.unknown(reason: "no answer in time"), .unknown(reason: "no answer in time")),
            (FCMReply.notSent(reason: "away"), .notSent(reason: "away")),
        ])
    func outcomes(reply: FCMReply, outcome: PushOutcome) async {
        fcm.follow { _, _ in reply }
        #expect(await send(["t"]) == [outcome])
        #expect(fcm.messages.count == 1)
    }

    @Test("a message whose access token is refused is sent once more with a new one")
    func renewal() async {
        fcm.follow { _, count in ScriptedFCM.status(count == 0 ? 401 : 200) }
        #expect(await send(["t"]) == [.accepted])
        #expect(fcm.messages.map { $0.headers[0].value } == ["Bearer token-1", "Bearer token-2"])
    }

    @Test("a second refusal of the access token waits for the operator, and nothing more of the batch leaves")
    func refusedTwice() async {
        fcm.follow { _, _ in ScriptedFCM.status(401) }
        let outcomes = await send(handles(1_000))
        let reason = "FCM does not accept the access token of the service account"
        #expect(outcomes == Array(repeating: .misconfigured(reason: reason), count: 1_000))
        #expect(fcm.tokens == 2, "all messages that were refused share the new token")
        #expect(fcm.messages.count <= 2 * FCMBatchRun.width + 2)
    }

    @Test("what stops the project stops the batch", arguments: [403, 404])
    func stop(status: Int) async {
        fcm.follow { _, _ in ScriptedFCM.status(status) }
        let outcomes = await send(handles(1_000))
        #expect(outcomes == Array(repeating: .misconfigured(reason: "status \(status)"), count: 1_000))
        #expect(fcm.messages.count <= FCMBatchRun.width + 1)
        #expect(notes.lines.map(\.level) == [.error])
        #expect(notes.lines.first?.metadata["reason"] == "status \(status)")
    }

    @Test("a missing credential of the push service behind FCM stops no other device")
    func thirdParty() async {
        fcm.follow { body, _ in
            body.contains("device:0;") ? ScriptedFCM.error(401, "THIRD_PARTY_AUTH_ERROR") : ScriptedFCM.status(200)
        }
        let outcomes = await send(handles(500))
        #expect(outcomes.dropFirst() == Array(repeating: .accepted, count: 499)[...])
        #expect(outcomes.first == .misconfigured(reason: "THIRD_PARTY_AUTH_ERROR"))
    }

    @Test("a batch that is wholly for another project waits for the operator, and a smaller one condemns its tokens")
    func foreign() async {
        let transport = transport()
        #expect(Array(await transport.send(batch(["own"]))) == [.accepted])
        clock.advance(by: .seconds(1))
        fcm.follow { _, _ in ScriptedFCM.error(403, "SENDER_ID_MISMATCH") }
        let waiting = PushOutcome.misconfigured(reason: "SENDER_ID_MISMATCH")
        #expect(Array(await transport.send(batch(handles(20)))) == Array(repeating: waiting, count: 20))
        clock.advance(by: .seconds(1))
        #expect(Array(await transport.send(batch(handles(19)))) == Array(repeating: .badToken, count: 19))
        #expect(notes.lines.map(\.level) == [.error, .warning])
        #expect(notes.lines.last?.metadata["count"] == "19")
    }

    @Test("an account of which no message was accepted condemns no token, also in a batch with other refusals")
    func unproven() async {
        fcm.follow { body, _ in
            body.contains("device:0;") ? ScriptedFCM.error(404, "UNREGISTERED") : ScriptedFCM.error(403, "SENDER_ID_MISMATCH")
        }
        let waiting = PushOutcome.misconfigured(reason: "SENDER_ID_MISMATCH")
        #expect(await send(handles(30)).dropFirst() == Array(repeating: waiting, count: 29)[...])
        #expect(await send(["device:1;"]) == [waiting])
    }

    @Test("nothing leaves when the time of the batch is too short for an answer")
    func noTimeForAnAnswer() async {
        fcm.follow { [clock] _, count in
            if count == 0 { clock.advance(by: .seconds(14)) }
            return ScriptedFCM.status(200)
        }
        let outcomes = await send(handles(1_000))
        #expect(outcomes.first == .accepted)
        #expect(outcomes.last == .notSent(reason: "no time was left for it"))
        #expect(fcm.messages.count <= FCMBatchRun.width + 1)
    }

    @Test("one token of the batch's own project lets the others be condemned")
    func mixed() async {
        fcm.follow { body, _ in
            body.contains("device:0;") ? ScriptedFCM.status(200) : ScriptedFCM.error(403, "SENDER_ID_MISMATCH")
        }
        #expect(await send(handles(30)).dropFirst() == Array(repeating: .badToken, count: 29)[...])
    }

    @Test("three refusals for now in a row pause the project, and the rest of its messages waits unsent")
    func pause() async {
        fcm.follow { _, _ in ScriptedFCM.error(503, "UNAVAILABLE", retryAfter: "30") }
        let transport = transport()
        let outcomes = Array(await transport.send(batch(handles(1_000))))
        #expect(outcomes.first == .retry(after: .seconds(30), reason: "UNAVAILABLE"))
        #expect(outcomes.last == .unavailable(reason: "UNAVAILABLE", retryAfter: .seconds(30)))
        #expect(fcm.messages.count <= FCMBatchRun.width + 3)
        let sent = fcm.messages.count
        fcm.follow { _, _ in ScriptedFCM.status(200) }
        clock.advance(by: .seconds(29))
        #expect(
            Array(await transport.send(batch(["t"], hub: 2))) == [.unavailable(reason: "UNAVAILABLE", retryAfter: .seconds(1))])
        #expect(fcm.messages.count == sent)
        clock.advance(by: .seconds(1))
        #expect(Array(await transport.send(batch(["t"]))) == [.accepted])
    }

    @Test("devices that get too much do not stop the others")
    func hotDevices() async {
        fcm.follow { body, _ in body.contains("device:2") ? ScriptedFCM.status(200) : ScriptedFCM.error(429, "QUOTA_EXCEEDED") }
        let outcomes = await send(handles(1_000))
        #expect(outcomes.count { $0 == .accepted } == 111)
    }

    @Test("refusals between accepted messages pause nothing")
    func singleRefusals() async {
        fcm.follow { _, count in ScriptedFCM.status(count.isMultiple(of: 2) ? 503 : 200) }
        let transport = transport()
        for _ in 0..<10 {
            _ = await transport.send(batch(["t"]))
            clock.advance(by: .seconds(1))
        }
        #expect(fcm.messages.count == 10)
    }

    @Test("the quota of the project stops its messages at once")
    func projectQuota() async {
        fcm.follow { _, _ in ScriptedFCM.status(429) }
        let transport = transport()
        #expect(Array(await transport.send(batch(["t"]))) == [.retry(after: .seconds(60), reason: "status 429")])
        #expect(Array(await transport.send(batch(["t"]))) == [.unavailable(reason: "status 429", retryAfter: .seconds(60))])
        #expect(fcm.messages.count == 1)
    }

    @Test("the pace of the project holds back what would leave too early")
    func pace() async {
        let transport = transport(perMinute: 120)
        let sending = Task { Array(await transport.send(batch(handles(3)))) }
        for expected in 1...2 {
            #expect(await eventually { clock.hasSleeper(dueIn: .milliseconds(500)) && fcm.messages.count == expected })
            clock.advance(by: .milliseconds(500))
        }
        #expect(await sending.value == [.accepted, .accepted, .accepted])
    }

    @Test("what the pace does not let go within the deadline is not sent")
    func deadline() async {
        let transport = transport(perMinute: 60, deadline: .seconds(2))
        let sending = Task { Array(await transport.send(batch(handles(5)))) }
        #expect(await eventually { clock.hasSleeper(dueIn: .seconds(1)) && fcm.messages.count == 1 })
        clock.advance(by: .seconds(1))
        let late = PushOutcome.unavailable(reason: "the pace of the project", retryAfter: .seconds(1))
        #expect(await sending.value == [.accepted, .accepted, late, late, late])
    }

    @Test("a batch whose time is over after a wait for the pace is held back by the pace too")
    func overslept() async {
        let transport = transport(perMinute: 60, deadline: .seconds(3))
        let sending = Task { Array(await transport.send(batch(handles(3)))) }
        #expect(await eventually { clock.hasSleeper(dueIn: .seconds(1)) && fcm.messages.count == 1 })
        clock.advance(by: .milliseconds(2_500))
        let late = PushOutcome.unavailable(reason: "the pace of the project", retryAfter: .seconds(1))
        #expect(await sending.value == [.accepted, late, late])
    }

    @Test("a batch whose time is over sends nothing more")
    func late() async {
        let transport = transport(deadline: .seconds(3))
        fcm.tokenGate.close()
        let sending = Task { Array(await transport.send(batch(handles(2)))) }
        await fcm.tokenGate.holds(1)
        clock.advance(by: .seconds(3))
        fcm.tokenGate.open()
        let outcome = PushOutcome.unavailable(reason: "there was no access token in time", retryAfter: nil)
        #expect(await sending.value == [outcome, outcome])
        #expect(fcm.messages.isEmpty)
    }

    @Test("each request gets the time that is left of the batch")
    func restOfTime() async {
        let transport = transport(perMinute: 60)
        let sending = Task { await transport.send(batch(handles(2))) }
        #expect(await eventually { clock.hasSleeper(dueIn: .seconds(1)) && fcm.messages.count == 1 })
        clock.advance(by: .seconds(1))
        _ = await sending.value
        #expect(fcm.deadlines == [.seconds(20), .seconds(19)])
    }

    @Test("a batch that is cancelled ends at once, and what has not left is not sent")
    func cancellation() async {
        let transport = transport(perMinute: 60)
        let sending = Task { Array(await transport.send(batch(handles(3)))) }
        #expect(await eventually { clock.sleeperCount == 1 && fcm.messages.count == 1 })
        sending.cancel()
        let unsent = PushOutcome.notSent(reason: "no time was left for it")
        #expect(await sending.value == [.accepted, unsent, unsent])
    }

    @Test("many requests are under way at once, and not more than the width")
    func width() async {
        fcm.gate.close()
        let transport = transport()
        let sending = Task { await transport.send(batch(handles(1_000))) }
        await fcm.gate.holds(FCMBatchRun.width)
        fcm.gate.open()
        #expect(await sending.value.areAllAccepted)
        #expect(fcm.mostAtOnce == FCMBatchRun.width)
    }

    @Test("hubs with one account share its access token, and another account has its own")
    func accounts() async {
        let transport = transport()
        for hub: Int64 in [1, 1, 2, 1] {
            _ = await transport.send(batch(["t"], hub: hub))
            clock.advance(by: .seconds(1))
        }
        #expect(
            fcm.messages.map { $0.headers[0].value } == ["Bearer token-1", "Bearer token-1", "Bearer token-2", "Bearer token-1"])
    }

    @Test("without an account the outcome is the one that its source names")
    func noAccount() async {
        let outcomes = await transport(accounts: ScriptedAccounts(none: .unsupported)).send(batch(["t", "u"]))
        #expect(Array(outcomes) == [.unsupported, .unsupported])
        #expect(fcm.tokens == 0)
    }

    @Test("an account that Google refuses waits for the operator, and no message leaves")
    func refusedAccount() async {
        fcm.followTokens { _ in ScriptedFCM.status(400, #"{"error":"invalid_client"}"#) }
        let reason = "the token endpoint answers invalid_client"
        #expect(await send(["t", "u"]) == Array(repeating: .misconfigured(reason: reason), count: 2))
        #expect(fcm.messages.isEmpty)
        #expect(notes.lines.map(\.level) == [.error])
    }

    @Test("a token endpoint in trouble makes the send wait for as long as it asks")
    func tokenTrouble() async {
        fcm.followTokens { _ in ScriptedFCM.status(503, retryAfter: "40") }
        let outcome = PushOutcome.unavailable(reason: "the token endpoint answers status 503", retryAfter: .seconds(40))
        #expect(await send(["t"]) == [outcome])
        #expect(notes.lines.isEmpty)
    }

    @Test("a batch without an access token takes nothing of the pace")
    func untouchedPace() async {
        fcm.followTokens { $0 == 1 ? .notSent(reason: "away") : ScriptedFCM.token($0) }
        let transport = transport(perMinute: 1)
        _ = await transport.send(batch(["t"]))
        clock.advance(by: .seconds(1))
        #expect(Array(await transport.send(batch(["t"]))) == [.accepted])
    }

    @Test("a body that is no message is refused with its fault, and one that is too large as such, without a request")
    func bodies() async {
        let large = #"{"message":{"data":{"a":"\#(String(repeating: "b", count: 4_096))"}}}"#
        #expect(
            Array(await transport().send(batch(["t"], body: #"{"message":{"topic":"x"}}"#)))
                == [.rejected(reason: "message.topic names a target; the hub chooses the devices (at byte 21)")])
        #expect(Array(await transport().send(batch(["t"], body: large))) == [.tooLarge])
        #expect(fcm.messages.isEmpty)
    }

    @Test("a body of the retired interface is translated for records of that platform alone")
    func legacy() async {
        let body = #"{"data":{"a":"b"}}"#
        #expect(Array(await transport().send(batch(["t"], body: body, platform: .gcm))) == [.accepted])
        #expect(fcm.bodies == [#"{"message":{"token":"t","data":{"a":"b"}}}"#])
        #expect(Array(await transport().send(batch(["t"], body: body))) != [.accepted])
    }

    @Test("of a push for Apple's devices each header set makes its own message")
    func apple() async {
        var batch = batch(["t", "u"], body: #"{"aps":{"alert":"hello"},"richId":"42"}"#)
        batch.bodyPlatform = .apns
        batch.headers.append(.init(pushType: "", priority: 5, expiration: 0))
        batch.targets = PushTargets([
            .init(handle: DeviceToken(canonical: "t"), pushID: PushID(UUID())),
            .init(handle: DeviceToken(canonical: "u"), headers: 1, pushID: PushID(UUID())),
        ])
        _ = await transport().send(batch)
        let data = #""data":{"richId":"42","body":"hello"}"#
        #expect(
            Set(fcm.bodies) == [
                #"{"message":{"token":"t",\#(data),"android":{"priority":"HIGH"}}}"#,
                #"{"message":{"token":"u",\#(data),"android":{"priority":"NORMAL","ttl":"0s"}}}"#,
            ])
    }

    @Test("a header set or body that the batch lacks refuses its targets alone")
    func gaps() async {
        var batch = batch(["t"])
        batch.targets = PushTargets([
            .init(handle: DeviceToken(canonical: "t"), pushID: PushID(UUID())),
            .init(handle: DeviceToken(canonical: "u"), body: 1, pushID: PushID(UUID())),
        ])
        let outcomes = Array(await transport().send(batch))
        #expect(outcomes == [.accepted, .rejected(reason: "the batch has no such body or header set")])
    }
}
