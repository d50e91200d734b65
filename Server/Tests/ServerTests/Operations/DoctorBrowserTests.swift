import Crypto
import Foundation
import PushHub
import RichPushModel
import SQLStorage
import ServiceErrors
import Synchronization
import Testing

@testable import ServerDelivery
@testable import ServerOperations
@testable import ServerSettings
@testable import ServerStorage

@Suite("The doctor and what sends to browsers")
struct DoctorBrowserTests {
    private static let subject = "mailto:push@example.com"
    private static let secret = Settings.WebPush.newKey()
    private static let keys = ["CLARION_WEB_PUSH_SUBJECT": subject, "CLARION_WEB_PUSH_KEYS": secret]
    /// Hosts without an address.
    private static let away = [
        "CLARION_APNS_ENVIRONMENT": "sandbox", "CLARION_APNS_HOST": "apns.invalid", "CLARION_FCM_HOST": "fcm.invalid",
    ]

    private func settings(
        _ environment: [String: String], hosts: [String]? = nil, in folder: String = "/nonexistent"
    ) throws -> Settings {
        var settings = try #require(SettingsFixture(environment: environment).read().settings)
        settings.dataDirectory = folder
        if let hosts { settings.webPush.hosts = hosts }
        return settings
    }

    private func finding(_ name: String, _ settings: Settings) async throws -> DoctorCheck.Finding {
        let checks =
            Doctor.apnsChecks(settings) + [Doctor.fcmCheck(settings), Doctor.browserWayCheck(settings) { _, _ in ["away"] }]
        return await (try #require(checks.first { $0.name == name })).look()
    }

    /// What is said where the named hosts have these faults.
    private func way(_ hosts: [String]? = nil, faults: [String: String] = [:]) async throws -> DoctorCheck.Finding {
        let check = Doctor.browserWayCheck(try settings(Self.keys, hosts: hosts)) { hosts, _ in hosts.map { faults[$0] } }
        return await check.look()
    }

    @Test("without keys nothing is missing, and no push service has to be reached")
    func none() async throws {
        let settings = try settings(Self.away)
        #expect(Doctor.browserKeysCheck(settings) == nil)
        for name in ["way to APNs", "way to FCM", "way to browsers"] {
            let finding = try await finding(name, settings)
            #expect(finding.verdict == .good && finding.found.hasPrefix("not needed: "), "\(name): \(finding)")
        }
    }

    @Test("with keys for browsers alone, the way to Apple is not needed")
    func browsersAlone() async throws {
        let settings = try settings(Self.keys.merging(Self.away) { $1 })
        #expect(try await finding("way to APNs", settings).verdict == .good)
        #expect(try await finding("way to browsers", settings).verdict != .good)
    }

    @Test("the keys are named with the subject, and the private half is not shown")
    func keysCheck() async throws {
        let older = Settings.WebPush.newKey()
        let one = try #require(Doctor.browserKeysCheck(try settings(Self.keys)))
        let two = try #require(
            Doctor.browserKeysCheck(try settings(Self.keys.merging(["CLARION_WEB_PUSH_KEYS": "\(Self.secret) \(older)"]) { $1 })))
        let (single, several) = (await one.look(), await two.look())
        #expect(single.verdict == .good && single.found.contains(Self.subject), "\(single)")
        #expect(!single.found.contains("older"))
        #expect(several.found.contains("1 older"), "\(several)")
        #expect(![Self.secret, older].contains { several.found.contains($0) })
    }

    @Test("keys without a subject, and a subject without keys, are problems of the settings", arguments: keys.keys.sorted())
    func half(name: String) async throws {
        let result = SettingsFixture(environment: Self.keys.filter { $0.key == name }).read()
        let found = await Doctor.checks(for: result).first?.look()
        #expect(found?.verdict == .bad && found?.found.contains("belong together") == true, "\(String(describing: found))")
    }

