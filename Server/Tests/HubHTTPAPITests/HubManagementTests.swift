import Foundation
import HubHTTPAPI
import PushHub
import RichPushModel
import SharedAccess
import Synchronization
import Testing

@testable import HubProtocol

@Suite("Hubs as such, as namespace managers use them")
struct HubManagementTests {
    private static let body = """
        <?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">\
        <NotificationHubDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\
        %@</NotificationHubDescription></content></entry>
        """

    private static func entry(_ inner: String = "") -> String { body.replacingOccurrences(of: "%@", with: inner) }

    private static let token = token(for: "https://api.development.push.apple.com:443/3/device")

    private static func token(for endpoint: String) -> String {
        """
        <ApnsCredential><Properties>\
        <Property><Name>Endpoint</Name><Value>\(endpoint)</Value></Property>\
        <Property><Name>Token</Name><Value>bm90LWEtcmVhbC1rZXk=</Value></Property>\
        <Property><Name>KeyId</Name><Value>ABC123DEFG</Value></Property>\
        <Property><Name>AppName</Name><Value>com.example.app</Value></Property>\
        <Property><Name>AppId</Name><Value>TEAM123456</Value></Property>\
        <Property><Name>Thumbprint</Name><Value>null</Value></Property></Properties></ApnsCredential>
        """
    }

    /// A request of who holds a key of all hubs, unless another key is named.
    private func call(
        _ hub: HubUnderTest, _ method: String, _ target: String, _ body: String = "", ifMatch: String? = nil,
        rule: String = HubUnderTest.rootRule, key: String = HubUnderTest.rootKey
    ) async throws -> ClientAnswer {
        let signer = SharedAccessSigner(ruleName: rule, key: try #require(SharedAccessKey(key)))
        let token = signer.token(audience: "https://\(HubUnderTest.authority)/", expiresAt: hub.clock.now + .seconds(600))
        var headers: [(name: String, value: String)] = [("Host", HubUnderTest.authority), ("Authorization", token)]
        if let ifMatch { headers.append(("If-Match", ifMatch)) }
        return try await hub.call(ClientRequest(method, target, headers, body: body))
    }

    @Test("a hub is created with 201, a second time it is 409 with the words that .NET looks for")
    func create() async throws {
        let hub = try await HubUnderTest()
        let created = try await call(hub, "PUT", "/fresh?api-version=2020-06", Self.entry())
        #expect(created.status == 201)
        let entry = try #require(try HubDescription.read(answer: Array(created.body.utf8)))
        #expect(entry.name == "fresh")
        #expect(entry.rules.map(\.name).sorted() == [AccessRule.fullName, AccessRule.listenName].sorted())
        #expect(entry.rules.allSatisfy { $0.primaryKey?.count == 44 && $0.secondaryKey?.count == 44 })
        let again = try await call(hub, "PUT", "/FRESH?api-version=2020-06", Self.entry())
        #expect(again.status == 409)
        #expect(again.body.contains("SubCode=40900."))
    }

    @Test("the audit has who created, changed and removed a hub from where, and neither a key nor a credential")
    func audited() async throws {
        let hub = try await HubUnderTest(options: { $0.network = { _, _ in "192.0.2.0/24" } })
        _ = try await call(hub, "PUT", "/fresh?api-version=2020-06", Self.entry())
        _ = try await call(hub, "PUT", "/fresh?api-version=2020-06", Self.entry())
        _ = try await call(hub, "PUT", "/fresh?api-version=2020-06", Self.entry(Self.token), ifMatch: "*")
        _ = try await call(hub, "DELETE", "/fresh?api-version=2020-06")
        let key = "hub-key \(HubUnderTest.rootRule) 192.0.2.0/24"
        #expect(
            try await hub.audit().sorted() == [
                "hub.changed fresh by \(key): apns=set", "hub.created fresh by \(key): ", "hub.removed fresh by \(key): ",
            ])
    }

    @Test(
        "the audit has which details of a hub changed, and none of their text",
        arguments: [
            ("<UserMetadata>private</UserMetadata>", "metadata=changed"),
            ("<RegistrationTtl>P1D</RegistrationTtl>", "registration-seconds=86400"),
            (
                "<RegistrationTtl>P1D</RegistrationTtl><UserMetadata>private</UserMetadata>",
                "metadata=changed registration-seconds=86400"
            ),
            ("", ""),
        ])
    func auditedDetails(body: String, words: String) async throws {
        let hub = try await HubUnderTest()
        _ = try await call(hub, "PUT", "/demo?api-version=2020-06", Self.entry(body), ifMatch: "*")
        #expect(try await hub.audit() == ["hub.changed demo by hub-key \(HubUnderTest.rootRule): \(words)"])
    }

