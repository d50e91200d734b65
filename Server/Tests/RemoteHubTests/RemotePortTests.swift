import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions
import Testing
import WireText

import struct RichPushModel.Tag

@testable import HubProtocol
@testable import RemoteHub

@Suite("An app backend's hub that lies elsewhere")
struct RemotePortTests {
    private func command(key: String? = "k", audience: String? = "username:ann") throws -> SendCommand {
        SendCommand(
            message: PushMessage(body: Array("{}".utf8), pushType: "background", priority: 5, expiresAt: PushMessage.oneTry),
            audience: try audience.map { try TagExpression(parsing: $0) }, idempotencyKey: key)
    }

    private func code(_ work: () async throws -> Void) async -> ServiceErrorCode? {
        do { try await work() } catch { return (error as? ServiceError)?.code }
        return nil
    }

    @Test("a send goes out with its headers, its audience and an id made of its key")
    func send() async throws {
        let remote = try ScriptedRemote(.queued, .queued)
        let receipt = try await remote.hub.send(try command())
        #expect(
            receipt
                == SendReceipt(
                    id: try #require(NotificationID(ScriptedRemote.queuedID)), dueAt: remote.clock.now, isRepeat: false))
        let again = try await remote.hub.send(try command())
        #expect(again == SendReceipt(id: receipt.id, dueAt: remote.clock.now, isRepeat: true))
        let asked = remote.transport.asked
        #expect(asked.count == 1, "what the hub took does not go out again")
        #expect(
            remote.ownHeaders(asked[0]) == [
                HeaderField("Content-Type", "application/json;charset=utf-8"),
                HeaderField("ServiceBusNotification-Format", "apple"),
                HeaderField("ServiceBusNotification-Tags", "username:ann"), HeaderField("apns-push-type", "background"),
                HeaderField("apns-priority", "5"), HeaderField("apns-expiration", "0"),
            ])
        let ids = Set(asked.compactMap { $0.headers["x-ms-client-request-id"] })
        #expect(ids == [RemoteHub.requestID("k")], "the same key is the same id, here and after a restart")
        #expect(NotificationID(RemoteHub.requestID("k")) != nil)
        #expect(RemoteHub.requestID("k").count == 36)
        #expect(RemoteHub.requestID("k") != RemoteHub.requestID("l"))
    }

    @Test("a count of an audience is refused, since the hub protocol has no such question, and the hub is not asked")
    func count() async throws {
        let remote = try ScriptedRemote()
        let audience = try TagExpression(parsing: "news")
        #expect(await code { _ = try await remote.hub.count(audience) } == .conflict)
        #expect(remote.transport.asked.isEmpty)
    }

    @Test("a hub's ids of another form are kept as they are")
    func foreignID() async throws {
        let id = "0c5d2a1e9b7f4c3d8e6a5b4c3d2e1f00-20260301100000-0-1"
        let remote = try ScriptedRemote(
            .status(201, [HeaderField("Location", "https://h/demo/messages/\(id)?api-version=2020-06")]), .status(404))
        let receipt = try await remote.hub.send(try command())
        #expect(receipt.id.text == id)
        #expect(NotificationID(id)?.text == id, "also when it comes back from storage")
    }

    @Test("direct and scheduled sends take their own ways")
    func forms() async throws {
        let remote = try ScriptedRemote(.queued, .queued)
        var direct = try command(key: nil, audience: nil)
        direct.recipients = .handles([DeviceToken(canonical: "AB"), DeviceToken(canonical: "CD")])
        _ = try await remote.hub.send(direct)
        var later = try command()
        later.dueAt = remote.clock.now + .seconds(60)
        #expect(try await remote.hub.send(later).dueAt == later.dueAt)
        #expect(remote.transport.asked[0].url.contains("/messages/$batch?"))
        #expect(remote.transport.asked[1].url.contains("/schedulednotifications?"))
        direct.dueAt = later.dueAt
        #expect(await code { _ = try await remote.hub.send(direct) } == .invalidField)
    }

