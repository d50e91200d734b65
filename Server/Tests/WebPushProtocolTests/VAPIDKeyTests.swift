import ClarionTesting
import Crypto
import Foundation
import RichPushModel
import Testing
import WireText

@testable import WebPushProtocol

@Suite("Keys and tokens of VAPID")
struct VAPIDKeyTests {
    private static let origin = "https://push.example.net"
    private static let subject = "mailto:push@example.com"

    private func parts(_ token: some StringProtocol) throws -> [[UInt8]] {
        try token.split(separator: ".").map { try #require(Base64URL.bytes(of: $0)) }
    }

    @Test("a key that is written and read again is the same key")
    func roundTrip() throws {
        let key = VAPIDKey()
        let read = try #require(VAPIDKey(privateText: key.privateText))
        #expect(read.id == key.id)
        #expect(read.publicText == key.publicText)
    }

    @Test("what is no private key is none", arguments: ["", "AAAA", String(repeating: "A", count: 43), "not base64 at all!"])
    func noKey(text: String) { #expect(VAPIDKey(privateText: text) == nil) }

    @Test("a description holds no part of the private key")
    func description() {
        let key = VAPIDKey()
        #expect(!"\(key)".contains(key.privateText))
    }

    @Test("a token names the push service, the sender and its end, and is signed with the key")
    func token() throws {
        let key = VAPIDKey()
        let token = try key.token(for: Self.origin, subject: Self.subject, expiresAt: Timestamp(seconds: 1_700_000_000))
        let parts = try parts(token)
        #expect(parts.count == 3)
        let header = try #require(try JSONSerialization.jsonObject(with: Data(parts[0])) as? [String: String])
        #expect(header == ["typ": "JWT", "alg": "ES256"])
        let claims = try #require(try JSONSerialization.jsonObject(with: Data(parts[1])) as? [String: Any])
        #expect(claims["aud"] as? String == Self.origin)
        #expect(claims["sub"] as? String == Self.subject)
        #expect(claims["exp"] as? Int == 1_700_000_000)
        let point = try P256.Signing.PublicKey(x963Representation: try #require(Base64URL.bytes(of: key.publicText)))
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: parts[2])
        let signed = token.split(separator: ".").prefix(2).joined(separator: ".")
        #expect(point.isValidSignature(signature, for: Array(signed.utf8)))
    }

    @Test(
        "a subject that push services refuse is refused",
        arguments: [
            "", "push@example.com", "mailto:", "mailto:a@b", "mailto:a b@example.com", "https://localhost", "http://example.com",
            #"mailto:"a"@example.com"#, "https://127.0.0.1/", "https://10.0.0.1/contact", "https://[::1]/", "https://127.1",
            "https://push.localhost", "https://printer.local/", "mailto:a@127.0.0.1", "mailto:a@app.localhost",
            "https://example.",
            "https://a@example.com",
        ])
    func subjects(text: String) { #expect(VAPIDIdentity(subject: text, keys: [VAPIDKey()]) == nil) }

    @Test(
        "an address at a public host is a subject",
        arguments: [
            "mailto:push@example.com", "https://example.com", "https://Push.Example.com:8443/contact#people", "https://9.9.9.9/",
        ])
    func goodSubjects(text: String) { #expect(VAPIDIdentity(subject: text, keys: [VAPIDKey()]) != nil) }

    @Test("a subscription that names its key has that one alone, and one that names none may have any")
    func rotation() throws {
        let (present, older) = (VAPIDKey(), VAPIDKey())
        let identity = try #require(VAPIDIdentity(subject: Self.subject, keys: [present, older]))
        func subscription(_ key: VAPIDKey.ID?) throws -> WebPushSubscription {
            try WebPushSubscription(
                endpoint: Self.origin + "/1", publicKey: present.publicText, secret: "BTBZMqHH6r4Tts7J_aSIgg", serverKey: key)
        }
        #expect(identity.keys(for: try subscription(nil)).map(\.id) == [present.id, older.id])
        #expect(identity.keys(for: try subscription(older.id)).map(\.id) == [older.id])
        #expect(identity.keys(for: try subscription(VAPIDKey().id)).isEmpty)
    }
}

@Suite("Tokens of VAPID that are kept")
struct VAPIDTokenCacheTests {
    private let clock = ManualClock()
    private let key = VAPIDKey()

    @Test("an origin has one token until half of its life is over")
    func reuse() throws {
        let cache = VAPIDTokenCache(subject: "mailto:push@example.com", clock: clock)
        func token() throws -> String { try cache.authorization(for: "https://a.example", key: key) }
        let first = try token()
        clock.advance(by: .seconds(6 * 3600 - 1))
        #expect(try token() == first)
        clock.advance(by: .seconds(1))
        #expect(try token() != first)
    }

    @Test("each origin and each key has a token of its own")
    func places() throws {
        let cache = VAPIDTokenCache(subject: "mailto:push@example.com", clock: clock)
        let tokens = try [
            cache.authorization(for: "https://a.example", key: key), cache.authorization(for: "https://b.example", key: key),
            cache.authorization(for: "https://a.example", key: VAPIDKey()),
        ]
        #expect(Set(tokens).count == 3)
        #expect(tokens[0].hasSuffix(", k=\(key.publicText)"))
    }

    @Test("a token that was refused is signed anew")
    func refused() throws {
        let cache = VAPIDTokenCache(subject: "mailto:push@example.com", clock: clock)
        let first = try cache.authorization(for: "https://a.example", key: key)
        clock.advance(by: .seconds(1))
        cache.forget("https://a.example", key: key.id)
        #expect(try cache.authorization(for: "https://a.example", key: key) != first)
    }
}

@Suite("Headers and answers of Web Push")
struct WebPushRequestTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    private func headers(expiresAt: Int64? = nil, priority: Int = 10, collapseID: String? = nil) -> WebPushHeaders {
        WebPushHeaders(expiresAt: expiresAt, priority: priority, collapseID: collapseID, now: now)
    }

    @Test(
        "an expiry becomes the time that is left, four weeks at most",
        arguments: [(nil, 2_419_200), (0, 0), (1_700_000_060, 60), (1_699_999_999, 0), (1_800_000_000, 2_419_200)])
    func life(expiresAt: Int64?, life: Int64) { #expect(headers(expiresAt: expiresAt).life == life) }

    @Test("a priority becomes an urgency", arguments: [(10, "high"), (5, "normal"), (1, "low")])
    func urgency(priority: Int, urgency: String) { #expect(headers(priority: priority).urgency == urgency) }

    @Test("a collapse id that is no topic becomes a digest of 32 letters, the same each time")
    func topics() {
        #expect(headers(collapseID: "order-4711").topic == "order-4711")
        let long = headers(collapseID: "an order with blanks and more than 32 letters").topic
        #expect(long?.utf8.count == 32)
        #expect(long == headers(collapseID: "an order with blanks and more than 32 letters").topic)
        #expect(long != headers(collapseID: "an order with blanks and more than 32 digits").topic)
    }

    @Test(
        "each answer has its consequence",
        arguments: [
            (201, WebPushAnswer.Disposition.accepted), (200, .accepted), (202, .accepted), (404, .gone), (410, .gone),
            (401, .unauthorized), (403, .unauthorized), (413, .tooLarge), (400, .refused), (301, .refused), (429, .later),
            (500, .later), (503, .later),
        ])
    func answers(status: Int, disposition: WebPushAnswer.Disposition) {
        #expect(WebPushAnswer(status: status, now: now).disposition == disposition)
    }

    @Test("a pause is read in both forms, and nonsense is none")
    func pauses() {
        func pause(_ text: String) -> Duration? { WebPushAnswer(status: 429, retryAfter: text, now: now).pause }
        #expect(pause("120") == .seconds(120))
        #expect(pause("Tue, 14 Nov 2023 22:13:50 GMT") == .seconds(30))
        #expect(pause("9999999999") == .seconds(86_400))
        #expect(pause("soon") == nil)
        #expect(pause("-1") == nil)
    }
}
