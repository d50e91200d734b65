import APNsEmulation
import APNsProtocol
import Crypto
import Foundation
import Logging
import NIOPosix
import PushHub
import RichPushModel
import Testing

@testable import ServerOperations
@testable import ServerSettings

@Suite("The doctor")
struct DoctorTests {
    private func findings(_ fixture: SettingsFixture, names: Set<String>) async -> [String: DoctorCheck.Finding] {
        var findings: [String: DoctorCheck.Finding] = [:]
        for check in Doctor.checks(for: fixture.read()) where names.contains(check.name) {
            findings[check.name] = await check.look()
        }
        return findings
    }

    @Test("bad settings are the only finding, because nothing else can be checked")
    func badSettings() async {
        let checks = Doctor.checks(for: SettingsFixture(file: "listen-port: abc").read())
        #expect(checks.map(\.name) == ["settings"])
        let finding = await checks.first?.look()
        #expect(finding?.verdict == .bad)
        #expect(finding?.found.contains("clarion.yaml line 1") == true)
    }

    @Test("a data directory that can be made is good, a file in its place is bad")
    func dataDirectory() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let names: Set = ["data directory", "disk"]
        let good = await findings(SettingsFixture(arguments: ["--data-directory", folder.path() + "/new"]), names: names)
        #expect(good["data directory"]?.verdict == .good)
        #expect(good["disk"]?.found.hasSuffix("MB free") == true)
        let file = folder.appending(path: "file")
        try Data().write(to: file)
        let bad = await findings(SettingsFixture(arguments: ["--data-directory", file.path()]), names: names)
        #expect(bad["data directory"]?.verdict == .bad)
    }

    @Test("without a signing key it says whom the node pushes to")
    func credential() async {
        let finding = await findings(SettingsFixture(), names: ["signing key"])["signing key"]
        #expect(finding?.verdict == .notice)
        for setting in ["apns-key-path", "fcm-key-path", "web-push-keys-path", "web-push-subject"] {
            #expect(finding?.remedy?.contains(setting) == true, "\(setting)")
        }
        #expect(finding?.found == "there is none, so the node pushes to no device")
        let keys = ["CLARION_WEB_PUSH_SUBJECT": "mailto:a@example.com", "CLARION_WEB_PUSH_KEYS": Settings.WebPush.newKey()]
        let browsers = await findings(SettingsFixture(environment: keys), names: ["signing key"])["signing key"]
        #expect(browsers?.found == "there is none, so the node pushes to browsers alone")
        #expect(browsers?.remedy?.contains("fcm-key-path") == false)
    }

    private static let credential = [
        "CLARION_APNS_TOPIC": "org.example.app", "CLARION_APNS_TEAM_ID": "TEAM567890", "CLARION_APNS_KEY_ID": "KEY4567890",
        "CLARION_APNS_KEY": P256.Signing.PrivateKey().pemRepresentation, "CLARION_APNS_ENVIRONMENT": "sandbox",
    ]

    @Test("a signing key that APNs was not asked about is not called good")
    func untriedKey() async {
        let finding = await findings(SettingsFixture(environment: Self.credential), names: ["signing key"])["signing key"]
        #expect(
            finding?.verdict == .notice && finding?.remedy?.contains("clarion doctor --apns") == true,
            "\(String(describing: finding))")
    }

    @Test("an APNs host whose name does not resolve is a fault of the name, a port on which nothing listens one of the port")
    func stepsOfTheWay() async throws {
        var settings = Self.credential
        settings["CLARION_APNS_HOST"] = "push.invalid"
        let name = await findings(SettingsFixture(environment: settings), names: ["way to APNs"])["way to APNs"]
        #expect(name?.verdict == .bad && name?.found.hasPrefix("name: push.invalid") == true, "\(String(describing: name))")
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup).bind(host: "127.0.0.1", port: 0)
            .get()
        let port = try #require(channel.localAddress?.port)
        try await channel.close()
        settings["CLARION_APNS_HOST"] = "127.0.0.1"
        settings["CLARION_APNS_PORT"] = String(port)
        let closed = await findings(SettingsFixture(environment: settings), names: ["way to APNs"])["way to APNs"]
        #expect(closed?.verdict == .bad && closed?.found.hasPrefix("port: ") == true, "\(String(describing: closed))")
    }

    @Test("with a host for the sandbox the connection to each environment is checked, and the faulty one is named")
    func waysByEnvironment() async throws {
        var settings = Self.credential
        settings["CLARION_APNS_HOST"] = "production.push.invalid"
        settings["CLARION_ALLOW_LOCAL_APNS"] = "true"
        settings["CLARION_APNS_SANDBOX_HOST"] = "sandbox.push.invalid"
        let names: Set = ["way to APNs", "way to APNs for production", "way to APNs for sandbox"]
        let found = await findings(SettingsFixture(environment: settings), names: names)
        #expect(found.count == 2)
        #expect(found["way to APNs for production"]?.found.hasPrefix("name: production.push.invalid") == true)
        #expect(found["way to APNs for sandbox"]?.found.hasPrefix("name: sandbox.push.invalid") == true)
    }

    @Test("the connection to a local APNs on this machine is checked without the proxy")
    func localWay() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let apns = try LocalAPNs(
            configuration: LocalAPNsConfiguration(), clock: .system, group: .singletonMultiThreadedEventLoopGroup,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let port = try await apns.start().port
        let roots = folder + "/roots.pem"
        try apns.certificateAuthorityPEM.write(toFile: roots, atomically: true, encoding: .utf8)
        var environment = Self.credential
        environment["CLARION_APNS_HOST"] = "127.0.0.1"
        environment["CLARION_APNS_PORT"] = String(port)
        environment["CLARION_APNS_TRUST_ROOTS_PATH"] = roots
        environment["CLARION_APNS_PROXY"] = "http://proxy.invalid:3128"
        let result = SettingsLoader(arguments: [], environment: environment, path: nil, system: .server).read()
        let finding = await Doctor.checks(for: result).first { $0.name == "way to APNs" }?.look()
        #expect(finding?.verdict == .good, "\(String(describing: finding))")
        await apns.shutdown()
    }

    @Test("asked to, it has APNs say whether the key, the topic and the environment are right")
    func triedKey() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let key = P256.Signing.PrivateKey()
        let apns = try LocalAPNs(
            configuration: LocalAPNsConfiguration(), clock: .system, group: .singletonMultiThreadedEventLoopGroup,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try apns.registerKey(teamID: "TEAM567890", keyID: "KEY4567890", publicKeyPEM: key.publicKey.pemRepresentation)
        try apns.registerApp(bundleID: "org.example.app", teamID: "TEAM567890")
        let port = try await apns.start().port
        let roots = folder + "/roots.pem"
        try apns.certificateAuthorityPEM.write(toFile: roots, atomically: true, encoding: .utf8)
        func trial(_ change: [String: String]) async -> DoctorCheck.Finding? {
            var environment = Self.credential
            environment["CLARION_APNS_KEY"] = key.pemRepresentation
            environment["CLARION_APNS_HOST"] = "127.0.0.1"
            environment["CLARION_APNS_PORT"] = String(port)
            environment["CLARION_APNS_TRUST_ROOTS_PATH"] = roots
            environment.merge(change) { $1 }
            let result = SettingsLoader(arguments: [], environment: environment, path: nil, system: .server).read()
            let check = Doctor.checks(for: result, asksAPNs: true).first { $0.name == "signing key" }
            return await check?.look()
        }
        let right = await trial([:])
        #expect(right?.verdict == .good, "\(String(describing: right))")
        let other = await trial(["CLARION_APNS_KEY": P256.Signing.PrivateKey().pemRepresentation])
        #expect(other?.verdict == .bad && other?.found.contains("InvalidProviderToken") == true, "\(String(describing: other))")
        let topic = await trial(["CLARION_APNS_TOPIC": "org.example.other"])
        #expect(topic?.verdict == .bad && topic?.found.contains("refuses the topic") == true, "\(String(describing: topic))")
        await apns.shutdown()
    }

    @Test("a data directory where nothing can be made is bad, whatever its permission bits say")
    func hopelessDirectory() async {
        let finding = await findings(SettingsFixture(arguments: ["--data-directory", "/proc/x"]), names: ["data directory"])
        #expect(finding["data directory"]?.verdict == .bad)
        #expect(finding["data directory"]?.found.hasPrefix("/proc/x is missing, and nothing can be made in /proc: ") == true)
    }

    @Test("looking leaves nothing behind")
    func noTraces() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for path in [folder.path(), folder.path() + "/a/b"] {
            let finding = await findings(SettingsFixture(arguments: ["--data-directory", path]), names: ["data directory"])
            #expect(finding["data directory"]?.verdict == .good)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path()).isEmpty)
    }

    @Test("an unreachable database is named with its own error, and not with the text that a caller of the server gets")
    func database() async {
        let url = "postgres://u:hidden-word@/x?host=/nonexistent-folder"
        let finding = await findings(SettingsFixture(environment: ["CLARION_DATABASE_URL": url]), names: ["database"])
        let found = finding["database"]?.found ?? ""
        #expect(finding["database"]?.verdict == .bad && found.contains("/nonexistent-folder/.s.PGSQL.5432"), "\(found)")
        #expect(!found.contains("hidden-word"))
    }

    @Test("defaults that are written out do not differ from the defaults")
    func writtenDefaults() async {
        let reference = await findings(SettingsFixture(file: SettingsReference.exampleFile), names: ["settings"])
        #expect(reference["settings"]?.found.hasPrefix("0 differ") == true)
        let changed = SettingsFixture(arguments: ["--listen-port", "8080"], file: "log-level: debug\ncontent-limit: 25MB")
        #expect(await findings(changed, names: ["settings"])["settings"]?.found.hasPrefix("1 differ") == true)
    }

    @Test("each reason why a client of a push service got no answer has words of its own")
    func words() {
        let words = APNsFailure.allCases.map { OutcomeReason.words(of: $0.rawValue) }
        for (failure, words) in zip(APNsFailure.allCases, words) { #expect(words != failure.rawValue) }
        #expect(Set(words).count == words.count)
        #expect(OutcomeReason.words(of: "InvalidProviderToken") == "InvalidProviderToken")
    }
}
