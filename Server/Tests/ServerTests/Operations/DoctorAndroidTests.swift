import ClarionTesting
import CryptoExtras
import FCMEmulation
import FCMProtocol
import Foundation
import LocalCertificates
import Logging
import NIOPosix
import PushHub
import RichPushModel
import SQLStorage
import Testing

@testable import ServerDelivery
@testable import ServerOperations
@testable import ServerSettings
@testable import ServerStorage

@Suite("The doctor and what sends to Android")
struct DoctorAndroidTests {
    private static let project = "clarion-test"

    /// A local FCM, and a data directory for a node that sends to it.
    private struct Place {
        let fcm: LocalFCM
        let folder: String
        let environment: [String: String]

        func finding(
            _ name: String, _ change: [String: String] = [:], asksFCM: Bool = false
        ) async throws -> DoctorCheck.Finding {
            let result = SettingsLoader(
                arguments: ["--data-directory", folder + "/data"], environment: environment.merging(change) { $1 }, path: nil,
                system: .server
            ).read()
            let check = Doctor.checks(for: result, asksFCM: asksFCM).first { $0.name == name }
            return await (try #require(check, "\(result.problems)")).look()
        }

        var key: [String: String] { get throws { ["CLARION_FCM_KEY": try fcm.makeKey(project: DoctorAndroidTests.project)] } }

        /// One that names Google for access tokens, and so suits each host.
        var keyOfGoogle: [String: String] {
            get throws {
                let url = FCMServiceAccount.googleTokenURL
                return ["CLARION_FCM_KEY": try fcm.makeKey(project: DoctorAndroidTests.project, tokenURL: url)]
            }
        }

        var settings: Settings {
            get throws {
                var settings = try #require(SettingsFixture().read().settings)
                settings.dataDirectory = folder + "/data"
                return settings
            }
        }

        /// Creates a hub with the account of a key file, or with one that cannot be used.
        func createHub(_ name: String, keyFile: String) async throws {
            let file = try #require(try JSONSerialization.jsonObject(with: Data(keyFile.utf8)) as? [String: String])
            let credential = HubFCMCredential(
                projectID: file["project_id"] ?? "", clientEmail: file["client_email"] ?? "",
                privateKey: file["private_key"] ?? "", keyID: file["private_key_id"])
            // Without the look at credentials with which a hub is stored.
            let storage = try await NodeStorage.open(try settings, access: .server, clock: .system)
            let registry = HubRegistry(store: SQLHubStore(storage.database), box: storage.box, clock: storage.clock)
            _ = try await registry.create(try HubRegistry.name(name), HubChange(credentials: [.set(.fcm(credential))]))
            await storage.close()
        }
    }

    private func withPlace(_ body: (Place) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "clarion-doctor-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let now = SystemClock().now
        let authority = try LocalCertificateAuthority.create(now: now)
        let leaf = try authority.issueServerCertificate(names: ["127.0.0.1"], subject: "test", now: now)
        try authority.certificatePEM.write(toFile: folder + "/roots.pem", atomically: true, encoding: .utf8)
        let identity = LocalFCMSettings.Identity(
            certificatePEM: leaf.certificatePEM + "\n" + authority.certificatePEM, privateKeyPEM: leaf.privateKeyPEM)
        let fcm = LocalFCM(
            settings: LocalFCMSettings(identity: identity), clock: .system, group: .singletonMultiThreadedEventLoopGroup,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let port = try await fcm.start().port
        try fcm.addProject(Self.project)
        let environment = [
            "CLARION_FCM_HOST": "127.0.0.1", "CLARION_FCM_PORT": String(port),
            "CLARION_FCM_TRUST_ROOTS_PATH": folder + "/roots.pem",
        ]
        do { try await body(Place(fcm: fcm, folder: folder, environment: environment)) } catch {
            await fcm.shutdown()
            throw error
        }
        await fcm.shutdown()
    }

    @Test("without a service account nothing is missing, and FCM need not be reached")
    func none() async throws {
        let checks = Doctor.checks(for: SettingsFixture(arguments: ["--data-directory", "/nonexistent"]).read())
        #expect(!checks.contains { $0.name == "service account" })
        for name in ["way to FCM", "service accounts of hubs"] {
            #expect(await checks.first { $0.name == name }?.look().verdict == .good)
        }
    }

    @Test("an account that Google was not asked about is not called good, and Google is not asked")
    func untried() async throws {
        try await withPlace { place in
            let finding = try await place.finding("service account", try place.key)
            #expect(finding.verdict == .notice, "\(finding)")
            #expect(finding.remedy?.contains("clarion doctor --fcm") == true, "\(finding)")
            #expect(place.fcm.recorder.exchanges.isEmpty)
        }
    }

    @Test("the way to FCM is good where it answers over TLS and HTTP/2, and otherwise the step that fails is named")
    func way() async throws {
        try await withPlace { place in
            let good = try await place.finding("way to FCM", try place.key)
            #expect(good.verdict == .good, "\(good)")
            let name = try await place.finding(
                "way to FCM", place.keyOfGoogle.merging(["CLARION_FCM_HOST": "fcm.invalid"]) { $1 })
            #expect(name.verdict == .bad && name.found.hasPrefix("name: fcm.invalid"), "\(name)")
            let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup).bind(
                host: "127.0.0.1", port: 0
            ).get()
            let port = try #require(channel.localAddress?.port)
            try await channel.close()
            let closed = try await place.finding(
                "way to FCM", place.keyOfGoogle.merging(["CLARION_FCM_PORT": String(port)]) { $1 })
            #expect(closed.verdict == .bad && closed.found.hasPrefix("port: "), "\(closed)")
            #expect(closed.remedy?.contains("fcm-port") == true, "\(closed)")
        }
    }

