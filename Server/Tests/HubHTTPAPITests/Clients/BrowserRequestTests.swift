import ClarionTesting
import NIOConcurrencyHelpers
import RichPushModel
import SharedAccess
import Testing
import WebPushProtocol

@testable import PushHub

@Suite("Browsers at a hub")
struct BrowserRequestTests {
    private static let client = HubClient.javaScript
    private static let google = "https://fcm.googleapis.com/fcm/send/x"
    /// A subscription with one wrong part, and what the answer says of it.
    private static let wrong: [(endpoint: String, key: String, secret: String, words: String)] = [
        (google, "AAAA", SampleSubscription.secret, "the key p256dh is not a point on P-256"),
        (google, offCurve, SampleSubscription.secret, "the key p256dh is not a point on P-256"),
        (google, SampleSubscription.publicKey, "AAAA", "the key auth is not 16 bytes"),
        ("https://push.example.test/x", SampleSubscription.publicKey, SampleSubscription.secret, "web-push-hosts"),
        ("https://10.1/", SampleSubscription.publicKey, SampleSubscription.secret, "web-push-hosts"),
        ("https://fcm.googleapis.com:0/", SampleSubscription.publicKey, SampleSubscription.secret, "the endpoint has a port"),
        ("https://a@fcm.googleapis.com/", SampleSubscription.publicKey, SampleSubscription.secret, "the endpoint has a user"),
    ]
    private static let offCurve: String = SampleSubscription.publicKey.dropLast(4) + "AAAA"

    private static func channel(_ endpoint: String, _ key: String, _ secret: String) -> String {
        #"{"endpoint":"\#(endpoint)","p256dh":"\#(key)","auth":"\#(secret)"}"#
    }

    private static func installation(_ channel: String, _ more: String = "") -> ClientRequest {
        let document = #"{"installationId":"b","platform":"browser","pushChannel":\#(channel)\#(more)}"#
        return ClientRequest("PUT", client.installation("b"), [], body: document)
    }

