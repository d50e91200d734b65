import APNsProtocol
import Crypto
import CryptoExtras
import Foundation
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing

@testable import ServerOperations
@testable import ServerSettings
@testable import ServerStorage

@Suite("Hubs from the command line")
struct HubAdministrationTests {
    private func withHubs(
        isNew: Bool = false, _ body: (HubAdministration, Settings) async throws -> Void
    ) async throws {
        let folder = NSTemporaryDirectory() + "clarion-hubs-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = try #require(SettingsFixture().read().settings)
        settings.dataDirectory = folder
        if !isNew { try await NodeStorage.during(command: settings, mayBegin: true) { _ in } }
        try await body(HubAdministration(settings: settings), settings)
    }

    private func code(_ work: () async throws -> Void) async -> ServiceErrorCode? {
        do { try await work() } catch { return (error as? ServiceError)?.code }
        return nil
    }

    @Test("a hub is created, listed, shown and deleted; the node's own hub stays")
    func life() async throws {
        try await withHubs { hubs, settings in
            let news = try #require(HubName("News"))
            try await hubs.create(news, details: HubDetails(userMetadata: "for tests"))
            #expect(try await hubs.list().map(\.name.text) == [settings.notifications.hubName, "News"])
            let shown = try await hubs.show(news)
            #expect(shown.rules.count == 2)
            #expect(shown.deviceCount == 0)
            #expect(shown.credentials[.apns] == nil)
            #expect(await code { try await hubs.create(news, details: HubDetails()) } == .conflict)
            try await hubs.delete(news)
            #expect(await code { _ = try await hubs.show(news) } == .notFound)
            let own = try #require(HubName(settings.notifications.hubName))
            #expect(await code { try await hubs.delete(own) } == .conflict)
        }
    }

    @Test("where no node has been, every command says so and makes nothing")
    func mistypedDirectory() async throws {
        try await withHubs(isNew: true) { hubs, settings in
            let news = try #require(HubName("News"))
            #expect(await code { _ = try await hubs.list() } == .notFound)
            #expect(await code { _ = try await hubs.show(news) } == .notFound)
            #expect(await code { try await hubs.setCredential(.remove(.apns), of: news) } == .notFound)
            #expect(await code { try await hubs.create(news, details: HubDetails()) } == .notFound)
            #expect(!FileManager.default.fileExists(atPath: settings.dataDirectory))
        }
    }