    @Test(
        "a key that may not manage hubs and asks for it is noted with its rule and hub; other refusals are not",
        arguments: [
            ("DELETE", "/demo", AccessRule.listenName, HubUnderTest.listenKey, "deleteHub demo by demo"),
            ("PUT", "/third", AccessRule.fullName, HubUnderTest.fullKey, "putHub third by demo"),
            ("GET", "/", AccessRule.fullName, HubUnderTest.fullKey, "hubs  by demo"),
            ("GET", "/demo", AccessRule.listenName, HubUnderTest.listenKey, "hub demo by demo"),
            ("GET", "/demo/jobs", AccessRule.listenName, HubUnderTest.listenKey, nil),
            ("GET", "/demo", AccessRule.fullName, HubUnderTest.fullKey, nil),
            ("DELETE", "/demo", AccessRule.listenName, "a-wrong-key", nil),
        ])
    func refusals(method: String, target: String, rule: String, key: String, noted: String?) async throws {
        let notes = RefusalNotes()
        let hub = try await HubUnderTest(options: { $0.onRefusal = { refusal, _, _ in notes.add(refusal) } })
        _ = try await call(hub, method, target, method == "PUT" ? Self.entry() : "", rule: rule, key: key)
        #expect(notes.texts == [noted.map { "\($0)/\(rule)" }].compactMap(\.self))
    }

    @Test("a hub that is changed while a key of it is rolled keeps the new key")
    func changedWhileRolled() async throws {
        let hub = try await HubUnderTest()
        let name = try #require(HubName("demo"))
        let body = Self.entry(
            """
            <AuthorizationRules><AuthorizationRule xmlns:i="http://www.w3.org/2001/XMLSchema-instance" \
            i:type="SharedAccessAuthorizationRule"><ClaimType>SharedAccessKey</ClaimType><ClaimValue>None</ClaimValue>\
            <Rights><AccessRights>Manage</AccessRights><AccessRights>Send</AccessRights>\
            <AccessRights>Listen</AccessRights></Rights>\
            <KeyName>\(AccessRule.fullName)</KeyName></AuthorizationRule></AuthorizationRules>
            """)
        for round in 0..<20 {
            async let changed = call(hub, "PUT", "/demo?api-version=2020-06", body, ifMatch: "*")
            async let rolled = hub.registry.rotate(.primary, ofRule: AccessRule.fullName, of: name)
            let (status, key) = (try await changed.status, try await rolled.primary)
            #expect([200, 409].contains(status))
            #expect(try await hub.registry.rule(named: AccessRule.fullName, of: name).primary == key, "round \(round)")
        }
    }

    @Test("a credential goes in and never comes out, and an update that leaves it out keeps it")
    func credential() async throws {
        let hub = try await HubUnderTest()
        let created = try await call(hub, "PUT", "/fresh", Self.entry(Self.token + "<UserMetadata>first</UserMetadata>"))
        #expect(created.status == 201)
        #expect(!created.body.contains("bm90LWEtcmVhbC1rZXk"))
        #expect(!created.body.contains("ApnsCredential"))
        let name = try #require(HubName("fresh"))
        let stored = try #require(try await hub.registry.hub(named: name))
        let credential = try #require(try hub.registry.credential(of: stored, for: .apns)?.apns)
        #expect(credential.topic == "com.example.app")
        #expect(credential.environment == .sandbox)

        let updated = try await call(hub, "PUT", "/fresh", Self.entry("<UserMetadata>second</UserMetadata>"), ifMatch: "*")
        #expect(updated.status == 200)
        #expect(updated.body.contains("<UserMetadata>second</UserMetadata>"))
        let kept = try #require(try await hub.registry.hub(named: name))
        #expect(try hub.registry.credential(of: kept, for: .apns)?.apns == credential)

        let removed = try await call(
            hub, "PUT", "/fresh", Self.entry("<ApnsCredential><Properties/></ApnsCredential>"), ifMatch: "*")
        #expect(removed.status == 200)
        let without = try #require(try await hub.registry.hub(named: name))
        #expect(try hub.registry.credential(of: without, for: .apns) == nil)
    }

    private static func browserCredential(_ publicKey: String, _ privateKey: String) -> String {
        let values = [("Subject", "mailto:push@example.com"), ("VapidPublicKey", publicKey), ("VapidPrivateKey", privateKey)]
        let properties = values.map { "<Property><Name>\($0)</Name><Value>\($1)</Value></Property>" }.joined()
        return "<BrowserCredential><Properties>\(properties)</Properties></BrowserCredential>"
    }