    @Test("a key that names a foreign place for access tokens is bad, as where a hub gets it")
    func foreignPlace() async throws {
        try await withPlace { place in
            let key = try place.key.merging(["CLARION_FCM_HOST": "fcm.invalid"]) { $1 }
            let finding = try await place.finding("settings", key)
            #expect(finding.verdict == .bad && finding.found.contains("fcm-key: token_uri names 127.0.0.1"), "\(finding)")
        }
    }

    @Test("asked to, it has Google and FCM say whether they take the account, and delivers nothing")
    func tried() async throws {
        try await withPlace { place in
            let right = try await place.finding("service account", try place.key, asksFCM: true)
            #expect(right.verdict == .good, "\(right)")
            #expect(place.fcm.recorder.exchanges.map(\.path) == ["token", "send"])
            #expect(place.fcm.recorder.deliveries.isEmpty)
        }
    }

    @Test("a key that Google does not know is bad, and the next step is another key")
    func unknownKey() async throws {
        try await withPlace { place in
            let file = try place.fcm.makeKey(project: Self.project)
            let other = try _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation
            var members = try #require(try JSONSerialization.jsonObject(with: Data(file.utf8)) as? [String: String])
            members["private_key"] = other
            let changed = String(decoding: try JSONEncoder().encode(members), as: UTF8.self)
            let finding = try await place.finding("service account", ["CLARION_FCM_KEY": changed], asksFCM: true)
            #expect(finding.verdict == .bad && finding.found.contains("invalid_grant"), "\(finding)")
            #expect(finding.remedy?.contains("fcm-key-path") == true, "\(finding)")
        }
    }

    @Test("a project that does not use FCM is bad, and the next step names the API and the right")
    func disabled() async throws {
        try await withPlace { place in
            try place.fcm.changeProject(Self.project) { $0.isAPIEnabled = false }
            let finding = try await place.finding("service account", try place.key, asksFCM: true)
            #expect(finding.verdict == .bad, "\(finding)")
            #expect(finding.remedy?.contains("cloudmessaging.messages.create") == true, "\(finding)")
        }
    }

    @Test("the accounts of all hubs are tried, and the one that is wrong is named with its next step")
    func hubs() async throws {
        try await withPlace { place in
            try await place.createHub("news", keyFile: try place.fcm.makeKey(project: Self.project, account: "news"))
            try await place.createHub("shop", keyFile: try place.fcm.makeKey(project: Self.project, account: "shop"))
            let untried = try await place.finding("service accounts of hubs")
            #expect(untried.verdict == .notice, "\(untried)")
            #expect(untried.found == "those of 2 hubs: Google was not asked")
            let good = try await place.finding("service accounts of hubs", asksFCM: true)
            #expect(good == DoctorCheck.Finding.good("FCM takes messages of those of 2 hubs"), "\(good)")
            #expect(try await place.finding("way to FCM").verdict == .good)
            #expect(try await place.finding("way to FCM", ["CLARION_FCM_HOST": "fcm.invalid"]).verdict == .bad)
            let silent = try place.fcm.makeKey(project: Self.project, account: "silent", maySend: false)
            try await place.createHub("mute", keyFile: silent)
            let bad = try await place.finding("service accounts of hubs", asksFCM: true)
            #expect(bad.verdict == .bad && bad.found.hasPrefix("hub mute: "), "\(bad)")
            #expect(!bad.found.contains("hub news"), "\(bad)")
        }
    }

    @Test("an account of a hub that cannot be read is bad without asking Google, and what is wrong is named")
    func unreadable() async throws {
        try await withPlace { place in
            let file = #"{"project_id":"shop","client_email":"a@shop.example","private_key":"secret text"}"#
            try await place.createHub("shop", keyFile: file)
            let finding = try await place.finding("service accounts of hubs")
            #expect(finding.verdict == .bad && finding.found.hasPrefix("hub shop: PrivateKey"), "\(finding)")
            #expect(finding.remedy == "clarion hub set-fcm shop --key-path FILE")
            #expect(!finding.found.contains("secret text"))
            #expect(place.fcm.recorder.exchanges.isEmpty)
        }
    }

    @Test(
        "what was found of an account has a verdict",
        arguments: [
            (.cannotSign, .bad), (.noEndpoint("x"), .bad), (.noAnswer("x"), .bad),
            (.noToken(FCMTokenRefusal(reason: "x", isForGood: true)), .bad),
            (.noToken(FCMTokenRefusal(reason: "x", isForGood: false)), .notice), (.answered(.accepted, reason: "x"), .good),
            (.answered(.badTarget, reason: "x"), .good), (.answered(.unregistered, reason: "x"), .good),
            (.answered(.unauthorized, reason: "x"), .bad), (.answered(.permissionDenied, reason: "x"), .bad),
            (.answered(.wrongProject, reason: "x"), .bad), (.answered(.later, reason: "x"), .notice),
        ] as [(FCMAccountTrial.Finding, DoctorCheck.Verdict)])
    func verdicts(finding: FCMAccountTrial.Finding, verdict: DoctorCheck.Verdict) throws {
        let pem = try _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation
        let account = try FCMServiceAccount(projectID: "shop", privateKey: pem, clientEmail: "a@shop.example")
        let found = DoctorAccount(account, of: HubName("demo"), remedy: "y").finding(about: finding)
        #expect(found.verdict == verdict)
        #expect(found.found.contains("hub demo: service account a@shop.example of the project shop"))
        #expect((found.remedy == nil) == (verdict == .good))
    }
}