    @Test("each change is in the audit, and each key and link that was shown, without them")
    func audited() async throws {
        try await withHubs { hubs, settings in
            let news = try #require(HubName("News"))
            try await hubs.create(news, details: HubDetails())
            let rule = try await hubs.rule(named: AccessRule.fullName, of: news)
            _ = try await hubs.rotate(.primary, ofRule: AccessRule.fullName, of: news)
            _ = try await hubs.containerLink(of: news, at: "https://push.example.test", lifetime: .seconds(60))
            try await hubs.setCredential(.remove(.apns), of: news)
            try await hubs.delete(news)
            #expect(await code { try await hubs.delete(news) } == .notFound)
            let entries = try await NodeStorage.during(command: settings) { storage in
                while try await storage.backendStore.sealAudit(limit: 100) > 0 {}
                return try await storage.backendStore.auditEntries(after: 0, limit: 100).map(\.entry)
            }
            let name = AccessRule.fullName
            #expect(entries.allSatisfy { $0.actorKind == "command" })
            #expect(
                Set(entries.map { "\($0.action.rawValue) \($0.object) \($0.details.content?.text ?? "")" }) == [
                    "hub.created News ", "hub.key-shown News rule=\(name)", "hub.key-rolled News rule=\(name) key=primary",
                    "hub.key-shown News link=container", "hub.changed News apns=removed", "hub.removed News ",
                ])
            #expect(!entries.contains { $0.details.content?.text.contains(rule.primary.text) == true })
        }
    }

    @Test("keys survive from one command to the next, and change when they are rotated")
    func keys() async throws {
        try await withHubs { hubs, settings in
            let own = try #require(HubName(settings.notifications.hubName))
            let before = try await hubs.rule(named: AccessRule.fullName, of: own)
            #expect(try await HubAdministration(settings: settings).rule(named: AccessRule.fullName, of: own) == before)
            let after = try await hubs.rotate(.secondary, ofRule: AccessRule.fullName, of: own)
            #expect(after.primary == before.primary)
            #expect(after.secondary != before.secondary)
            let root = try await hubs.rule(named: HubRegistry.rootRuleName, of: nil)
            #expect(root.rights == Set(AccessRight.allCases))
        }
    }

    @Test("a signing key is checked, sealed, and never shown")
    func credential() async throws {
        try await withHubs { hubs, settings in
            let own = try #require(HubName(settings.notifications.hubName))
            let pem = P256.Signing.PrivateKey().pemRepresentation
            let good = HubAPNsCredential(
                identity: .token(key: pem, keyID: "KEYKEYKEY0", teamID: "TEAMTEAM00"), topic: "com.example.app",
                environment: .production)
            try await hubs.setCredential(.set(.apns(good)), of: own)
            let shown = try await hubs.show(own)
            #expect(shown.credentials[.apns] == .apns(good))
            #expect(shown.record.sealedCredentials[.apns]?.contains("PRIVATE") == false)
            #expect(!"\(shown)".contains(pem.dropFirst(40).prefix(40)))
            var bad = good
            bad.identity = .token(key: "no key", keyID: "KEYKEYKEY0", teamID: "TEAMTEAM00")
            #expect(throws: ServiceError.self) { try HubAdministration.check(.apns(bad)) }
            #expect(await code { try await hubs.setCredential(.set(.apns(bad)), of: own) } == .invalidField)
            bad = good
            bad.topic = nil
            #expect(await code { try await hubs.setCredential(.set(.apns(bad)), of: own) } == .invalidField)
            try await hubs.setCredential(.remove(.apns), of: own)
            #expect(try await hubs.show(own).credentials[.apns] == nil)
        }
    }

    @Test("a key file of Firebase is read, and what is wrong with one is said by the names that it has")
    func keyFile() async throws {
        let pem = try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation
        let good = [
            "type": "service_account", "project_id": "shop", "client_email": "a@shop.example", "private_key": pem,
            "private_key_id": "k1", "token_uri": "https://oauth2.googleapis.com/token",
        ]
        try await withHubs { hubs, settings in
            func read(_ members: [String: String]) throws -> HubFCMCredential {
                try hubs.credential(inKeyFile: Array(try JSONEncoder().encode(members)))
            }
            let credential = try read(good)
            #expect(credential.projectID == "shop" && credential.clientEmail == "a@shop.example" && credential.keyID == "k1")
            let own = try #require(HubName(settings.notifications.hubName))
            try await hubs.setCredential(.set(.fcm(credential)), of: own)
            #expect(try await hubs.show(own).credentials[.fcmv1] == .fcm(credential))
            for (name, value, words) in [
                ("private_key", "none", "private_key is not PEM"), ("project_id", "", "project_id is missing"),
                ("client_email", "a", "client_email is no address"), ("type", "authorized_user", "type is not service_account"),
                ("token_uri", "https://example.org/token", "token_uri names example.org:443"),
            ] {
                let error = #expect(throws: ServiceError.self) { try read(good.merging([name: value]) { $1 }) }
                #expect(error?.detail?.hasPrefix(words) == true, "\(error?.detail ?? "")")
            }
        }
    }

    @Test("a hub shows whose credential it sends with, and that there is none")
    func whose() async throws {
        try await withHubs { hubs, settings in
            let own = try #require(HubName(settings.notifications.hubName))
            #expect(try await hubs.show(own).credentialWords(for: .browser).hasPrefix("none"))
            var settings = settings
            settings.webPush.subject = "mailto:a@example.com"
            settings.webPush.keys = SecretText(Settings.WebPush.newKey())
            var shown = try await HubAdministration(settings: settings).show(own)
            #expect(shown.credentialWords(for: .browser) == "that of the node")
            #expect(shown.credentialWords(for: .fcmv1).hasPrefix("none"))
            shown.credentials[.fcmv1] = .fcm(
                HubFCMCredential(projectID: "shop", clientEmail: "a@shop.example", privateKey: "secret", keyID: "k1"))
            #expect(shown.credentialWords(for: .fcmv1).contains("a@shop.example"))
        }
    }

    @Test("a database without its master key says at once what is missing")
    func otherKey() async throws {
        try await withHubs { hubs, settings in
            _ = try await hubs.list()
            try FileManager.default.removeItem(atPath: settings.dataDirectory + "/master-key")
            do {
                _ = try await hubs.list()
                Issue.record("it opened")
            } catch let error as ServiceError {
                #expect(error.code == .notReady)
                #expect(error.detail?.contains("master-key") == true)
            }
            // A new key there would be kept by a restoration that overwrites no file.
            #expect(!FileManager.default.fileExists(atPath: settings.dataDirectory + "/master-key"))
        }
    }
}