    @Test("keys for browsers go in beside those for APNs, and an empty element takes them away")
    func browserCredential() async throws {
        let hub = try await HubUnderTest()
        let body = Self.entry(Self.token + Self.browserCredential("public", "private"))
        let created = try await call(hub, "PUT", "/fresh", body)
        #expect(created.status == 201 && !created.body.contains("private"))
        let name = try #require(HubName("fresh"))
        let stored = try #require(try await hub.registry.hub(named: name))
        let expected = HubBrowserCredential(subject: "mailto:push@example.com", publicKey: "public", privateKey: "private")
        #expect(try hub.registry.credential(of: stored, for: .browser) == .browser(expected))
        _ = try await call(hub, "PUT", "/fresh", Self.entry("<BrowserCredential><Properties/></BrowserCredential>"), ifMatch: "*")
        let without = try #require(try await hub.registry.hub(named: name))
        #expect(Set(without.sealedCredentials.keys) == [.apns])
    }

    @Test("a service account of Firebase goes in by Azure's names, and one without a part is 400")
    func fcmCredential() async throws {
        func element(_ values: [(String, String)]) -> String {
            let properties = values.map { "<Property><Name>\($0)</Name><Value>\($1)</Value></Property>" }.joined()
            return "<FcmV1Credential><Properties>\(properties)</Properties></FcmV1Credential>"
        }
        let hub = try await HubUnderTest()
        let values = [("ProjectId", "shop"), ("ClientEmail", "push@shop.example"), ("PrivateKey", "pem")]
        #expect(try await call(hub, "PUT", "/fresh", Self.entry(element(values))).status == 201)
        let name = try #require(HubName("fresh"))
        let stored = try #require(try await hub.registry.hub(named: name))
        let expected = HubFCMCredential(projectID: "shop", clientEmail: "push@shop.example", privateKey: "pem")
        #expect(try hub.registry.credential(of: stored, for: .fcmv1) == .fcm(expected))
        let partial = try await call(hub, "PUT", "/other", Self.entry(element(values.dropLast())))
        #expect(partial.status == 400 && partial.body.contains("PrivateKey"))
    }

    @Test("keys for browsers without one of their parts are 400 and name the parts")
    func partialBrowserCredential() async throws {
        let hub = try await HubUnderTest()
        let body =
            "<BrowserCredential><Properties><Property><Name>Subject</Name><Value>x</Value></Property></Properties></BrowserCredential>"
        let answer = try await call(hub, "PUT", "/fresh", Self.entry(body))
        #expect(answer.status == 400 && answer.body.contains("VapidPrivateKey"))
    }

    @Test(
        "the endpoint of a credential is one of Apple's, in each form that clients know",
        arguments: [
            ("https://api.push.apple.com:443/3/device", HubAPNsCredential.Environment.production),
            ("gateway.push.apple.com", .production), ("", .production), ("null", .production),
            ("https://api.sandbox.push.apple.com:443/3/device", .sandbox), ("gateway.sandbox.push.apple.com", .sandbox),
            ("API.development.push.apple.com", .sandbox),
        ])
    func endpoint(text: String, environment: HubAPNsCredential.Environment) async throws {
        let hub = try await HubUnderTest()
        #expect(try await call(hub, "PUT", "/fresh", Self.entry(Self.token(for: text))).status == 201)
        let name = try #require(HubName("fresh"))
        let stored = try #require(try await hub.registry.hub(named: name))
        #expect(try hub.registry.credential(of: stored, for: .apns)?.apns?.environment == environment)
    }

    @Test(
        "an endpoint that is not Apple's is 400, and makes no hub",
        arguments: [
            "https://push.example.com:443/3/device", "http://127.0.0.1:2197/", "https://api.push.apple.com.example.com/",
            "https://example.com/api.push.apple.com", "https://api.push.apple.com@example.com/", "sandbox",
        ])
    func foreignEndpoint(text: String) async throws {
        let hub = try await HubUnderTest()
        let answer = try await call(hub, "PUT", "/fresh", Self.entry(Self.token(for: text)))
        #expect(answer.status == 400)
        #expect(answer.body.contains("Endpoint"))
        #expect(answer.body.contains("api.push.apple.com"))
        #expect(try await hub.registry.hubs().map(\.name.text) == ["demo"])
    }

    @Test("an unknown hub is an empty feed to who may manage, an update of it 404, a removed one is gone")
    func unknown() async throws {
        let hub = try await HubUnderTest()
        let absent = try await call(hub, "GET", "/nowhere?api-version=2020-06")
        #expect(absent.status == 200)
        #expect(absent.body.contains("Publicly Listed Services"))
        #expect(try HubDescription.read(answer: Array(absent.body.utf8)) == nil)
        #expect(try await call(hub, "PUT", "/nowhere", Self.entry(), ifMatch: "*").status == 404)
        #expect(try await call(hub, "GET", "/demo").status == 200)
        #expect(try await call(hub, "DELETE", "/demo").status == 200)
        #expect(try await call(hub, "DELETE", "/demo").status == 404)
        let gone = try await call(hub, "GET", "/demo/registrations")
        #expect(gone.status == 404)
        #expect(gone.body.contains("No service is hosted at the specified address."))
    }

