import APNsProtocol
import Foundation
import RichPushModel
import ServerSettings
import Testing

@testable import LabServices

@Suite("The settings of a demo")
struct DemoSettingsTests {
    @Test("lie in its folder, listen on this machine and push to the local APNs of the folder")
    func demo() throws {
        let path = NSTemporaryDirectory() + "clarion-demo-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let folder = try EmulatorFolder(path: path, now: SystemClock().now)
        let key = Settings.WebPush.newKey()
        let settings = try Settings.demo(
            directory: path + "/server", port: 0, apnsPort: 2197, managementPort: 2195, folder: folder, webPushKey: key)
        #expect(settings.dataDirectory == path + "/server")
        #expect(settings.database == nil)
        #expect(settings.listening.address == Settings.Address(host: "127.0.0.1", port: 0))
        #expect(settings.metrics == nil)
        #expect(settings.apns.environment == .sandbox)
        #expect(settings.apns.host == "127.0.0.1")
        #expect(settings.apns.port == 2197)
        #expect(settings.apns.managementPort == 2195)
        #expect(settings.apns.trustRootsPath == folder.authorityPath)
        #expect(settings.apns.credential?.topic == Settings.demoTopic)
        #expect(settings.apns.credential?.key.reveal() == folder.signingKeyPEM)
        #expect(settings.webPush.identity?.subject == Settings.demoSubject)
        #expect(settings.webPush.identity?.keys.map(\.privateText) == [key])
        #expect(settings.webPush.hosts == WebPushSettings.knownHosts + ["127.0.0.1"])
        #expect(settings.webPush.networks.map { "\($0)" } == ["127.0.0.0/8"])
        #expect(settings.notifications.hubName == "demo")
        #expect(settings.contentLimit == 50_000_000)
        #expect(settings.pushDeadline == .seconds(10))
        #expect(settings.shutdownDeadline == .seconds(5))
    }
}
