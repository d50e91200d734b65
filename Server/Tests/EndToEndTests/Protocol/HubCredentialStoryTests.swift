import APNsEmulation
import Foundation
import HubProtocol
import Logging
import PushHub
import RemoteHub
import SharedAccess
import Testing

@testable import LabServices
@testable import ServerComposition

/// Several hubs on one node, each with a credential of its own for another app.
struct HubCredentialStoryTests {
    @Test(
        "two hubs of one node push through one dispatcher, each with its own certificate to its own app",
        .timeLimit(.minutes(10)))
    func twoApps() async throws {
        try await Stage.open { stage in
            for app in ["one", "two"] { try await create(app, stage) }
            for app in ["one", "two"] { try await push(app, stage) }
            let wanted: Set = [
                "clarion_apns_clients 3", "clarion_apns_requests_total 2", #"clarion_apns_connections{phase="ready"} 2"#,
            ]
            _ = try await eventually(
                "what the hubs' own clients do stands on /metrics, beside the node's client that sent nothing"
            ) {
                let lines = Set(stage.metrics.render().split(separator: "\n").map(String.init))
                return lines.isSuperset(of: wanted) ? true : nil
            }
        }
    }

    private func create(_ app: String, _ stage: Stage) async throws {
        let topic = "org.clarion.\(app)"
        try stage.demo.apns.registerApp(bundleID: topic, teamID: "TEAM\(app.uppercased())000")
        let issued = try stage.demo.apns.issueClientCertificate(
            ClientCertificateRequest(bundleID: topic, environments: [.sandbox]))
        let credential = HubAPNsCredential(
            identity: .certificate(data: Array((issued.certificatePEM + "\n" + issued.privateKeyPEM).utf8), password: nil),
            topic: nil,
            environment: .sandbox)
        _ = try await stage.demo.node.storage.hubs.create(
            try HubRegistry.name(app), HubChange(credentials: [.set(.apns(credential))]))
    }

    private func push(_ app: String, _ stage: Stage) async throws {
        let device = "phone of \(app)"
        let token = stage.demo.apns.issueToken(device: device, topic: "org.clarion.\(app)").uppercased()
        let pushes = stage.demo.apns.connect(device: device)
        let rule = try await stage.demo.node.storage.hubs.rule(named: AccessRule.fullName, of: try HubRegistry.name(app))
        let endpoint = try #require(SharedAccessEndpoint(stage.address + "/"))
        let hub = try RemoteHub(
            try ConnectionString(endpoint: endpoint, keyName: rule.name, key: rule.secondary), hub: app,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        do {
            let id = try await hub.createRegistrationID()
            _ = try await hub.putRegistration(RegistrationDescription(.apple, handle: token, tags: ["all"]), id: id)
            let sent = try await hub.send(.apple(#"{"aps":{"alert":"to \#(app)"}}"#, tags: "all"))
            let details = try await stage.ended(sent, hub)
            #expect(details.outcomes == [OutcomeCounts(.apns, [.init(name: "Success", count: 1)])])
            let first = await pushes.first { _ in true }
            #expect(first?.bundleID == "org.clarion.\(app)")
            #expect(first.map { String(decoding: $0.payload, as: UTF8.self) } == #"{"aps":{"alert":"to \#(app)"}}"#)
        } catch {
            try? await hub.shutDown()
            throw error
        }
        try await hub.shutDown()
    }
}