    @Test(
        "both clients' lists have every hub by its name",
        arguments: ["/", "/$Resources/NotificationHubs/?api-version=2014-09&$skip=0&$top=2147483647"])
    func list(target: String) async throws {
        let hub = try await HubUnderTest(hubs: ["demo", "Other"])
        let answer = try await call(hub, "GET", target)
        #expect(answer.status == 200)
        #expect(try HubDescription.read(feed: Array(answer.body.utf8)).map(\.name).sorted() == ["Other", "demo"])
    }

    @Test(
        "a list begins and ends where it was asked to",
        arguments: [
            ("?$top=2", ["a", "b"]), ("?$skip=3", ["d", "demo"]), ("?$top=1&$skip=2", ["c"]), ("?$skip=5", []),
            ("?%24top=10&%24skip=4", ["demo"]),
        ])
    func pages(query: String, names: [String]) async throws {
        let hub = try await HubUnderTest(hubs: ["demo", "a", "b", "c", "d"])
        for target in ["/\(query)", "/$Resources/NotificationHubs/\(query)"] {
            let answer = try await call(hub, "GET", target)
            #expect(answer.status == 200, "\(target)")
            #expect(try HubDescription.read(feed: Array(answer.body.utf8)).map(\.name) == names, "\(target)")
        }
        #expect(try await call(hub, "GET", "/?$top=x").status == 400)
    }

    @Test("more hubs than are read at once are all listed, and skipped")
    func manyHubs() async throws {
        let count = HubRegistry.maximumPage + 3
        let hub = try await HubUnderTest(hubs: (0..<count).map { "h\(1000 + $0)" })
        let answer = try await call(hub, "GET", "/?$skip=\(count - 2)")
        #expect(try HubDescription.read(feed: Array(answer.body.utf8)).map(\.name) == ["h\(998 + count)", "h\(999 + count)"])
    }

    @Test("the key of one hub sees that hub without keys, and makes, removes and lists none")
    func oneHubsKey() async throws {
        let hub = try await HubUnderTest(hubs: ["demo", "other"])
        func asFull(_ method: String, _ target: String, _ body: String = "") async throws -> ClientAnswer {
            try await call(hub, method, target, body, rule: AccessRule.fullName, key: HubUnderTest.fullKey)
        }
        let seen = try await asFull("GET", "/demo")
        #expect(seen.status == 200)
        let entry = try #require(try HubDescription.read(answer: Array(seen.body.utf8)))
        #expect(
            !entry.rules.isEmpty
                && entry.rules.allSatisfy { $0.primaryKey == nil && $0.secondaryKey == nil })
        // As documented for Azure: the key is good, and its rights end at its hub.
        #expect(try await asFull("PUT", "/third", Self.entry()).status == 403)
        #expect(try await asFull("DELETE", "/demo").status == 403)
        #expect(try await asFull("GET", "/").status == 403)
    }

    @Test(
        "a name that would hide a path of the server is refused, also in another letter case",
        arguments: ["api", "Metrics", "LIVEZ", "openapi.yaml"])
    func reserved(name: String) async throws {
        let hub = try await HubUnderTest()
        let answer = try await call(hub, "PUT", "/\(name)", Self.entry())
        #expect(answer.status == 400)
        #expect(answer.body.hasPrefix("<Error><Code>400</Code>"))
        #expect(answer.body.contains("none of api,"))
        #expect(try await call(hub, "DELETE", "/\(name)").status == 400)
        #expect(try await call(hub, "GET", "/\(name)").status == 404)
        #expect(try await hub.registry.hubs().map(\.name.text) == ["demo"])
    }

    @Test("a body that is no hub is 400 with the place, and makes none")
    func malformed() async throws {
        let hub = try await HubUnderTest()
        for body in ["", "<entry/>", Self.entry("<RegistrationTtl>soon</RegistrationTtl>"), Self.entry("<ApnsCredential>")] {
            #expect(try await call(hub, "PUT", "/fresh", body).status == 400)
        }
        let noKeyID = Self.token.replacingOccurrences(of: "KeyId", with: "Other")
        let answer = try await call(hub, "PUT", "/fresh", Self.entry(noKeyID))
        #expect(answer.status == 400)
        #expect(answer.body.contains("KeyId"))
        #expect(try await hub.registry.hubs().count == 1)
    }
}

/// The refusals that were noted, as texts.
private final class RefusalNotes: Sendable {
    private let noted = Mutex<[String]>([])

    var texts: [String] { noted.withLock { $0 } }

    func add(_ refusal: HubRefusal) {
        noted.withLock { $0.append("\(refusal.operation) \(refusal.hub) by \(refusal.keyHub ?? "all")/\(refusal.rule)") }
    }
}
