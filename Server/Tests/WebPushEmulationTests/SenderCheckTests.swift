import Crypto
import Foundation
import RichPushModel
import Testing
import WireText

@testable import WebPushEmulation

@Suite("What a sender may not do")
struct SenderCheckTests {
    /// A good request with one mistake.
    private func request(breaking rule: SenderRule, _ fixture: inout PushServiceFixture) -> SenderRequest {
        let (connection, _, _) = fixture.connect()
        let endpoint = fixture.register(on: connection)
        var request = fixture.sender.request(endpoint, now: fixture.clock.now)
        let (sender, now, origin) = (fixture.sender, fixture.clock.now, PushServiceFixture.origin)
        func claims(_ change: [String: String?]) { request.set("authorization", sender.authorization(now: now, change: change)) }
        switch rule {
        case .path: request.path = "/wpush/v3/x"
        case .method: request.method = "PUT"
        case .noRedirect: request.path = "/redirected"
        case .bodySize: (request.body, request.bodySize) = ([], 4_097)
        case .tokenReadable: request.path.removeLast(4)
        case .userKnown: fixture.state.users = [:]
        case .subscriptionKnown:
            _ = fixture.say(#"{"messageType":"unregister","channelID":"\#(PushServiceFixture.channel(1))"}"#, on: connection)
        case .vapidPresent: request.set("authorization", nil)
        case .vapidForm: request.set("authorization", "WebPush " + (request.header("authorization") ?? "").dropFirst(6))
        case .vapidHeader: request.set("authorization", sender.authorization(now: now, header: #"{"typ":"JWT","alg":"ES384"}"#))
        case .vapidSignature: request.set("authorization", sender.authorization(now: now, signer: P256.Signing.PrivateKey()))
        case .vapidKey: request.set("authorization", TestSender().authorization(now: now))
        case .vapidAudiencePath: claims(["aud": "\"\(origin)/\""])
        case .vapidAudience: claims(["aud": #""http://127.0.0.1:80900""#])
        case .vapidExpiry: claims(["exp": "\"\(now.seconds + 60)\""])
        case .vapidFresh: claims(["exp": "\(now.seconds)"])
        case .vapidLifetime: claims(["exp": "\(now.seconds + 86_401)"])
        case .vapidSubject: claims(["sub": nil])
        case .ttlPresent: request.set("ttl", nil)
        case .ttlNumber: request.set("ttl", "60 s")
        case .ttlNotNegative: request.set("ttl", "-1")
        case .topic: request.set("topic", String(repeating: "a", count: 33))
        case .urgency: request.set("urgency", "urgent")
        case .encodingPresent: request.set("content-encoding", nil)
        case .encoding: request.set("content-encoding", "aesgcm")
        case .noKeyHeaders: request.set("crypto-key", "dh=BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQ")
        case .bodyHeader, .keyIDLength, .keyOnCurve, .recordSize, .recordPresent, .recordSizeFits, .oneRecord, .freshKeys:
            breakBody(of: &request, rule, &fixture)
        }
        return request
    }

    private func breakBody(of request: inout SenderRequest, _ rule: SenderRule, _ fixture: inout PushServiceFixture) {
        let body = request.body
        let (salt, key, record) = (Array(body[..<16]), Array(body[21..<86]), Array(body[86...]))
        func built(size: Int = 4_096, key: [UInt8]? = nil, record: some Sequence<UInt8>) -> [UInt8] {
            let key = key ?? Array(body[21..<86])
            let size = [UInt8(size >> 24 & 255), UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255)]
            return salt + size + [UInt8(key.count)] + key + Array(record)
        }
        switch rule {
        case .bodyHeader: request.set(Array(body.prefix(85)))
        case .keyIDLength: request.set(built(key: key.dropLast(), record: record))
        case .keyOnCurve: request.set(built(key: [4] + [UInt8](repeating: 255, count: 64), record: record))
        case .recordSize: request.set(built(size: 17, record: record.prefix(17)))
        case .recordPresent: request.set(built(record: record.prefix(16)))
        case .recordSizeFits: request.set(built(size: 18, record: (record + record).prefix(20)))
        case .oneRecord: request.set(built(size: 18, record: (record + record).prefix(36)))
        case .freshKeys:
            _ = fixture.post(request)
            request.set(built(record: record.dropLast() + [record[0] &+ 1]))
        default: break
        }
    }

    @Test("a good message is accepted, with and without a body")
    func good() throws {
        var fixture = PushServiceFixture()
        let (connection, _, _) = fixture.connect()
        let endpoint = fixture.register(on: connection)
        var request = fixture.sender.request(endpoint, now: fixture.clock.now)
        let (answer, messages) = fixture.post(request)
        #expect(answer?.status == 201)
        #expect(answer?.headers.first { $0.name == "ttl" }?.value == "60")
        #expect(answer?.headers.first { $0.name == "location" }?.value == "\(PushServiceFixture.origin)/m/\(messages[0].version)")
        #expect(messages.map(\.hasData) == [true])
        request.set([])
        request.set("content-encoding", nil)
        #expect(fixture.post(request).messages.map(\.hasData) == [false])
    }

    @Test("each rule is broken by a request that breaks no other one", arguments: SenderRule.allCases)
    func alone(rule: SenderRule) throws {
        var fixture = PushServiceFixture()
        let request = request(breaking: rule, &fixture)
        let vapid = request.header("authorization").flatMap(VAPIDStatement.init(authorization:))
        let evidence = fixture.state.evidence(for: request, vapid: vapid, now: fixture.clock.now)
        #expect(SenderCheck.firstBroken(evidence) == rule)
        #expect(SenderCheck.firstBroken(evidence, without: [rule]) == nil, "without the rule the request would pass")
        #expect(SenderCheck.order.filter { $0.rule == rule }.count == 1)
    }

    @Test("the answer has the status and the number of the page, and what was wrong", arguments: SenderRule.allCases)
    func answer(rule: SenderRule) throws {
        var fixture = PushServiceFixture()
        let request = request(breaking: rule, &fixture)
        fixture.state.recorder.clear()
        let answer = try #require(fixture.post(request).answer)
        let body = try JSONDecoder().decode([String: JSONValue].self, from: Data(answer.body.utf8))
        #expect(body["code"] == .integer(Int64(answer.status)))
        #expect(body["errno"] == rule.errno.map { .integer(Int64($0)) } ?? .null)
        #expect(body["message"] == .text(rule.description))
        #expect(PushServiceFixture.text(body["error"]).isEmpty == false)
        #expect(answer.headers.contains { $0.name == "cache-control" } == (answer.status == 410))
        let exchange = try #require(fixture.state.recorder.exchanges.first)
        #expect(exchange.brokenRule == rule)
        #expect(exchange.status == answer.status)
    }

    @Test(
        "the numbers are those of Mozilla's service",
        arguments: [
            (SenderRule.tokenReadable, 404, 102), (.userKnown, 410, 103), (.bodySize, 413, 104), (.subscriptionKnown, 410, 106),
            (.vapidSignature, 401, 109), (.encoding, 400, 110), (.ttlPresent, 400, 111), (.ttlNumber, 400, 112),
            (.topic, 400, 113), (.ttlNotNegative, 400, 114),
        ])
    func numbers(rule: SenderRule, status: Int, errno: Int) {
        #expect(rule.status == status)
        #expect(rule.errno == errno)
    }

    @Test("an endpoint without a key takes a message without VAPID, and checks one that is there")
    func withoutKey() {
        var fixture = PushServiceFixture()
        let (connection, _, _) = fixture.connect()
        let endpoint = fixture.register(on: connection, withKey: false)
        #expect(endpoint.contains("/wpush/v1/"))
        var request = fixture.sender.request(endpoint, now: fixture.clock.now)
        request.set("authorization", TestSender().authorization(now: fixture.clock.now))
        #expect(fixture.post(request).answer?.status == 201)
        request.set("authorization", nil)
        #expect(fixture.post(request).answer?.status == 201)
        request.set("authorization", "vapid t=a.b.c, k=d")
        #expect(fixture.post(request).answer?.status == 401)
    }

    @Test("a token of one version is none of the other one")
    func versions() {
        var fixture = PushServiceFixture()
        let (connection, _, _) = fixture.connect()
        let endpoint = fixture.register(on: connection).replacing("/v2/", with: "/v1/")
        #expect(fixture.post(fixture.sender.request(endpoint, now: fixture.clock.now)).answer?.status == 404)
    }

    @Test("the same bytes may come again, as after an answer that was lost")
    func repetition() {
        var fixture = PushServiceFixture()
        let (connection, _, _) = fixture.connect()
        let request = fixture.sender.request(fixture.register(on: connection), now: fixture.clock.now)
        #expect(fixture.post(request).answer?.status == 201)
        #expect(fixture.post(request).answer?.status == 201)
    }

    @Test(
        "good values at the edges are accepted",
        arguments: [
            ("ttl", "0"), ("ttl", "99999999999999999999"), ("topic", String(repeating: "_", count: 32)), ("urgency", "very-low"),
            ("crypto-key", "p256ecdsa=AAAA"),
        ])
    func edges(name: String, value: String) {
        var fixture = PushServiceFixture()
        let (connection, _, _) = fixture.connect()
        var request = fixture.sender.request(fixture.register(on: connection), now: fixture.clock.now)
        request.set(name, value)
        #expect(fixture.post(request).answer?.status == 201)
    }

    @Test("a time to live above 30 days is shortened")
    func longLife() {
        var fixture = PushServiceFixture()
        let (connection, _, _) = fixture.connect()
        var request = fixture.sender.request(fixture.register(on: connection), now: fixture.clock.now)
        request.set("ttl", "9999999")
        #expect(fixture.post(request).answer?.headers.first { $0.name == "ttl" }?.value == "2592000")
    }

    @Test("a header that came twice is one list, which no single value may be")
    func twice() {
        var fixture = PushServiceFixture()
        let (connection, _, _) = fixture.connect()
        var request = fixture.sender.request(fixture.register(on: connection), now: fixture.clock.now)
        request.headers.append(("TTL", "60"))
        #expect(fixture.post(request).answer?.status == 400)
    }

    @Test("what is recorded holds no body, no token and no key")
    func recorded() {
        var fixture = PushServiceFixture()
        let (connection, _, _) = fixture.connect()
        let endpoint = fixture.register(on: connection)
        fixture.push(endpoint, topic: "order-1")
        let text = "\(fixture.state.recorder.exchanges.map { "\($0) \(String(reflecting: $0.headers))" })"
        #expect(!text.contains("vapid"))
        #expect(!text.contains(endpoint.suffix(20)))
        #expect(text.contains("order-1"))
    }

    @Test("health is answered")
    func health() {
        var fixture = PushServiceFixture()
        for path in ["/status", "/__heartbeat__", "/__lbheartbeat__"] {
            #expect(fixture.post(SenderRequest(method: "GET", path: path)).answer?.status == 200)
        }
    }
}
