import ClarionTesting
import Crypto
import Foundation
import Logging
import PushHub
import SharedAccess
import Testing

@testable import ServerComposition
@testable import ServerDelivery
@testable import ServerOperations
@testable import ServerSettings
@testable import ServerStorage

@Suite("The warning of a start about hubs without a credential for APNs")
struct HubCredentialWarningTests {
    /// What a start says of hubs without a credential, after `names` were created and the hubs of `credentials` got one of their own.
    private func warnings(
        hubs names: [String], credentials: [String], node: [String: String] = [:]
    ) async throws -> [[String: String]] {
        let folder = NSTemporaryDirectory() + "clarion-credentials-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = try #require(SettingsFixture(environment: node).read().settings)
        settings.dataDirectory = folder
        let administration = HubAdministration(settings: settings)
        try await NodeStorage.during(command: settings, mayBegin: true) { _ in }
        for name in names { try await administration.create(try #require(HubName(name)), details: HubDetails()) }
        let credential = HubAPNsCredential(
            identity: .token(key: P256.Signing.PrivateKey().pemRepresentation, keyID: "KEYKEYKEY0", teamID: "TEAMTEAM00"),
            topic: "com.example.app", environment: .production)
        for name in credentials {
            try await administration.setCredential(.set(.apns(credential)), of: try #require(HubName(name)))
        }
        let notes = LogNotes()
        let server = try await ServerNode.make(settings, logger: notes.logger)
        await server.warnOfHubsWithoutCredential()
        await server.storage.close()
        return notes.lines.filter { $0.level == .warning && $0.message.hasPrefix("No APNs credential") }.map(\.metadata)
    }

    @Test("names the hubs that have none, and no hub that has one of its own")
    func some() async throws {
        let found = try await warnings(hubs: ["news", "shop"], credentials: ["shop"])
        #expect(found == [["hubs": "hub news", "count": "2"]])
    }

    @Test("counts the hubs behind the first page as well, and names ten")
    func many() async throws {
        let names = (100...200).map { "hub-\($0)" }
        let found = try await warnings(hubs: names, credentials: [])
        #expect(found.map { $0["count"] } == ["102"])
        #expect(found.first?["hubs"]?.split(separator: " ").count == 10)
    }

    @Test("is not given where every hub has one of its own")
    func all() async throws {
        #expect(try await warnings(hubs: ["news"], credentials: ["hub", "news"]).isEmpty)
    }

    @Test("is not given where the node has one, which hubs without their own use")
    func node() async throws {
        let credential = [
            "CLARION_APNS_TOPIC": "org.example.app", "CLARION_APNS_TEAM_ID": "TEAM567890", "CLARION_APNS_KEY_ID": "KEY4567890",
            "CLARION_APNS_KEY": P256.Signing.PrivateKey().pemRepresentation,
        ]
        #expect(try await warnings(hubs: ["news"], credentials: [], node: credential).isEmpty)
    }

    @Test("says whom the node pushes to all the same")
    func others() throws {
        let none = try #require(SettingsFixture().read().settings)
        #expect(ServerNode.credentialWarning(none).hasSuffix("are kept until their time is up"))
        let keys = ["CLARION_WEB_PUSH_SUBJECT": "mailto:a@example.com", "CLARION_WEB_PUSH_KEYS": Settings.WebPush.newKey()]
        let browsers = try #require(SettingsFixture(environment: keys).read().settings)
        #expect(ServerNode.credentialWarning(browsers).hasSuffix("; the node pushes to browsers"))
    }
}
