import Crypto
import RichPushModel
import Testing
import WireText

@testable import WebPushProtocol

@Suite("Encryption for browsers")
struct WebPushEncryptionTests {
    /// The values of RFC 8291, section 5 and appendix A.
    private enum Vector {
        static let message = Array("When I grow up, I want to be a watermelon".utf8)
        static let secret = "BTBZMqHH6r4Tts7J_aSIgg"
        static let receiver = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        static let receiverKey = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
        static let senderKey = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
        static let salt = "DGv6ra1nlYgDCS1FRnbzlw"
        static let body = """
            DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT\
            pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN
            """
    }

    private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.bytes(of: text)) }

    private func subscription() throws -> WebPushSubscription {
        try WebPushSubscription(endpoint: "https://push.example.net/p/1", publicKey: Vector.receiver, secret: Vector.secret)
    }

    @Test("the example of RFC 8291 comes out byte for byte")
    func example() throws {
        let body = try WebPushEncryption.body(
            of: Vector.message, for: try subscription(),
            key: P256.KeyAgreement.PrivateKey(rawRepresentation: try bytes(Vector.senderKey)), salt: try bytes(Vector.salt))
        #expect(Base64URL.text(of: body) == Vector.body)
    }

    @Test("a browser reads the example of RFC 8291")
    func reading() throws {
        let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: try bytes(Vector.receiverKey))
        let message = try WebPushEncryption.message(in: try bytes(Vector.body), for: key, secret: try bytes(Vector.secret))
        #expect(message == Vector.message)
    }

    @Test("no two bodies of a message share a salt or a key")
    func freshness() throws {
        let bodies = try (0..<20).map { _ in try WebPushEncryption.body(of: Vector.message, for: try subscription()) }
        #expect(Set(bodies.map { Array($0[..<16]) }).count == 20)
        #expect(Set(bodies.map { Array($0[21..<86]) }).count == 20)
    }

    @Test("the largest message makes a body of 4096 bytes, and an empty one of 103", arguments: [(3_993, 4_096), (0, 103)])
    func sizes(message: Int, body: Int) throws {
        let made = try WebPushEncryption.body(of: Array(repeating: 7, count: message), for: try subscription())
        #expect(made.count == body)
    }

    @Test("a body for another browser, and one that was changed anywhere, is not read")
    func foreign() throws {
        let secret = try bytes(Vector.secret)
        let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: try bytes(Vector.receiverKey))
        let body = try bytes(Vector.body)
        #expect(throws: WebPushBodyFault.notForThisKey) {
            try WebPushEncryption.message(in: body, for: P256.KeyAgreement.PrivateKey(), secret: secret)
        }
        #expect(throws: WebPushBodyFault.notForThisKey) {
            try WebPushEncryption.message(in: body, for: key, secret: Array(secret.reversed()))
        }
        for place in body.indices where !(16..<21).contains(place) {
            var changed = body
            changed[place] ^= 1
            #expect(throws: WebPushBodyFault.self) { try WebPushEncryption.message(in: changed, for: key, secret: secret) }
        }
    }

    @Test(
        "a record ends as the last one does, with or without padding",
        arguments: [
            ([7, 2], [7]), ([7, 2, 0, 0], [7]), ([2], []), ([7, 1], nil), ([7, 2, 1], nil), ([0, 0], nil), ([7, 0], nil),
        ] as [([UInt8], [UInt8]?)])
    func delimiter(record: [UInt8], message: [UInt8]?) throws {
        let secret = try bytes(Vector.secret)
        let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: try bytes(Vector.receiverKey))
        let body = try WebPushEncryption.body(
            sealing: record, for: try subscription(), key: P256.KeyAgreement.PrivateKey(), salt: Array(repeating: 9, count: 16))
        if let message {
            #expect(try WebPushEncryption.message(in: body, for: key, secret: secret) == message)
        } else {
            #expect(throws: WebPushBodyFault.delimiter) { try WebPushEncryption.message(in: body, for: key, secret: secret) }
        }
    }

    @Test("a body that breaks a rule of its form is named by the rule")
    func malformed() throws {
        let body = try bytes(Vector.body)
        func changed(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
            var body = body
            change(&body)
            return body
        }
        #expect(throws: WebPushBodyFault.tooShort) { try WebPushBodyHeader(Array(body[..<102])) }
        #expect(throws: WebPushBodyFault.senderKey) { try WebPushBodyHeader(changed { $0[20] = 64 }) }
        #expect(throws: WebPushBodyFault.recordSize) {
            try WebPushBodyHeader(changed { $0.replaceSubrange(16..<20, with: [0, 0, 0, 17]) })
        }
        #expect(throws: WebPushBodyFault.recordSize) {
            try WebPushBodyHeader(changed { $0.replaceSubrange(16..<20, with: [0, 0, 0, 57]) })
        }
    }
}

