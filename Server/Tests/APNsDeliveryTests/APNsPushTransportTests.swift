import APNsHTTP2
import APNsProtocol
import ClarionTesting
import Foundation
import Logging
import NIOConcurrencyHelpers
import RichPushModel
import Testing

@testable import APNsDelivery
@testable import PushHub

/// Answers each push by its device token, and notes the lanes if asked to.
private struct ScriptedClient: APNsPushSending {
    var lanes: NIOLockedValueBox<[APNsSendLane]>?
    var answer: @Sendable (APNsPush) -> APNsOutcome

    func send(_ pushes: [APNsPush], lane: APNsSendLane) async -> [APNsOutcome] {
        lanes?.withLockedValue { $0.append(lane) }
        return pushes.map(answer)
    }
}

@Suite("The push transport")
struct APNsPushTransportTests {
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    private func target(_ handle: String, environment: String? = nil, body: Int = 0, headers: Int = 0) throws -> PushBatch.Target
    {
        PushBatch.Target(
            handle: try #require(DeviceToken(handle, platform: .apns)), environment: environment, body: body, headers: headers,
            pushID: PushID(UUID()))
    }

    private func batch(_ targets: [PushBatch.Target], of hub: HubID = HubID(1)) -> PushBatch {
        PushBatch(
            hub: hub, bodies: [Array("{}".utf8), Array(#"{"a":1}"#.utf8)],
            headers: [
                PushBatch.Headers(pushType: "alert", priority: 10),
                PushBatch.Headers(
                    pushType: "background", priority: 5, expiration: 9, collapseID: "c", topic: "com.example.other"),
            ], targets: targets)
    }

    @Test("targets of both environments go to their clients, and outcomes come back in the order of the targets")
    func environments() async throws {
        let clients: [APNsEnvironment: any APNsPushSending] = [
            .sandbox: ScriptedClient { _ in .rejected(APNsRejection(status: 400, reason: .badDeviceToken)) },
            .production: ScriptedClient { $0.deviceToken == "AA" ? .accepted(apnsID: nil, uniqueID: nil) : .unknown(.deadline) },
        ]
        let transport = APNsPushTransport(
            clients: clients, defaultEnvironment: .production, defaultTopic: "com.example.app", logger: logger)
        let outcomes = await transport.send(
            batch([
                try target("AA"), try target("BB", environment: "sandbox"), try target("CC", environment: "production"),
                try target("AA", environment: "sandbox"), try target("DD", environment: "nowhere"),
            ]))
        #expect(
            outcomes == [
                .accepted, .badToken, .unknown(reason: "deadline"), .badToken, .unsupported,
            ])
    }

    @Test("a batch that a caller waits for takes the express lane of the client", arguments: [true, false])
    func lane(isExpress: Bool) async throws {
        let lanes = NIOLockedValueBox<[APNsSendLane]>([])
        let client = ScriptedClient(lanes: lanes) { _ in .accepted(apnsID: nil, uniqueID: nil) }
        let transport = APNsPushTransport(
            clients: [.sandbox: client], defaultEnvironment: .sandbox, defaultTopic: "com.example.app", logger: logger)
        var batch = batch([try target("AA")])
        batch.isExpress = isExpress
        #expect(await transport.send(batch) == [.accepted])
        #expect(lanes.withLockedValue { $0 } == [isExpress ? .express : .bulk])
    }

    @Test("a device of an environment without a credential is skipped, so that it cannot hold up the others")
    func missingEnvironment() async throws {
        let transport = APNsPushTransport(
            clients: [.sandbox: ScriptedClient { _ in .accepted(apnsID: nil, uniqueID: nil) }], defaultEnvironment: .sandbox,
            defaultTopic: "com.example.app", logger: logger)
        let outcomes = await transport.send(batch([try target("AA", environment: "production"), try target("BB")]))
        #expect(outcomes == [.unsupported, .accepted])
    }

    @Test("without any credential every push waits for the operator")
    func noCredential() async throws {
        let transport = APNsPushTransport(
            clients: [:], defaultEnvironment: .sandbox, defaultTopic: "com.example.app", logger: logger)
        let outcomes = await transport.send(batch([try target("AA")]))
        #expect(outcomes == [.misconfigured(reason: "no APNs credential is set")])
    }

    @Test(
        "a push whose topic APNs refuses is refused for good, also for the node's own topic",
        arguments: [APNsReason.topicDisallowed, .badTopic])
    func refusedTopic(reason: APNsReason) async throws {
        let refusing = ScriptedClient { _ in .rejected(APNsRejection(status: 400, reason: reason)) }
        let transport = APNsPushTransport(
            clients: [.sandbox: refusing], defaultEnvironment: .sandbox, defaultTopic: "com.example.app", logger: logger)
        let outcomes = await transport.send(batch([try target("AA", headers: 1), try target("BB")]))
        #expect(outcomes == [.rejected(reason: reason.rawValue), .rejected(reason: reason.rawValue)])
    }

    @Test("a batch of twenty that APNs refuses as a whole for the node's own topic waits for the operator; nineteen do not")
    func refusedBroadcast() async throws {
        let refusing = ScriptedClient { push in
            push.deviceToken == "AA"
                ? .accepted(apnsID: nil, uniqueID: nil) : .rejected(APNsRejection(status: 400, reason: .topicDisallowed))
        }
        let transport = APNsPushTransport(
            clients: [.sandbox: refusing], defaultEnvironment: .sandbox, defaultTopic: "com.example.app", logger: logger)
        let twenty = try (0..<20).map { _ in try target("BB") }
        let whole = await transport.send(batch(twenty))
        #expect(whole.allSatisfy { $0 == .misconfigured(reason: "TopicDisallowed") })
        let fewer = await transport.send(batch(Array(twenty.dropLast())))
        #expect(fewer.allSatisfy { $0 == .rejected(reason: "TopicDisallowed") })
        let mixed = await transport.send(batch([try target("AA")] + twenty))
        #expect(mixed.first == .accepted)
        #expect(mixed.dropFirst().allSatisfy { $0 == .rejected(reason: "TopicDisallowed") })
    }

    @Test(
        "a push type that the node's own topic does not fit is the sender's fault and pauses no other push",
        arguments: ["voip", "location"])
    func unfitTopic(type: String) async throws {
        let refusing = ScriptedClient { _ in .rejected(APNsRejection(status: 400, reason: .topicDisallowed)) }
        let transport = APNsPushTransport(
            clients: [.sandbox: refusing], defaultEnvironment: .sandbox, defaultTopic: "com.example.app", logger: logger)
        var batch = batch([try target("AA")])
        batch.headers = [PushBatch.Headers(pushType: type, priority: 10)]
        #expect(await transport.send(batch) == [.rejected(reason: "TopicDisallowed")])
    }

    @Test("header sets, bodies, ids and the default topic arrive at the client")
    func translation() async throws {
        let second = try target("BB", body: 1, headers: 1)
        let client = ScriptedClient { push in
            let isFirst =
                push.headers.topic == "com.example.app" && push.headers.pushType == .alert
                && push.headers.priority == 10 && push.headers.expiration == nil && push.payload == Array("{}".utf8)
            let isSecond =
                push.headers.topic == "com.example.other" && push.headers.pushType == .background
                && push.headers.expiration == 9 && push.headers.collapseID == "c" && push.payload == Array(#"{"a":1}"#.utf8)
                && push.apnsID == second.pushID.uuid && push.deviceToken == "BB"
            return isFirst || isSecond ? .accepted(apnsID: nil, uniqueID: nil) : .unknown(.deadline)
        }
        let transport = APNsPushTransport(
            clients: [.sandbox: client], defaultEnvironment: .sandbox, defaultTopic: "com.example.app", logger: logger)
        #expect(await transport.send(batch([try target("AA"), second])) == [.accepted, .accepted])
    }

    @Test(
        "the topic gets the suffix of the push type, whether it is the node's or the sender's, and gets it once",
        arguments: [
            ("voip", nil, "com.example.app.voip"), ("voip", "com.example.app.voip", "com.example.app.voip"),
            ("liveactivity", "com.example.other", "com.example.other.push-type.liveactivity"),
            ("complication", nil, "com.example.app.complication"), ("location", nil, "com.example.app.location-query"),
            ("fileprovider", nil, "com.example.app.pushkit.fileprovider"), ("pushtotalk", nil, "com.example.app.voip-ptt"),
            ("widgets", nil, "com.example.app.push-type.widgets"), ("controls", nil, "com.example.app.push-type.controls"),
            ("alert", "com.example.voip", "com.example.voip"), ("mdm", "com.apple.mgmt.1", "com.apple.mgmt.1"),
        ] as [(String, String?, String)])
    func suffixes(_ type: String, _ topic: String?, _ expected: String) async throws {
        let client = ScriptedClient { push in
            push.headers.topic == expected ? .accepted(apnsID: nil, uniqueID: nil) : .unknown(.deadline)
        }
        let transport = APNsPushTransport(
            clients: [.sandbox: client], defaultEnvironment: .sandbox, defaultTopic: "com.example.app", logger: logger)
        var batch = batch([try target("AA")])
        batch.headers = [PushBatch.Headers(pushType: type, priority: 10, topic: topic)]
        #expect(await transport.send(batch) == [.accepted])
    }

    @Test("the warning of bad device tokens names the hub whose credential is to be checked, each hub for itself")
    func badTokens() async throws {
        let notes = LogNotes()
        let client = ScriptedClient { push in
            push.deviceToken == "AA"
                ? .accepted(apnsID: nil, uniqueID: nil) : .rejected(APNsRejection(status: 400, reason: .badDeviceToken))
        }
        let transport = APNsPushTransport(
            clients: [.sandbox: client], defaultEnvironment: .sandbox, defaultTopic: "com.example.app", logger: notes.logger)
        _ = await transport.send(batch([try target("BB"), try target("CC")], of: HubID(7)))
        _ = await transport.send(batch([try target("AA")], of: HubID(8)))
        _ = await transport.send(batch([try target("DD")], of: HubID(9)))
        let warnings = notes.lines.filter { $0.level == .warning && $0.message.hasPrefix("APNs says that device tokens") }
        #expect(warnings.map(\.metadata) == [["hub_id": "7", "count": "2"], ["hub_id": "9", "count": "1"]])
    }

    @Test("the hub's table of topics agrees with that of the protocol")
    func tables() {
        #expect(MessageCheck.pushTypes == Set(APNsPushType.documented.map(\.rawValue)))
        for (type, suffix) in MessageCheck.distinctSuffixes {
            #expect(APNsPushType(rawValue: type).topicSuffix == suffix)
        }
        let others = APNsPushType.documented.filter { !($0.topicSuffix ?? "").isEmpty }.map(\.rawValue)
        #expect(Set(others).subtracting(MessageCheck.distinctSuffixes.keys) == ["voip", "complication"])
    }

    @Test("a target that points at nothing is refused, and an empty batch has no outcomes")
    func bounds() async throws {
        let transport = APNsPushTransport(
            clients: [:], defaultEnvironment: .sandbox, defaultTopic: "com.example.app", logger: logger)
        let outcomes = await transport.send(batch([try target("AA", body: 9)]))
        #expect(outcomes == [.rejected(reason: "the batch has no such body or header set")])
        #expect(await transport.send(batch([])).isEmpty)
    }
}
