import APNsEmulation
import Foundation
import Logging
import PushHub
import RichPushModel
import SharedAccess
import Testing

@testable import RemoteHub
@testable import HubProtocol
@testable import LabServices
@testable import ServerComposition
@testable import ServerSettings

/// A full life through the hub protocol alone, from the Swift client to the local APNs, and an app backend whose hub is another
/// node's.
struct RemoteHubStoryTests {
    @Test("register, send by tag, direct and by template, schedule, cancel, telemetry, dead tokens")
    func life() async throws {
        try await Stage.open { stage in
            try await stage.withRemoteHub { hub in
                let token = stage.demo.apns.issueToken(device: "remote phone", topic: Settings.demoTopic).uppercased()
                let pushes = PushCollection(stage.demo.apns.connect(device: "remote phone"))
                let id = try await hub.createRegistrationID()
                let registered = try await hub.putRegistration(
                    RegistrationDescription(.apple, handle: token, tags: ["city:Oslo", "vip"]), id: id)
                #expect(registered.etag == "1")
                #expect(try await hub.registration(id)?.tags.contains("vip") == true)
                let sent = try await hub.send(.apple(#"{"aps":{"alert":"by tag"}}"#, tags: "vip && !city:Bergen"))
                #expect(try await pushes.next() == #"{"aps":{"alert":"by tag"}}"#)
                let details = try await stage.ended(sent, hub)
                #expect(details.state == .completed)
                #expect(details.outcomes == [OutcomeCounts(.apns, [.init(name: "Success", count: 1)])])
                try await hub.send(.apple(#"{"aps":{"alert":"direct"}}"#), to: token)
                #expect(try await pushes.next() == #"{"aps":{"alert":"direct"}}"#)
                try await hub.putInstallation(
                    InstallationDocument(
                        installationID: "i-1", platform: .apns, pushChannel: .handle(token), tags: ["vip"],
                        templates: [InstallationTemplate(name: "short", body: #"{"aps":{"alert":"$(text)"}}"#)]))
                try await hub.send(.template(["text": "filled in"], tags: "short"))
                #expect(try await pushes.next() == #"{"aps":{"alert":"filled in"}}"#)
                var listed = 0
                for try await _ in hub.registrations(withTag: "vip", pageSize: 1) { listed += 1 }
                #expect(listed == 3, "the registration, the installation and its template")
                let later = try await hub.schedule(
                    .apple(#"{"aps":{"alert":"later"}}"#), at: stage.now + .seconds(3600))
                #expect(try await hub.cancelSchedule(try #require(later.id)))
                #expect(try await hub.details(of: try #require(later.id)) == nil)
                #expect(try await hub.deleteRegistration(id))
                #expect(try await hub.registration(id) == nil)
                stage.demo.apns.invalidate(token: token, reason: .unregistered, at: stage.now)
                let late = try await hub.send(.apple(#"{"aps":{"alert":"too late"}}"#, tags: "vip"))
                #expect(
                    try await stage.ended(late, hub).outcomes
                        == [OutcomeCounts(.apns, [.init(name: "ExpiredChannel", count: 1)])])
                #expect(try await hub.installation("i-1") == nil, "who is gone is forgotten")
            }
        }
    }

    @Test("the same request id with the same content is one send")
    func repeated() async throws {
        try await Stage.open { stage in
            try await stage.withRemoteHub { hub in
                let first = try await hub.send(.apple(#"{"aps":{"alert":"once"}}"#), requestID: "the-same")
                #expect(try await hub.send(.apple(#"{"aps":{"alert":"once"}}"#), requestID: "the-same").id == first.id)
                #expect(try await hub.send(.apple(#"{"aps":{"alert":"other"}}"#), requestID: "the-same").id != first.id)
            }
        }
    }

    @Test("an app backend sends through another node's hub: a phone registered there gets the push from here")
    func backendElsewhere() async throws {
        try await Stage.open { stage in
            let connection = try await stage.connection()
            try await stage.withNode { settings in
                settings.remoteHub = Settings.RemoteHub(connection: connection, name: stage.hubName)
            } _: { node in
                try await story(stage, "http://127.0.0.1:\(node.settings.listening.address.port)")
            }
        }
    }

    @Test("over TLS the node's own authority is believed when it is named, and not when it is not")
    func overTLS() async throws {
        try await Stage.open { stage in
            let port = try await DemoPort.choose(0)
            try await stage.withNode { settings in
                settings.listening.tls = Settings.TLS(address: .init(host: "127.0.0.1", port: port), names: [])
            } _: { node in
                let name = HubName(node.settings.notifications.hubName)
                let rule = try await node.storage.hubs.rule(named: AccessRule.fullName, of: name)
                let text =
                    "Endpoint=sb://127.0.0.1:\(port)/;SharedAccessKeyName=\(rule.name);SharedAccessKey=\(rule.primary.text)"
                let authority = try #require(node.serverCertificate?.authorityPath)
                let trusting = try RemoteHub(
                    text, hub: node.settings.notifications.hubName, options: RemoteHubOptions(trustRootsPath: authority))
                let id = try await trusting.createRegistrationID()
                try await trusting.putRegistration(RegistrationDescription(.apple, handle: "0A1B", tags: ["vip"]), id: id)
                #expect(try await trusting.registration(id)?.tags == ["vip"])
                #expect(try await trusting.send(.apple(#"{"aps":{"alert":"x"}}"#, tags: "nobody")).id != nil)
                try await trusting.shutDown()
                let wary = try RemoteHub(text, hub: "demo", options: RemoteHubOptions(retries: 0))
                let error = await #expect(throws: RemoteHubError.self) { try await wary.createRegistrationID() }
                #expect(error?.reason == .unreachable)
                #expect(error?.fate == .nothingDone)
                try await wary.shutDown()
            }
        }
    }

    private func story(_ stage: Stage, _ address: String) async throws {
        let token = stage.demo.apns.issueToken(device: "far phone", topic: Settings.demoTopic).uppercased()
        let pushes = PushCollection(stage.demo.apns.connect(device: "far phone"))
        let alice = APIClient(address: address, user: "alice", password: "alice")
        let registration = Data(#"{"Platform":"apns","Handle":"\#(token)","Tags":["news"]}"#.utf8)
        let put = try await alice.call(
            "PUT", "/api/register/0123456789", body: registration, headers: ["Content-Type": "application/json"])
        #expect(put.status == 200)
        #expect(
            try await stage.demo.node.hub.devices(withToken: token).first?.tags.map(\.text).contains("username:alice") == true)
        #expect(try await alice.call("POST", "/api/notifications", body: nil, headers: [:]).status == 200)
        let payload = try await pushes.next()
        let richID = try #require(PushEnvelope(payload: Data(payload.utf8))?.id)
        let picture = try await alice.call("GET", "/api/notifications/\(richID)", body: nil, headers: [:])
        #expect(picture.status == 200 && picture.headers["content-type"] == "image/png")
        #expect(try await alice.call("DELETE", "/api/register/0123456789", body: nil, headers: [:]).status == 200)
        #expect(try await stage.demo.node.hub.devices(withToken: token).isEmpty)
    }
}

/// What a simulated phone of one's own was given, one push after the other.
private struct PushCollection {
    private let pushes: AsyncStream<DeliveredPush>

    init(_ pushes: AsyncStream<DeliveredPush>) { self.pushes = pushes }

    func next() async throws -> String {
        let pushes = pushes
        return try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                for await push in pushes { return String(decoding: push.payload, as: UTF8.self) }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: .seconds(30))
                return nil
            }
            defer { group.cancelAll() }
            return try #require(try await group.next() ?? nil, "no push came")
        }
    }
}

extension Stage {
    /// Runs the body with a second node beside the stage's, like it but with data of its own.
    func withNode(
        _ change: (inout Settings) -> Void, _ body: @escaping @Sendable (ServerNode) async throws -> Void
    ) async throws {
        var settings = demo.node.settings
        settings.listening.address.port = try await DemoPort.choose(0)
        change(&settings)
        let changed = settings
        try await TemporaryFolder.use { folder in
            var settings = changed
            settings.dataDirectory = folder
            let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let node = try await ServerNode.make(settings, options: NodeOptions(signIn: .nameIsPassword), logger: quiet)
            let (listening, isListening) = AsyncStream.makeStream(of: Void.self)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await node.run { _ in isListening.yield() } }
                group.addTask {
                    for await _ in listening { break }
                    try await body(node)
                }
                defer { group.cancelAll() }
                try await group.next()
                group.cancelAll()
                while (try? await group.next()) != nil {}
            }
        }
    }

    var hubName: String { demo.node.settings.notifications.hubName }

    var now: Timestamp { SystemClock().now }

    /// The full key of the demo's hub.
    func connection() async throws -> ConnectionString {
        let rule = try await demo.node.storage.hubs.rule(named: AccessRule.fullName, of: HubName(hubName))
        let endpoint = try #require(SharedAccessEndpoint(address + "/"))
        return try ConnectionString(endpoint: endpoint, keyName: rule.name, key: rule.primary)
    }

    /// Opens the demo's hub by its protocol.
    func withRemoteHub(_ body: (RemoteHub) async throws -> Void) async throws {
        let hub = try RemoteHub(
            try await connection(), hub: hubName, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        do { try await body(hub) } catch {
            try? await hub.shutDown()
            throw error
        }
        try await hub.shutDown()
    }

    /// The telemetry of a send when it has ended.
    func ended(_ receipt: RemoteReceipt, _ hub: RemoteHub) async throws -> NotificationDetails {
        let id = try #require(receipt.id)
        return try await eventually("the send has ended") {
            let details = try await hub.details(of: id)
            return details?.state.isFinal == true ? details : nil
        }
    }
}