@Suite("Subscriptions of browsers")
struct WebPushSubscriptionTests {
    private static let point = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    private static let secret = "BTBZMqHH6r4Tts7J_aSIgg"

    private func made(
        _ endpoint: String = "https://push.example.net/p/1", _ point: String = point, _ secret: String = secret,
        key: VAPIDKey.ID? = nil
    ) throws(WebPushSubscriptionFault) -> WebPushSubscription {
        try WebPushSubscription(endpoint: endpoint, publicKey: point, secret: secret, serverKey: key)
    }

    @Test("a hub's text gives the same subscription back, with and without the server's key", arguments: [false, true])
    func token(isKeyKnown: Bool) throws {
        let subscription = try made(key: isKeyKnown ? VAPIDKey().id : nil)
        #expect(WebPushSubscription(token: subscription.token) == subscription)
    }

    @Test("subscriptions are the same when all their parts are, and only then")
    func equality() throws {
        let key = VAPIDKey().id
        let other = Base64URL.text(of: Array(P256.KeyAgreement.PrivateKey().publicKey.x963Representation))
        let all = [
            try made(), try made("https://push.example.net/p/2"), try made("https://push.example.net/p/1", other),
            try made("https://push.example.net/p/1", Self.point, "AAAAAAAAAAAAAAAAAAAAAA"), try made(key: key),
        ]
        let same = try made(key: key)
        #expect(Set(all).count == all.count)
        #expect(all.last == same)
        #expect(all.last?.hashValue == same.hashValue)
    }

    @Test("neither a subscription nor a push prints more than its push service")
    func printed() throws {
        let subscription = try made()
        let headers = WebPushHeaders(expiresAt: 0, priority: 10, collapseID: nil, now: Timestamp(seconds: 0))
        let request = try WebPushRequest([1], to: subscription, headers: headers, authorization: "vapid t=secret, k=x")
        for value in [subscription, request] as [Any] {
            var text = "\(value) \(String(reflecting: value))"
            dump(value, to: &text)
            #expect(text.contains("push.example.net"))
            for secret in ["/p/1", "BCVxsr7N", "BTBZMqHH", "secret", "37"] { #expect(!text.contains(secret)) }
        }
    }

    @Test("both alphabets of Base64 are read, with padding and without")
    func spellings() throws {
        let standard = Self.point.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        #expect(try made("https://push.example.net/p/1", String(standard) + "=", Self.secret + "==") == made())
    }

    @Test(
        "a wrong part is named",
        arguments: [
            ("no-url", point, secret, WebPushSubscriptionFault.endpoint(.scheme)),
            ("ftp://a.example/", point, secret, .endpoint(.scheme)),
            ("https://user@a.example/", point, secret, .endpoint(.user)),
            ("https://a.example/#f", point, secret, .endpoint(.fragment)),
            ("https://a.example:0/", point, secret, .endpoint(.port)), ("https://a.example/", "BKey", secret, .publicKey),
            ("https://a.example/", "AAAA", secret, .publicKey),
            ("https://a.example/", String(point.dropLast(4)) + "AAAA", secret, .publicKey),
            ("https://a.example/", point, "QXV0aA", .secret), ("https://a.example/", point, "", .secret),
        ])
    func faults(endpoint: String, point: String, secret: String, fault: WebPushSubscriptionFault) {
        #expect(throws: fault) { try made(endpoint, point, secret) }
    }

    @Test(
        "the words of a fault name the part, and what is wrong with it",
        arguments: [
            ("https://user@a.example/", point, secret, "the endpoint has a user"),
            ("https://a.example/#f", point, secret, "the endpoint has a fragment"),
            ("https://a.example:0/", point, secret, "the endpoint has a port"),
            ("ftp://a.example/", point, secret, "the endpoint is not an absolute URL with https"),
            ("https://a.example/", "AAAA", secret, "p256dh is not a point"),
            ("https://a.example/", point, "AA", "auth is not 16"),
        ])
    func words(endpoint: String, point: String, secret: String, words: String) {
        let fault = #expect(throws: WebPushSubscriptionFault.self) { try made(endpoint, point, secret) }
        #expect(fault?.description.contains(words) == true)
    }

    @Test(
        "a text that is no subscription is none", arguments: ["", "https://a.example/", "a b c", "https://a.example/ \(point)"])
    func noToken(text: String) { #expect(WebPushSubscription(token: text) == nil) }

    @Test(
        "the origin has scheme, host and an unusual port alone",
        arguments: [
            ("https://Push.Example.net/p/1", "https://push.example.net"),
            ("https://push.example.net:443/", "https://push.example.net"),
            ("https://push.example.net:8443/p?q=1", "https://push.example.net:8443"),
            ("http://127.0.0.1:9000/wpush/v2/x", "http://127.0.0.1:9000"),
            ("https://[2001:db8::1]:444/", "https://[2001:db8::1]:444"),
        ])
    func origins(endpoint: String, origin: String) throws { #expect(try made(endpoint).origin == origin) }
}