    private static func patch(_ path: String, _ value: String) -> ClientRequest {
        let text = value.replacing("\"", with: "\\\"")
        return ClientRequest(
            "PATCH", client.installation("b"), client.patchHeaders,
            body: #"[{"op":"replace","path":"\#(path)","value":"\#(text)"}]"#)
    }

    /// A registration that is created, or put under an id.
    private static func registration(_ id: String?, _ endpoint: String, _ key: String, _ secret: String) -> ClientRequest {
        let entry = client.entry(
            "BrowserRegistrationDescription", tags: nil, [("Endpoint", endpoint), ("P256DH", key), ("Auth", secret)])
        let target = id.map { client.registration($0) } ?? client.registrations()
        return ClientRequest(id == nil ? "POST" : "PUT", target, [client.entryType], body: entry)
    }

    private static let good = channel(google, SampleSubscription.publicKey, SampleSubscription.secret)

    @Test("a browser's channel comes as an object or as its text, and goes back so", arguments: [true, false])
    func channels(isObject: Bool) async throws {
        let hub = try await HubUnderTest()
        let text = "\"" + Self.good.replacing("\"", with: "\\\"") + "\""
        let put = try await hub.call(Self.client, Self.installation(isObject ? Self.good : text))
        #expect(put.status == 200, "\(put.body)")
        let answer = try await hub.call(Self.client, ClientRequest("GET", Self.client.installation("b")))
        #expect(answer.body.contains(isObject ? Self.good : text), "\(answer.body)")
    }

    @Test("a subscription to which nothing could be sent is 400 with the part that is wrong, and nothing is stored")
    func wrongParts() async throws {
        for (endpoint, key, secret, words) in Self.wrong {
            let hub = try await HubUnderTest()
            for request in [
                Self.installation(Self.channel(endpoint, key, secret)), Self.registration(nil, endpoint, key, secret),
                Self.registration("1-2-3", endpoint, key, secret),
            ] {
                let answer = try await hub.call(Self.client, request)
                #expect(answer.status == 400 && answer.body.contains(words), "\(request.method) \(answer.body)")
                #expect(!answer.body.contains(endpoint))
            }
            let list = try await hub.call(Self.client, ClientRequest("GET", Self.client.registrations()))
            #expect(list.status == 200 && !list.body.contains("BrowserRegistrationDescription"), "\(list.body)")
        }
    }

    @Test("a patch to such a channel is 400 too, and the former one stays")
    func wrongPatches() async throws {
        let hub = try await HubUnderTest()
        #expect(try await hub.call(Self.client, Self.installation(Self.good)).status == 200)
        for (endpoint, key, secret, words) in Self.wrong {
            let answer = try await hub.call(Self.client, Self.patch("/pushChannel", Self.channel(endpoint, key, secret)))
            #expect(answer.status == 400 && answer.body.contains(words), "\(answer.body)")
        }
        let answer = try await hub.call(Self.client, ClientRequest("GET", Self.client.installation("b")))
        #expect(answer.body.contains(Self.good), "\(answer.body)")
    }

    @Test("what the operator allows is taken")
    func ownService() async throws {
        let network = try #require(AddressRange("127.0.0.0/8"))
        let hub = try await HubUnderTest(settings: {
            $0.limits.browsers = WebPushRule(hosts: ["127.0.0.1"], networks: [network])
        })
        let (key, secret) = (SampleSubscription.publicKey, SampleSubscription.secret)
        let endpoint = "http://127.0.0.1:8080/x"
        let put = try await hub.call(Self.client, Self.installation(Self.channel(endpoint, key, secret)))
        #expect(put.status == 200, "\(put.body)")
        let post = try await hub.call(Self.client, Self.registration(nil, endpoint, key, secret))
        #expect(post.status == 200, "\(post.body)")
    }

    @Test("a browser of an older rule can be changed, put again and removed, but gets no other wrong channel")
    func older() async throws {
        let kept = NIOLockedValueBox<(any DeviceStore)?>(nil)
        let hub = try await HubUnderTest(devices: { store in
            kept.withLockedValue { $0 = store }
            return store
        })
        let store = try #require(kept.withLockedValue { $0 })
        let id = try #require(try await hub.registry.hub(named: try HubRegistry.name("demo"))).id
        let handle = DeviceToken(canonical: "https://push.example.test/old BKey QXV0aA")
        let details = ["P256DH": "BKey", "Auth": "QXV0aA"]
        let phone = InstallationUpsert(id: try #require(RecordID("b")), platform: .browser, handle: handle, details: details)
        _ = try await store.put(phone, in: id, at: hub.clock.now)
        let record = DeviceUpsert(
            id: try #require(RecordID("1-2-3")), kind: .registration, platform: .browser, handle: handle, details: details)
        _ = try await store.upsert(record, in: id, at: hub.clock.now)

        let old = ("https://push.example.test/old", "BKey", "QXV0aA")
        let other = ("https://push.example.test/new", "BKey", "QXV0aA")
        let right: [ClientRequest] = [
            Self.patch("/tags", "red"), Self.patch("/pushChannel", Self.channel(old.0, old.1, old.2)),
            Self.installation(Self.channel(old.0, old.1, old.2), #","tags":["red"]"#),
            Self.registration("1-2-3", old.0, old.1, old.2),
        ]
        for request in right {
            let answer = try await hub.call(Self.client, request)
            #expect(answer.status == 200, "\(request.method) \(answer.body)")
        }
        let wrong: [ClientRequest] = [
            Self.patch("/pushChannel", Self.channel(other.0, other.1, other.2)),
            Self.installation(Self.channel(other.0, other.1, other.2)), Self.registration("1-2-3", other.0, other.1, other.2),
            Self.registration("1-2-4", old.0, old.1, old.2),
        ]
        for request in wrong { #expect(try await hub.call(Self.client, request).status == 400, "\(request.method)") }
        let left = try await hub.call(Self.client, ClientRequest("GET", Self.client.installation("b")))
        #expect(left.body.contains("push.example.test/old") && left.body.contains("red"), "\(left.body)")
        #expect(try await hub.call(Self.client, ClientRequest("DELETE", Self.client.installation("b"))).status == 204)
    }
}
