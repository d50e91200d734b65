import RichPushModel
import Testing
import WireText

@testable import HubProtocol
@testable import RemoteHub

@Suite("Sends through a hub elsewhere")
struct RemoteSendingTests {
    private let json = #"{"aps":{"alert":"Hello"}}"#

    @Test("a send to a tag expression")
    func tagged() async throws {
        let remote = try ScriptedRemote(.queued)
        let receipt = try await remote.hub.send(
            .apple(json, tags: "vip && !city:Oslo", headers: .init(pushType: "alert", priority: 10)))
        #expect(receipt.id == ScriptedRemote.queuedID)
        let request = try remote.request
        #expect(String(decoding: request.body, as: UTF8.self) == json)
        #expect(
            remote.ownHeaders(request) == [
                HeaderField("Content-Type", "application/json;charset=utf-8"),
                HeaderField("ServiceBusNotification-Format", "apple"),
                HeaderField("ServiceBusNotification-Tags", "vip && !city:Oslo"), HeaderField("apns-push-type", "alert"),
                HeaderField("apns-priority", "10"),
            ])
    }

    @Test("a direct send names its device in a header and a flag")
    func direct() async throws {
        let remote = try ScriptedRemote(.queued)
        try await remote.hub.send(.apple(json), to: "0A1B")
        let request = try remote.request
        #expect(request.url == "https://push.example.test:8443/demo/messages?api-version=2020-06&direct=true")
        #expect(request.headers["ServiceBusNotification-DeviceHandle"] == "0A1B")
        #expect(request.headers["ServiceBusNotification-Tags"] == nil)
    }

    @Test("a batch is the documented multipart body")
    func batch() async throws {
        let remote = try ScriptedRemote(.queued)
        try await remote.hub.send(.apple(json), to: ["0A1B", "2C3D"])
        let request = try remote.request
        #expect(request.url == "https://push.example.test:8443/demo/messages/$batch?api-version=2020-06&direct=true")
        #expect(
            remote.ownHeaders(request) == [
                HeaderField("ServiceBusNotification-Format", "apple"),
                HeaderField("Content-Type", "multipart/mixed; boundary=\"nh-batch-multipart-boundary\""),
            ])
        let body = try BatchSendBody(contentType: request.headers["Content-Type"], body: request.body)
        #expect(body.handles == ["0A1B", "2C3D"])
        #expect(String(decoding: body.notification, as: UTF8.self) == json)
    }

    @Test("a template send carries its properties, in order of their names")
    func template() async throws {
        let remote = try ScriptedRemote(.queued)
        try await remote.hub.send(.template(["b": "2\"", "a": "1"], tags: "x"))
        let request = try remote.request
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"a":"1","b":"2\""}"#)
        #expect(request.headers["ServiceBusNotification-Format"] == "template")
    }

    @Test("other platforms' bodies have their own headers")
    func otherPlatforms() async throws {
        let remote = try ScriptedRemote(.queued, .queued)
        try await remote.hub.send(.windows("<toast/>"))
        try await remote.hub.send(.fcmV1(#"{"message":{}}"#))
        let asked = remote.transport.asked
        #expect(
            remote.ownHeaders(asked[0]) == [
                HeaderField("Content-Type", "application/xml"), HeaderField("ServiceBusNotification-Format", "windows"),
                HeaderField("X-WNS-Type", "wns/toast"),
            ])
        #expect(asked[1].headers["ServiceBusNotification-Format"] == "fcmv1")
    }

    @Test("a scheduled send names its moment, and can be cancelled once")
    func scheduled() async throws {
        let remote = try ScriptedRemote(.queued, .status(200), .status(404))
        let moment = try #require(WireTime("2026-11-21T01:41:21.871Z")?.moment)
        let receipt = try await remote.hub.schedule(.apple(json), at: moment)
        let id = try #require(receipt.id)
        #expect(try await remote.hub.cancelSchedule(id))
        #expect(try await remote.hub.cancelSchedule(id) == false)
        let asked = remote.transport.asked
        #expect(asked[0].url == "https://push.example.test:8443/demo/schedulednotifications?api-version=2020-06")
        #expect(asked[0].headers["ServiceBusNotification-ScheduleTime"] == "2026-11-21T01:41:21.871Z")
        #expect(asked[1].method == "DELETE")
        #expect(asked[1].url == "https://push.example.test:8443/demo/schedulednotifications/\(id)?api-version=2020-06")
    }

    @Test("telemetry is read from the documented answer, and is nil while there is none")
    func telemetry() async throws {
        let xml =
            #"<NotificationDetails xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><NotificationId>n-0-1</NotificationId><Location>sb://push.example.test/demo/messages/n-0-1?api-version=2020-06</Location><State>Completed</State><EnqueueTime>2026-03-01T10:00:00.12Z</EnqueueTime><StartTime>2026-03-01T10:00:00.31Z</StartTime><EndTime>2026-03-01T10:00:01.02Z</EndTime><NotificationBody>{"aps":{"alert":"Hello"}}</NotificationBody><Tags>vip &amp;&amp; !city:Oslo</Tags><TargetPlatforms>apple</TargetPlatforms><ApnsOutcomeCounts><Outcome><Name>Success</Name><Count>3</Count></Outcome><Outcome><Name>WrongToken</Name><Count>1</Count></Outcome></ApnsOutcomeCounts></NotificationDetails>"#
        let remote = try ScriptedRemote(.status(200, [], xml), .status(404), .status(200, [], "<x/>"))
        let details = try #require(try await remote.hub.details(of: "n-0-1"))
        #expect(details.state == .completed)
        #expect(
            details.outcomes == [OutcomeCounts(.apns, [.init(name: "Success", count: 3), .init(name: "WrongToken", count: 1)])])
        #expect(try await remote.hub.details(of: "n-0-1") == nil)
        #expect(try await remote.failure { _ = try await $0.details(of: "n-0-1") }.reason == .unexpectedAnswer)
        #expect(try remote.request.url == "https://push.example.test:8443/demo/messages/n-0-1?api-version=2020-06")
    }

    @Test("a test send says what each device came to")
    func testSend() async throws {
        let answer = NotificationOutcome(
            success: 1, failure: 0,
            results: [.init(platform: "apple", handle: "0A1B", registrationID: "7-8-2", outcome: "It was sent")])
        let remote = try ScriptedRemote(.status(201, [], answer.answer()))
        #expect(try await remote.hub.testSend(.apple(json, tags: "vip")) == answer)
        #expect(try remote.request.url.hasSuffix("/demo/messages?api-version=2020-06&test=true"))
    }

    @Test("what cannot be sent is refused before the hub is asked")
    func invalid() async throws {
        let remote = try ScriptedRemote(.queued)
        let large = RemoteNotification(.apple, body: Array(repeating: 0x20, count: 64 * 1024 + 1))
        let failures: [(RemoteHub) async throws -> Void] = [
            { try await $0.send(large) }, { try await $0.send(.apple("{}", tags: "a &&")) },
            { try await $0.send(.apple("{}", tags: "a"), to: "0A1B") }, { try await $0.send(.apple("{}"), to: [String]()) },
            { try await $0.send(.apple("{}"), to: Array(repeating: "AB", count: 1001)) },
            { try await $0.send(.template(["a": "b"]), to: ["AB"]) },
            { try await $0.send(.apple("{}", headers: .init(topic: "a\r\nX: y"))) },
            { try await $0.send(.apple("{}"), to: "A\nB") },
        ]
        for failure in failures {
            let error = try await remote.failure(failure)
            #expect(error.reason == .invalidRequest)
            #expect(error.fate == .nothingDone)
        }
        #expect(remote.transport.asked.isEmpty)
    }

    @Test("a hub that gives no Location has taken the send all the same")
    func withoutLocation() async throws {
        let remote = try ScriptedRemote(.status(201))
        let receipt = try await remote.hub.send(.apple("{}"), requestID: "r")
        #expect(receipt == RemoteReceipt(id: nil, requestID: "r"))
    }
}