    @Test("the hosts that have the endpoints are asked in place of those above them")
    func hosts() async throws {
        let asked = Mutex<[String]>([])
        let check = Doctor.browserWayCheck(try settings(Self.keys)) { hosts, _ in
            asked.withLock { $0 = hosts }
            return hosts.map { _ in nil }
        }
        let found = await check.look()
        #expect(asked.withLock { $0 } == ["fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com"])
        #expect(found.verdict == .good, "\(found)")
    }

    @Test("a host with a dot at its end is the same host")
    func dot() throws {
        let hosts = try settings(Self.keys, hosts: ["Push.Apple.com.", "push.example."]).webPush.endpointHosts
        #expect(hosts.map(\.name) == ["web.push.apple.com", "push.example"])
        #expect(hosts.map(\.isOfVendor) == [true, false])
    }

    @Test("one push service that cannot be reached is named, and all of them are bad")
    func verdicts() async throws {
        let (google, apple) = ("fcm.googleapis.com", "web.push.apple.com")
        let one = try await way([google, "push.apple.com"], faults: [google: "nothing answers"])
        #expect(one.verdict == .notice && one.found == "fcm.googleapis.com: nothing answers", "\(one)")
        let all = try await way([google, "push.apple.com"], faults: [google: "nothing answers", apple: "no address"])
        #expect(all.verdict == .bad && all.found.contains("; web.push.apple.com: no address"), "\(all)")
        #expect(all.remedy?.contains("port 443") == true)
        #expect(all.remedy?.contains("web-push-networks") == false)
    }

    @Test("a push service of one's own may have another port, so its silence is not bad")
    func ownService() async throws {
        let found = try await way(["push.example.com"], faults: ["push.example.com": "nothing answers"])
        #expect(found.verdict == .notice && found.remedy?.contains("web-push-networks") == true, "\(found)")
        #expect(try await way([]).verdict == .notice)
        #expect(try await way(["notify.windows.com"]).verdict == .notice)
    }

    @Test("certificates that cannot be read are bad, with the sentence of the start")
    func trust() async throws {
        var settings = try settings(Self.keys)
        settings.webPush.trustRootsPath = "/nonexistent/roots.pem"
        let found = await Doctor.browserWayCheck(settings).look()
        #expect(found.verdict == .bad && found.found.contains("web-push-trust-roots-path"), "\(found)")
    }

    @Test("a host is looked at as for a push: without an address, and with one that is not public, it gets none")
    func faults() async throws {
        let faults = try await PushServiceTrial.faults(of: ["push.invalid", "127.0.0.1", "::1"], try settings(Self.keys).webPush)
        #expect(faults.first == "the host has no address")
        #expect(faults.dropFirst().allSatisfy { $0?.contains("web-push-networks") == true }, "\(faults)")
    }

    @Test("a hub's own credential needs the way, though the node has none")
    func hubs() async throws {
        let folder = NSTemporaryDirectory() + "clarion-doctor-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let settings = try settings(Self.away, in: folder)
        let storage = try await NodeStorage.open(settings, access: .server, clock: .system)
        // Without the look at credentials with which a hub is stored.
        let registry = HubRegistry(store: SQLHubStore(storage.database), box: storage.box, clock: storage.clock)
        let apple = HubAPNsCredential(
            identity: .token(key: P256.Signing.PrivateKey().pemRepresentation, keyID: "KEY4567890", teamID: "TEAM567890"),
            topic: "org.example.app", environment: .production)
        let browsers = HubBrowserCredential(subject: Self.subject, publicKey: "p", privateKey: "k")
        _ = try await registry.create(try HubRegistry.name("apple"), HubChange(credentials: [.set(.apns(apple))]))
        await storage.close()
        #expect(try await finding("way to APNs", settings).found.hasPrefix("name: apns.invalid"))
        #expect(try await finding("way to browsers", settings).verdict == .good)
        let again = try await NodeStorage.open(settings, access: .server, clock: .system)
        let second = HubRegistry(store: SQLHubStore(again.database), box: again.box, clock: again.clock)
        _ = try await second.create(try HubRegistry.name("shop"), HubChange(credentials: [.set(.browser(browsers))]))
        await again.close()
        #expect(try await finding("way to browsers", settings).found == "fcm.googleapis.com: away")
    }
}