    @Test("what has expired while the hub was unavailable is not sent late, and an earlier send is still reported")
    func expired() async throws {
        let remote = try ScriptedRemote(.queued)
        var command = try command()
        command.message.expiresAt = remote.clock.now + .seconds(60)
        let id = try await remote.hub.send(command).id
        remote.clock.advance(by: .seconds(60))
        #expect(try await remote.hub.send(command).id == id)
        command.idempotencyKey = "other"
        let late = command
        #expect(await code { _ = try await remote.hub.send(late) } == .invalidField)
        #expect(remote.transport.asked.count == 1)
    }

    @Test("what the protocol cannot do is refused")
    func refused() async throws {
        let remote = try ScriptedRemote()
        var paced = try command()
        paced.pushesPerSecond = 10
        #expect(await code { _ = try await remote.hub.send(paced) } == .invalidField)
        var odd = try command()
        odd.format = .native(Platform(rawValue: "other"))
        #expect(await code { _ = try await remote.hub.send(odd) } == .invalidField)
        #expect(remote.transport.asked.isEmpty)
    }

    @Test(
        "the hub's refusals are errors of this service: a refused key is never the caller's fault",
        arguments: [
            (400, ServiceErrorCode.invalidField), (401, .notReady), (403, .notReady), (404, .notReady),
            (409, .idempotencyMismatch),
            (413, .payloadTooLarge), (429, .overloaded), (500, .outcomeUnknown), (408, .outcomeUnknown),
        ])
    func errors(_ status: Int, _ expected: ServiceErrorCode) async throws {
        let remote = try ScriptedRemote(.status(status), options: RemoteHubOptions(retries: 0))
        #expect(await code { _ = try await remote.hub.send(try command()) } == expected)
    }

    @Test("the outcome of a key is reported while it is known, and never guessed")
    func keys() async throws {
        let remote = try ScriptedRemote(.queued, .fault(.interrupted("x")), .status(400), options: RemoteHubOptions(retries: 0))
        let id = try await remote.hub.send(try command(key: "taken")).id
        #expect(try await remote.hub.notification(idempotencyKey: "taken") == id)
        #expect(await code { _ = try await remote.hub.send(try command(key: "broken")) } == .outcomeUnknown)
        #expect(await code { _ = try await remote.hub.notification(idempotencyKey: "broken") } == .outcomeUnknown)
        #expect(await code { _ = try await remote.hub.send(try command(key: "refused")) } == .invalidField)
        #expect(try await remote.hub.notification(idempotencyKey: "refused") == nil)
        #expect(await code { _ = try await remote.hub.notification(idempotencyKey: "before the restart") } == .outcomeUnknown)
    }

    @Test("a cancelled key is closed, and what was sent under it is called back")
    func cancelling() async throws {
        let remote = try ScriptedRemote(.queued, .status(200), .status(404))
        let id = try await remote.hub.send(try command()).id
        #expect(try await remote.hub.cancel(idempotencyKey: "k"))
        #expect(try await remote.hub.cancel(id) == false)
        #expect(await code { _ = try await remote.hub.send(try command()) } == .idempotencyMismatch)
        #expect(try await remote.hub.cancel(idempotencyKey: "other") == false)
        #expect(await code { _ = try await remote.hub.send(try command(key: "other")) } == .idempotencyMismatch)
        #expect(remote.transport.asked.map(\.method) == ["POST", "DELETE", "DELETE"])
    }

