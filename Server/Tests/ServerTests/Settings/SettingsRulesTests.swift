import AppBackend
import Foundation
import Crypto
import CryptoExtras
import HubProtocol
import PushHub
import Testing
import WebPushProtocol

@testable import ServerComposition
@testable import ServerDelivery
@testable import ServerSettings
@testable import ServerStorage

@Suite("Settings that must fit each other")
struct SettingsRulesTests {
    @Test("listening beyond this machine needs TLS in front, or a setting that allows it")
    func listening() {
        #expect(SettingsFixture(file: "listen-host: 0.0.0.0").problems.count == 1)
        #expect(SettingsFixture(file: "listen-host: 0.0.0.0\nbehind-tls-proxy: true").problems.isEmpty)
        #expect(SettingsFixture(file: "listen-host: 0.0.0.0\ninsecure: true").problems.isEmpty)
        for host in ["127.0.0.1", "127.8.9.1", "::1", "localhost"] {
            #expect(SettingsFixture(file: "listen-host: \"\(host)\"").problems.isEmpty, "\(host)")
        }
    }

    @Test("listeners that share an address need a port each, and the setting that has another's is named")
    func ports() {
        #expect(
            SettingsFixture(file: "metrics-port: 8080\ntls-listen-port: 8080\nprior-knowledge-port: 9000").problems == [
                "clarion.yaml line 2: tls-listen-port: is the port of listen-port too, at the same address; each listener needs one of its own",
                "clarion.yaml line 1: metrics-port: is the port of listen-port too, at the same address; each listener needs one of its own",
            ])
        #expect(SettingsFixture(file: "prior-knowledge-port: 8443\ntls-listen-port: 8443").problems.count == 1)
        for hosts in ["tls-listen-host: 0.0.0.0", "tls-listen-host: \"::\"", "tls-listen-host: localhost"] {
            #expect(SettingsFixture(file: "tls-listen-port: 8080\n\(hosts)").problems.count == 1, "\(hosts)")
        }
        for file in [
            "tls-listen-port: 8080\ntls-listen-host: 127.0.0.2", "tls-listen-port: 8080\ntls-listen-host: \"::1\"",
            "listen-port: 0\ntls-listen-port: 0\nmetrics-port: 0", "metrics-port: 9464\ntls-listen-port: 8443",
        ] {
            #expect(SettingsFixture(file: file).problems.isEmpty, "\(file)")
        }
    }

    @Test("a retention has its unit and its limits")
    func retention() throws {
        let settings = try #require(
            SettingsFixture(file: "retention-content: 7d\nretention-grace: 0s\nretention-audit: 365d").read().settings)
        #expect(settings.retention.content == .seconds(7 * 86_400))
        #expect(settings.retention.grace == .zero)
        #expect(settings.retention.audit == .seconds(365 * 86_400))
        for line in ["retention-content: 30", "retention-content: 1h", "retention-grace: 31d", "retention-audit: 0s"] {
            #expect(SettingsFixture(file: line).problems.count == 1, "\(line)")
        }
    }

    @Test("a quota must have room for the largest content")
    func quota() {
        #expect(SettingsFixture(file: "content-quota: 1MB").problems.count == 1)
        #expect(SettingsFixture(file: "content-quota: 1MB\ncontent-limit: 1MB").problems.isEmpty)
        #expect(SettingsFixture(file: "content-limit: 2GB").problems.count == 1)
    }

    @Test("hubs and the app backend have one rule for browsers, that of the settings")
    func browsers() throws {
        let file = "web-push-hosts: [Push.Example.net]\nweb-push-networks: [10.0.0.0/8]"
        let settings = try #require(SettingsFixture(file: file).read().settings)
        let rule = WebPushRule(hosts: ["push.example.net"], networks: ["10.0.0.0/8"].compactMap { .init($0) })
        #expect(ServerNode.hubSettings(settings).limits.browsers == rule)
        #expect(settings.backend.webPush == WebPushTerms(publicKey: nil, rule: rule))
    }

    @Test("limits of the hub protocol reach the code that enforces them, and default to those of Azure's service")
    func hubLimits() throws {
        let plain = try #require(SettingsFixture(file: "").read().settings)
        #expect(plain.hubBounds.unknownTries == RetryTable().unknownTries)
        #expect(plain.hubBounds.jobFileBytes == 100 << 20)
        #expect(plain.hubBounds.fileSpace == 8 << 30)
        #expect(plain.hubBounds.ofRequests == HubLimits())
        #expect(plain.hubBounds.ofHub == NotificationHub.Limits())
        #expect(ServerNode.hubSettings(plain).scheduleHorizon == .seconds(7 * 86_400))
        #expect(ServerNode.dispatchSettings(plain, NodeOptions(), nil).retryHorizon == DispatchSettings().retryHorizon)
        let file = """
            hub-notification-limit: 128KiB
            hub-batch-handles: 200
            hub-tag-limit: 70
            hub-schedule-horizon: 30d
            hub-retry-horizon: 2h
            hub-page-size: 500
            hub-test-devices: 3
            hub-installation-limit: 1MB
            hub-job-file-limit: 200MB
            hub-file-space: 1GB
            """
        let settings = try #require(SettingsFixture(file: file).read().settings)
        let requests = settings.hubBounds.ofRequests
        #expect(requests.notificationBytes == 131_072)
        #expect(requests.batchHandles == 200)
        #expect(requests.tags == 70)
        #expect(requests.pageSize == 500)
        #expect(requests.installationBytes == 1_000_000)
        let hub = ServerNode.hubSettings(settings)
        #expect(hub.limits.bodyBytes == 131_072)
        #expect(hub.limits.handles == 200)
        #expect(hub.limits.tags == 70)
        #expect(hub.limits.testTargets == 3)
        #expect(hub.scheduleHorizon == .seconds(30 * 86_400))
        #expect(ServerNode.dispatchSettings(settings, NodeOptions(), nil).retryHorizon == .seconds(7_200))
        #expect(settings.hubBounds.jobFileBytes == 200_000_000)
        #expect(settings.hubBounds.fileSpace == 1_000_000_000)
        for line in [
            "hub-notification-limit: 1KB", "hub-batch-handles: 0", "hub-tag-limit: 1001", "hub-schedule-horizon: 7",
            "hub-page-size: 5000", "hub-job-file-limit: 10GB",
        ] {
            #expect(SettingsFixture(file: line).problems.count == 1, "\(line)")
        }
    }

    @Test("metrics beyond this machine need a setting that allows it")
    func metrics() {
        #expect(SettingsFixture(file: "metrics-host: 0.0.0.0\nmetrics-port: 9464").problems.count == 1)
        #expect(SettingsFixture(file: "metrics-host: 0.0.0.0\nmetrics-port: 9464\nmetrics-open: true").problems.isEmpty)
    }

    @Test("a production environment is not pointed at a local APNs without a word that says so")
    func localAPNs() {
        let local = "apns-host: localhost\napns-port: 2197\n"
        #expect(SettingsFixture(file: local).problems.count == 1)
        #expect(SettingsFixture(file: local + "allow-local-apns: true").problems.isEmpty)
        #expect(SettingsFixture(file: local + "apns-environment: sandbox").problems.isEmpty)
        #expect(SettingsFixture(file: "apns-host: api.push.apple.com").problems.isEmpty)
        #expect(SettingsFixture(file: "apns-host: api.push.apple.com.example.org").problems.count == 1)
    }

    @Test("a lease outlasts two pushes, whatever their deadline", arguments: ["1s", "20s", "59s", "60s", "300s"])
    func leases(deadline: String) throws {
        let settings = try #require(SettingsFixture(file: "push-deadline: \(deadline)").read().settings)
        let dispatch = ServerNode.dispatchSettings(settings, NodeOptions(), nil)
        #expect(dispatch.leaseDuration > dispatch.pushDeadline * 2)
        // After the dispatcher the clients of the hubs end, then the node's client of APNs, and then the node leaves the database.
        #expect(dispatch.drainDeadline + NodeDelivery.closeTime(settings) * 2 <= settings.shutdownDeadline * 9 / 10)
        #expect(NodeDelivery.closeTime(settings) > .zero)
    }

    @Test("a role is for nodes that share a database, and one node does everything")
    func role() throws {
        #expect(SettingsFixture().read().settings?.role == .all)
        for role in ["api", "worker"] {
            let alone = SettingsFixture(arguments: ["--role", role]).problems
            #expect(alone.count == 1)
            #expect(alone.allSatisfy { $0.contains("database-url") })
        }
        var shared = SettingsFixture(arguments: ["--role", "worker"])
        shared.environment = ["CLARION_DATABASE_URL": "postgres://clarion@db.example/clarion"]
        #expect(shared.read().settings?.role == .worker)
        #expect(SettingsFixture(arguments: ["--role", "workers"]).problems.count == 1)
    }

    @Test(
        "only a node that is alone takes all leases at its start; one of several takes those of its own name, if that is its alone"
    )
    func takeover() throws {
        let settings = try #require(SettingsFixture().read().settings)
        #expect(ServerNode.dispatchSettings(settings, NodeOptions(), nil).takeover == .all)
        let folder = NSTemporaryDirectory() + "clarion-rules-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try NodeIdentity(dataDirectory: folder)
        let second = try NodeIdentity(dataDirectory: folder)
        let dispatch = ServerNode.dispatchSettings(settings, NodeOptions(), first)
        #expect(dispatch.takeover == .own)
        #expect(dispatch.owner == first.name)
        #expect(ServerNode.dispatchSettings(settings, NodeOptions(), second).takeover == .none)
    }

    @Test("a proxy is an address, perhaps with a name and a password")
    func proxy() {
        for good in ["http://proxy.example:3128", "http://10.0.0.1:80/", "http://clarion:open%3Asesame@proxy.example:3128"] {
            #expect(SettingsFixture(file: "apns-proxy: \(good)").problems.isEmpty, "\(good)")
        }
        for bad in ["proxy.example:3128", "https://proxy.example:3128", "http://proxy.example", "http://proxy.example:3128/x"] {
            #expect(SettingsFixture(file: "apns-proxy: \(bad)").problems.count == 1, "\(bad)")
        }
    }

    @Test("the parts of a credential belong together")
    func credential() {
        let problems = SettingsFixture(file: "apns-topic: com.example.app\n").problems
        #expect(problems.map { $0.prefix { $0 != ":" } } == ["apns-team-id", "apns-key-id", "apns-key-path"])
    }

    @Test("a file that is no signing key is a problem with a sentence, and nothing of it is shown")
    func badKey() {
        var fixture = SettingsFixture(files: ["key.p8": "hunter2"], keyProblem: "is not a signing key")
        fixture.file = """
            apns-topic: com.example.app
            apns-team-id: ABCDE12345
            apns-key-id: FGHIJ67890
            apns-key-path: key.p8
            """
        #expect(fixture.problems == ["clarion.yaml line 4: apns-key-path: is not a signing key"])
    }

    @Test("the server's own check takes a .p8 and nothing else")
    func keyCheck() {
        let check = SettingsEnvironment.server.checkAPNsKey
        let key = P256.Signing.PrivateKey().pemRepresentation
        #expect(check(SecretText(key)) == nil)
        for text in ["hello", "", String(key.dropLast(60)), P256.Signing.PrivateKey().publicKey.pemRepresentation] {
            #expect(check(SecretText(text)) != nil)
        }
    }

    @Test("what one user may do reaches the app backend")
    func users() throws {
        let file = """
            minimum-password-length: 15
            user-sends-per-minute: 7
            sender-sends-per-minute: 70
            user-devices: 9
            user-waiting-contents: 11
            """
        let backend = try #require(SettingsFixture(file: file).read().settings).backend
        #expect(backend.minimumPasswordLength == 15)
        #expect(backend.userDevices == 9)
        #expect(backend.waitingContents == 11)
        #expect(backend.userSendsPerMinute == 7)
        #expect(backend.senderSendsPerMinute == 70)
        #expect(SettingsFixture(file: "minimum-password-length: 7").problems.count == 1)
    }

    @Test("username: cannot be taken from the protected tags")
    func protectedTags() {
        #expect(SettingsFixture(file: "protected-tag-prefixes: [\"team:\"]").problems.count == 1)
        #expect(SettingsFixture(file: "protected-tag-prefixes: [\"team:\", \"username:\"]").problems.isEmpty)
    }

    @Test("a hub cannot have the name of a path of the server", arguments: HubName.reserved)
    func hubName(name: String) { #expect(SettingsFixture(file: "hub-name: \(name)").problems.count == 1) }

    @Test("a public address has a scheme and a host and nothing after them")
    func publicURL() {
        for text in ["https://push.example.com", "https://push.example.com:8443/", "http://127.0.0.1:8080", "http://localhost"] {
            #expect(SettingsFixture(arguments: ["--public-url", text]).problems.isEmpty, "\(text)")
        }
        for text in [
            "push.example.com", "http://push.example.com", "https://a:b@c.d", "https://a.b/c", "https://a.b?c", "ftp://a.b", "",
        ] {
            #expect(SettingsFixture(arguments: ["--public-url", text]).problems.count == 1, "\(text)")
        }
    }

    @Test(
        "the origin of a page is kept as browsers write it",
        arguments: [
            ("https://shop.example", "https://shop.example"), ("https://Shop.Example:443", "https://shop.example"),
            ("https://shop.example/", "https://shop.example"), ("https://shop.example:8443", "https://shop.example:8443"),
            ("http://localhost:3000", "http://localhost:3000"), ("http://127.0.0.1:80", "http://127.0.0.1"),
        ])
    func webOrigin(text: String, origin: String) {
        let result = SettingsFixture(arguments: ["--web-origins", text]).read()
        #expect(result.problems.isEmpty)
        #expect(result.settings?.webPush.origins == [origin])
    }

    @Test(
        "a wildcard, a path, another scheme and plain http beyond this machine are no origins of pages",
        arguments: [
            "*", "https://*.example", "https://shop.example/cart", "http://shop.example", "null", "shop.example", "file:///a", "",
            "https://a:b@shop.example", "https://shop.example?a", "https://shop.example#a", "https://shop.example:",
            "https://shop.example:0", "https://shop.example:0443", "https://shop.example:65536", "https://b\u{fc}cher.example",
        ])
    func noWebOrigin(text: String) {
        #expect(SettingsFixture(file: "web-origins: [\"\(text)\"]").problems.count == 1)
    }

    @Test("no page of another site is named by default")
    func noWebOrigins() throws {
        #expect(try #require(SettingsFixture().read().settings).webPush.origins.isEmpty)
    }

    @Test("a key of a service account is read from its file, and one that is none is a problem that says why")
    func fcmKey() throws {
        let pem = try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation.replacing("\n", with: "\\n")
        let key = #"{"type":"service_account","project_id":"shop","client_email":"a@shop.example","private_key":"\#(pem)"}"#
        let read = SettingsFixture(file: "fcm-key-path: /key", files: ["/key": key]).read()
        #expect(read.problems.isEmpty && read.settings?.fcm.account?.projectID == "shop")
        #expect(SettingsFixture(file: "fcm-key-path: /none").problems.count == 1)
        let wrong = SettingsFixture(file: "fcm-key-path: /key", files: ["/key": #"{"type":"authorized_user"}"#]).problems
        #expect(wrong.count == 1 && wrong[0].contains("fcm-key-path: type is not service_account"))
    }

    @Test("FCM is Google's, or at another host that a setting names")
    func fcmHost() throws {
        #expect(try #require(SettingsFixture().read().settings).fcm.endpoint == "https://fcm.googleapis.com:443")
        let other = SettingsFixture(file: "fcm-host: localhost\nfcm-port: 8444").read()
        #expect(other.settings?.fcm.endpoint == "https://localhost:8444")
    }

    @Test(
        "the account of a hub gets access tokens from Google or the named host, whatever its key file names",
        arguments: [
            ("https://oauth2.googleapis.com/token", "", true), ("https://accounts.google.com/o/oauth2/token", "", true),
            ("https://oauth2.googleapis.com/token", "fcm-host: localhost\nfcm-port: 8444", true),
            ("https://localhost:8444/token", "fcm-host: localhost\nfcm-port: 8444", true),
            ("https://fcm.example/token", "fcm-host: fcm.example.", true), ("https://localhost:8444/token", "", false),
            ("https://localhost/token", "fcm-host: localhost\nfcm-port: 8444", false),
            ("https://evilgoogleapis.com/token", "", false), ("http://oauth2.googleapis.com:443/token", "", false),
            ("https://oauth2.googleapis.com.example.org/token", "", false),
            ("https://oauth2.googleapis.com:444/token", "", false),
            ("token", "", false),
        ])
    func tokenURL(url: String, file: String, isTaken: Bool) throws {
        let settings = try #require(SettingsFixture(file: file).read().settings)
        #expect((settings.fcm.refusal(ofTokenURL: url) == nil) == isTaken)
    }

    @Test("the account of the node keeps to the same places for access tokens, and another one is a problem that names it")
    func tokenURLOfTheNode() throws {
        let pem = try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation.replacing("\n", with: "\\n")
        func problems(_ url: String, _ file: String = "") -> [String] {
            let key =
                #"{"type":"service_account","project_id":"shop","client_email":"a@shop.example","private_key":"\#(pem)","token_uri":"\#(url)"}"#
            return SettingsFixture(file: "fcm-key-path: /key\n" + file, files: ["/key": key]).problems
        }
        #expect(problems("https://oauth2.googleapis.com/token").isEmpty)
        #expect(problems("https://localhost:8444/token", "fcm-host: localhost\nfcm-port: 8444").isEmpty)
        let foreign = problems("https://example.org/token")
        #expect(foreign.count == 1 && foreign[0].contains("fcm-key-path: token_uri names example.org:443"), "\(foreign)")
    }

    @Test("a path that begins with ~ is refused, because no shell would expand it")
    func home() { #expect(SettingsFixture(file: "data-directory: ~/clarion").problems.count == 1) }

    @Test("the default picture must be there")
    func defaultPicture() {
        #expect(SettingsFixture(file: "default-picture-path: p.png").problems.count == 1)
        #expect(SettingsFixture(file: "default-picture-path: p.png", files: ["p.png": ""]).problems.isEmpty)
    }
}
