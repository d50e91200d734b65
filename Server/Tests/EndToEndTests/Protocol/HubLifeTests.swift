import APNsEmulation
import Foundation
import PushHub
import RichPushModel
import SharedAccess
import Testing

@testable import HubProtocol
@testable import LabServices
@testable import ServerComposition
@testable import ServerSettings

/// A hub from its making to its end through the hub protocol alone, on real sockets: TLS with the certificate of the node's own
/// authority at one end, the local APNs at the other.
struct HubLifeTests {
    @Test(
        "made, registered at, sent through, scheduled, cancelled, asked and removed by requests alone, and each push as asked for",
        arguments: HubCaller.Manner.allCases)
    func life(manner: HubCaller.Manner) async throws {
        try await Stage.open { stage in
            let port = try await DemoPort.choose(0)
            try await stage.withNode { settings in
                settings.listening.tls = Settings.TLS(address: .init(host: "127.0.0.1", port: port), names: [])
                // What is pushed is pushed with the hub's own credential.
                settings.apns.credential = nil
            } _: { node in
                let root = try await node.storage.hubs.rule(named: HubRegistry.rootRuleName, of: nil)
                let trusted = try #require(node.serverCertificate?.authorityPath)
                try await HubCaller.use(manner, trusting: trusted) { client in
                    let manager = HubCaller(
                        client: client, manner: manner, authority: "127.0.0.1:\(port)", ruleName: root.name, key: root.primary)
                    let life = HubLife(apns: stage.demo.apns, hub: try await make(by: manager, stage))
                    try await life.register()
                    try await life.send()
                    try await life.skip()
                    try await life.scheduleAndCancel()
                    try await life.bury()
                    try await remove(by: manager)
                }
            }
        }
    }

    /// The management call with the credential of the local APNs, in the form of Apple's portal: the key without its first and last
    /// line. The answer holds the keys.
    private func make(by manager: HubCaller, _ stage: Stage) async throws -> HubCaller {
        let credential = try #require(stage.demo.node.settings.apns.credential)
        let key = credential.key.reveal().split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        let properties = [
            ("Endpoint", "https://api.development.push.apple.com:443/3/device"), ("Token", key), ("KeyId", credential.keyID),
            ("AppName", credential.topic), ("AppId", credential.teamID),
        ].map { "<Property><Name>\($0)</Name><Value>\($1)</Value></Property>" }.joined()
        let made = try await manager.call(
            "PUT", "/life?api-version=2020-06",
            body: """
                <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><NotificationHubDescription \
                xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><ApnsCredential><Properties>\
                \(properties)</Properties></ApnsCredential></NotificationHubDescription></content></entry>
                """)
        try #require(made.status == 201, "\(made.text)")
        #expect(!made.text.contains(key))
        let rules = try #require(try HubDescription.read(answer: Array(made.text.utf8))).rules
        var hub = manager
        hub.ruleName = AccessRule.fullName
        hub.key = try #require(rules.first { $0.name == hub.ruleName }?.primaryKey.flatMap(SharedAccessKey.init))
        return hub
    }

    private func remove(by manager: HubCaller) async throws {
        #expect(try await manager.call("DELETE", "/life?api-version=2020-06").status == 200)
        let gone = try await manager.call("GET", "/life?api-version=2020-06")
        #expect(gone.status == 200)
        #expect(gone.text.contains("Publicly Listed Services"))
    }
}