    @Test("keys are forgotten, oldest first, when there are too many")
    func bounded() {
        let recent = RecentSends()
        for number in 0...RecentSends.capacity * 2 { #expect(recent.begin("\(number)")) }
        #expect(recent.fate("0") == nil)
        #expect(recent.fate("\(RecentSends.capacity * 2)") == .pending)
        #expect(recent.fate("\(RecentSends.capacity + 1)") == .pending)
        #expect(recent.fate("\(RecentSends.capacity)") == nil)
    }

    @Test("telemetry is in the words of this service")
    func telemetry() async throws {
        let counts = [
            OutcomeCounts(
                .apns,
                [
                    .init(name: "Success", count: 3), .init(name: "ExpiredChannel", count: 2),
                    .init(name: "WrongToken", count: 1),
                    .init(name: "BadChannel", count: 1), .init(name: "Throttled", count: 4),
                ]), OutcomeCounts(.wns, [.init(name: "Skipped", count: 5), .init(name: "NoTargets", count: 1)]),
        ]
        let details = NotificationDetails(
            id: ScriptedRemote.queuedID, state: .completed, enqueueTime: Timestamp(milliseconds: 1000),
            startTime: Timestamp(milliseconds: 2000), endTime: Timestamp(milliseconds: 3000), body: "{}", tags: "a && b",
            targetPlatforms: ["apple"], outcomes: counts)
        let remote = try ScriptedRemote(.status(200, [], details.answer()), .status(404))
        let id = try #require(NotificationID(ScriptedRemote.queuedID))
        let telemetry = try #require(try await remote.hub.telemetry(of: id))
        #expect(telemetry.state == .completed)
        #expect(telemetry.endedAt == Timestamp(milliseconds: 3000))
        // There "Skipped" of a platform that is not sent to means just that, and not another registration of the device.
        #expect(telemetry.outcomes == [.accepted: 3, .gone: 2, .badToken: 2, .unknown: 4, .noTransport: 5])
        #expect(telemetry.platformOutcomes[.apns] == [.accepted: 3, .gone: 2, .badToken: 2, .unknown: 4])
        #expect(telemetry.audience?.description == "a && b")
        #expect(telemetry.format == .native(.apns))
        #expect(try await remote.hub.telemetry(of: id) == nil)
    }

    @Test("a young send of a hub that shows telemetry late is accepted, not forgotten")
    func lateTelemetry() async throws {
        let remote = try ScriptedRemote(.status(404), .status(404))
        let sent = WireTime(remote.clock.now).description.filter(\.isNumber).prefix(14)
        let id = try #require(NotificationID("0c5d2a1e9b7f4c3d8e6a5b4c3d2e1f00-\(sent)-0-1"))
        #expect(try await remote.hub.telemetry(of: id)?.state == .accepted)
        remote.clock.advance(by: .seconds(1801))
        #expect(try await remote.hub.telemetry(of: id) == nil)
    }

    @Test("a device becomes an installation, and one without a token is none")
    func devices() async throws {
        let id = try #require(RecordID("phone-1"))
        let tag = try #require(Tag("username:ann"))
        let remote = try ScriptedRemote(.status(200), .status(204))
        let upsert = DeviceUpsert(
            id: id, kind: .installation, handle: DeviceToken("ab", platform: .apns), tags: [tag], replacesSameHandle: true)
        let record = try await remote.hub.upsert(upsert)
        #expect(record.handle?.text == "AB")
        var silent = upsert
        silent.handle = nil
        _ = try await remote.hub.upsert(silent)
        let asked = remote.transport.asked
        #expect(asked.map(\.method) == ["PUT", "DELETE"])
        #expect(asked[0].url.contains("/installations/phone-1?"))
        #expect(
            String(decoding: asked[0].body, as: UTF8.self)
                == #"{"installationId":"phone-1","pushChannel":"AB","platform":"apns","tags":["username:ann"]}"#)
        var conditional = upsert
        conditional.precondition = .exists
        #expect(await code { _ = try await remote.hub.upsert(conditional) } == .invalidField)
    }

    @Test("a device is read and removed")
    func removal() async throws {
        let json = #"{"installationId":"phone-1","pushChannel":"AB","platform":"apns","tags":["username:ann"]}"#
        let remote = try ScriptedRemote(
            .status(200, [], json), .status(404), .status(200, [], json), .status(204), .status(404), .status(401))
        let id = try #require(RecordID("phone-1"))
        let record = try #require(try await remote.hub.device(id))
        #expect(record.handle?.text == "AB")
        #expect(record.tags.map(\.text) == ["username:ann"])
        #expect(try await remote.hub.device(id) == nil)
        #expect(try await remote.hub.removeDevice(id))
        #expect(try await remote.hub.removeDevice(id) == false)
        #expect(await code { _ = try await remote.hub.device(id) } == .notReady)
    }
}
