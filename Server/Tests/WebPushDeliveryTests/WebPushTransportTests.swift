import ClarionTesting
import Crypto
import Foundation
import PushHub
import RichPushModel
import SharedAccess
import Synchronization
import Testing
import WebPushDelivery
import WebPushProtocol
import WireText

@Suite("Pushes to browsers")
struct WebPushTransportTests {
    private static let google = "https://fcm.googleapis.com/fcm/send/"
    private static let mozilla = "https://updates.push.services.mozilla.com/wpush/v2/"

    private let clock = ManualClock()
    private let keys = [VAPIDKey(), VAPIDKey()]
    private let service = ScriptedPushService()
    private let notes = LogNotes()

    private static let hosts = ["fcm.googleapis.com", "push.services.mozilla.com"]

    private func transport(hosts: [String] = hosts, networks: [String] = []) throws -> WebPushTransport {
        WebPushTransport(
            identity: try #require(VAPIDIdentity(subject: "mailto:push@example.com", keys: keys)),
            allowing: WebPushRule(hosts: hosts, networks: networks.compactMap { AddressRange($0) }),
            sender: service, deadline: .seconds(20), clock: clock, logger: notes.logger)
    }

    private func batch(_ tokens: [String], body: [UInt8] = Array("hello".utf8), headers: PushBatch.Headers? = nil) -> PushBatch {
        let shared = headers ?? .init(pushType: "", priority: 10)
        var batch = PushBatch(
            hub: HubID(1), bodies: [body], headers: [shared],
            targets: tokens.map { .init(handle: DeviceToken(canonical: $0), pushID: PushID(UUID())) })
        batch.platform = .browser
        return batch
    }

    private func outcomes(
        _ tokens: [String], hosts: [String] = hosts, networks: [String] = []
    ) async throws -> [PushOutcome] {
        Array(await (try transport(hosts: hosts, networks: networks)).send(batch(tokens)))
    }

    @Test("a browser can read its push, and another one cannot")
    func content() async throws {
        let (alice, bob) = (SampleBrowser(Self.google + "a"), SampleBrowser(Self.mozilla + "b"))
        let outcomes = try await outcomes([alice.token, bob.token])
        #expect(outcomes == [.accepted, .accepted])
        let request = try #require(service.requests.first { $0.address.url == alice.endpoint })
        #expect(try alice.message(in: request.body) == Array("hello".utf8))
        #expect(throws: WebPushBodyFault.self) { try bob.message(in: request.body) }
    }

    @Test("the headers say what the send says")
    func headers() async throws {
        let headers = PushBatch.Headers(
            pushType: "", priority: 5, expiration: clock.now.seconds + 60, collapseID: "order-4711")
        _ = await (try transport()).send(batch([SampleBrowser(Self.google + "a").token], headers: headers))
        let sent = try #require(service.requests.first).headers.reduce(into: [String: String]()) { $0[$1.name] = $1.value }
        #expect(sent["ttl"] == "60")
        #expect(sent["urgency"] == "normal")
        #expect(sent["topic"] == "order-4711")
        #expect(sent["content-encoding"] == "aes128gcm")
        #expect(sent["authorization"]?.hasSuffix(", k=\(keys[0].publicText)") == true)
    }

    @Test("a browser that subscribed with an older key is sent to with that key, and none with a key that is gone")
    func rotation() async throws {
        let older = SampleBrowser(Self.google + "a", key: keys[1].id)
        let lost = SampleBrowser(Self.google + "b", key: VAPIDKey().id)
        let outcomes = try await outcomes([older.token, lost.token])
        #expect(outcomes.first == .accepted)
        guard case .rejected = outcomes.last else {
            Issue.record("\(outcomes)")
            return
        }
        let authorization = service.requests.first?.headers.first { $0.name == "authorization" }?.value
        #expect(authorization?.hasSuffix(", k=\(keys[1].publicText)") == true)
    }

    @Test("where a subscription names no key, an older one is tried after a refusal, and comes first from then on")
    func unnamedKey() async throws {
        let older = keys[1]
        service.follow { request in
            let isOlder = request.headers.contains { $0.value.hasSuffix(", k=\(older.publicText)") }
            return .answered(WebPushAnswer(status: isOlder ? 201 : 403, now: Timestamp(seconds: 0)))
        }
        let transport = try transport()
        let token = SampleBrowser(Self.google + "a").token
        #expect(Array(await transport.send(batch([token]))) == [.accepted])
        #expect(service.requests.count == 2)
        #expect(Array(await transport.send(batch([token]))) == [.accepted])
        #expect(service.requests.count == 3)
    }

    @Test("what a push service answers becomes the outcome")
    func answers() async throws {
        service.follow { request in
            let status = Int(request.address.url.split(separator: "/").last ?? "") ?? 0
            return .answered(WebPushAnswer(status: status, retryAfter: status == 503 ? "7" : nil, now: Timestamp(seconds: 0)))
        }
        let tokens = ["201", "200", "202", "410", "404", "413", "400", "429", "503"].map { SampleBrowser(Self.google + $0).token }
        #expect(
            try await outcomes(tokens) == [
                .accepted, .accepted, .accepted, .gone(since: clock.now), .gone(since: clock.now), .tooLarge,
                .rejected(reason: "status 400"),
                .retry(after: .seconds(60), reason: "status 429"), .retry(after: .seconds(7), reason: "status 503"),
            ])
    }

    @Test("a refusal of this server waits for the operator, until the push service has accepted a push")
    func unauthorized() async throws {
        service.follow { request in
            .answered(WebPushAnswer(status: request.address.url.hasSuffix("x") ? 403 : 201, now: Timestamp(seconds: 0)))
        }
        let transport = try transport()
        let wrong = SampleBrowser(Self.google + "x").token
        let refused = Array(await transport.send(batch([wrong, wrong])))
        #expect(refused == Array(repeating: .misconfigured(reason: "status 403"), count: 2))
        let mixed = Array(await transport.send(batch([wrong, SampleBrowser(Self.google + "a").token])))
        #expect(mixed == [.rejected(reason: "status 403"), .accepted])
        #expect(Array(await transport.send(batch([wrong]))) == [.rejected(reason: "status 403")])
    }

    @Test("a push service that takes nothing of this server keeps its own pushes, while another one takes its")
    func refusesAlone() async throws {
        service.follow { request in
            .answered(
                WebPushAnswer(status: request.address.host == "fcm.googleapis.com" ? 403 : 201, now: Timestamp(seconds: 0)))
        }
        let outcomes = try await outcomes([SampleBrowser(Self.google + "a").token, SampleBrowser(Self.mozilla + "b").token])
        #expect(outcomes == [.delayed(by: .seconds(300), reason: "status 403"), .accepted])
    }

    @Test("a push that is wrong with one key and refused with another is no reason to wait for the operator")
    func wrongPush() async throws {
        let older = keys[1]
        service.follow { request in
            let isOlder = request.headers.contains { $0.value.hasSuffix(", k=\(older.publicText)") }
            return .answered(WebPushAnswer(status: isOlder ? 403 : 400, now: Timestamp(seconds: 0)))
        }
        #expect(try await outcomes([SampleBrowser(Self.google + "a").token]) == [.rejected(reason: "status 403")])
        #expect(notes.lines.isEmpty, "\(notes.lines)")
    }

    @Test("where a push service answers 400 to a wrong key, the next one is tried as well")
    func badRequest() async throws {
        let older = keys[1]
        service.follow { request in
            let isOlder = request.headers.contains { $0.value.hasSuffix(", k=\(older.publicText)") }
            return .answered(WebPushAnswer(status: isOlder ? 201 : 400, now: Timestamp(seconds: 0)))
        }
        #expect(try await outcomes([SampleBrowser(Self.google + "a").token]) == [.accepted])
    }

    @Test("a push service that cannot be reached keeps no push to another from leaving")
    func unreachable() async throws {
        service.follow { request in
            request.address.host == "fcm.googleapis.com"
                ? .notSent(reason: "away") : .answered(WebPushAnswer(status: 201, now: Timestamp(seconds: 0)))
        }
        let (away, near) = (SampleBrowser(Self.google + "a").token, SampleBrowser(Self.mozilla + "b").token)
        #expect(try await outcomes([away, near]) == [.delayed(by: .seconds(10), reason: "away"), .accepted])
        #expect(try await outcomes([away]) == [.delayed(by: .seconds(10), reason: "away")], "it has never answered")
    }

    private static let failures: [(reply: WebPushReply, cause: String)] = [
        (.notSent(reason: "away"), "away"), (.unknown(reason: "no answer in time"), "no answer in time"),
        (.answered(WebPushAnswer(status: 503, now: Timestamp(seconds: 0))), "status 503"),
    ]

    @Test("after three failures in a row a push service gets one push in ten seconds, until it serves one", arguments: failures)
    func failing(reply: WebPushReply, cause: String) async throws {
        let transport = try transport()
        let token = SampleBrowser(Self.google + "a").token
        service.follow { _ in reply }
        for _ in 0..<3 { _ = await transport.send(batch([token])) }
        #expect(service.requests.count == 3)
        let near = SampleBrowser(Self.mozilla + "b").token
        service.follow { _ in .answered(WebPushAnswer(status: 201, now: Timestamp(seconds: 0))) }
        let reason = "the last pushes to this push service failed: \(cause)"
        #expect(
            Array(await transport.send(batch([token, near]))) == [.delayed(by: .seconds(10), reason: reason), .accepted])
        #expect(service.requests.count == 4)
        clock.advance(by: .seconds(10))
        service.follow { _ in reply }
        _ = await transport.send(batch([token]))
        _ = await transport.send(batch([token]))
        #expect(service.requests.count == 5)
        clock.advance(by: .seconds(10))
        service.follow { _ in .answered(WebPushAnswer(status: 201, now: Timestamp(seconds: 0))) }
        #expect(Array(await transport.send(batch([token]))) == [.accepted])
        #expect(Array(await transport.send(batch([token, token]))) == [.accepted, .accepted])
    }

    @Test(
        "the log names the host of a push service that fails, and the cause",
        arguments: failures + [(.answered(WebPushAnswer(status: 429, now: Timestamp(seconds: 0))), "status 429")])
    func logged(reply: WebPushReply, cause: String) async throws {
        let transport = try transport()
        let tokens = (0..<5).map { SampleBrowser(Self.google + "secret-path-\($0)").token }
        service.follow { _ in reply }
        for _ in 0..<3 { _ = await transport.send(batch(tokens)) }
        service.follow { _ in .answered(WebPushAnswer(status: 201, now: Timestamp(seconds: 0))) }
        clock.advance(by: .seconds(10))
        for _ in 0..<2 { _ = await transport.send(batch(tokens)) }
        #expect(notes.lines.map(\.level) == [.warning, .notice])
        #expect(notes.lines.first?.metadata == ["host": "fcm.googleapis.com", "reason": cause, "count": "5"])
        #expect(notes.lines.last?.metadata == ["host": "fcm.googleapis.com"])
    }

    @Test("the log says at once that a push service refuses this server, and once for many batches")
    func loggedRefusal() async throws {
        let transport = try transport()
        service.follow { _ in .answered(WebPushAnswer(status: 403, now: Timestamp(seconds: 0))) }
        for _ in 0..<3 { _ = await transport.send(batch([SampleBrowser(Self.mozilla + "b").token])) }
        #expect(notes.lines.map(\.level) == [.error])
        #expect(
            notes.lines.first?.metadata == [
                "hub_id": "1", "host": "updates.push.services.mozilla.com", "reason": "status 403", "count": "1",
            ])
    }

    @Test("pushes that are wrong in themselves are no trouble of the push service", arguments: [400, 404, 410, 413])
    func unlogged(status: Int) async throws {
        let transport = try transport()
        service.follow { _ in .answered(WebPushAnswer(status: status, now: Timestamp(seconds: 0))) }
        for _ in 0..<5 { _ = await transport.send(batch([SampleBrowser(Self.google + "a").token])) }
        #expect(service.requests.count >= 5)
        #expect(notes.lines.isEmpty, "\(notes.lines)")
    }

    @Test("a push service that does not answer takes little of a batch from the others")
    func hanging() async throws {
        service.follow { request in
            request.address.host == "fcm.googleapis.com"
                ? .unknown(reason: "no answer in time") : .answered(WebPushAnswer(status: 201, now: Timestamp(seconds: 0)))
        }
        let hanging = (0..<200).map { SampleBrowser(Self.google + "\($0)").token }
        let outcomes = try await outcomes(hanging + [SampleBrowser(Self.mozilla + "b").token])
        #expect(outcomes.last == .accepted)
        #expect(outcomes.count { if case .delayed = $0 { true } else { false } } >= 100)
        #expect(service.requests.count < 100)
    }

    @Test("what is too fast for a push service, and what it refuses, is no failure of it")
    func noFailure() async throws {
        let transport = try transport()
        let token = SampleBrowser(Self.google + "a").token
        for status in [429, 404, 413] {
            service.follow { _ in .answered(WebPushAnswer(status: status, now: Timestamp(seconds: 0))) }
            for _ in 0..<4 { _ = await transport.send(batch([token])) }
        }
        #expect(service.requests.count == 12)
    }

    @Test("an answer may take ten seconds, and nothing leaves without the time for one")
    func time() async throws {
        let clock = clock
        service.follow { _ in
            clock.advance(by: .seconds(14))
            return .answered(WebPushAnswer(status: 403, now: Timestamp(seconds: 0)))
        }
        let outcomes = try await outcomes([SampleBrowser(Self.google + "a").token])
        #expect(outcomes == [.notSent(reason: "no time was left for it")], "six of twenty seconds are left for the second key")
        #expect(service.deadlines == [.seconds(10)])
    }

    @Test("a push service that has answered before and is away makes the send wait")
    func away() async throws {
        let transport = try transport()
        let token = SampleBrowser(Self.google + "a").token
        #expect(Array(await transport.send(batch([token]))) == [.accepted])
        service.follow { _ in .notSent(reason: "away") }
        #expect(Array(await transport.send(batch([token]))) == [.notSent(reason: "away")])
    }

    @Test("a lost answer is unknown")
    func unknown() async throws {
        service.follow { _ in .unknown(reason: "no answer in time") }
        #expect(try await outcomes([SampleBrowser(Self.google + "a").token]) == [.unknown(reason: "no answer in time")])
    }

    @Test("a token that is no subscription, and a message that is too large, are not sent")
    func untried() async throws {
        #expect(try await outcomes(["https://push.example.net/p BKey QXV0aA"]) == [.badToken])
        let large = batch([SampleBrowser(Self.google + "a").token], body: Array(repeating: 7, count: 3_994))
        #expect(Array(await (try transport()).send(large)) == [.tooLarge])
        #expect(service.requests.isEmpty)
    }

    @Test(
        "an endpoint that leads elsewhere is not called",
        arguments: [
            "https://127.0.0.1/p", "https://10.0.0.1/p", "https://localhost/p", "https://[::1]/p", "http://push.example.net/p",
            "https://169.254.169.254/latest", "https://evil.example/p", "https://evilfcm.googleapis.com.example/p",
            "https://xfcm.googleapis.com/p",
        ])
    func forgery(endpoint: String) async throws {
        let outcomes = try await outcomes(
            [SampleBrowser(endpoint).token],
            hosts: ["fcm.googleapis.com", "push.example.net", "localhost", "127.0.0.1", "10.0.0.1", "::1", "169.254.169.254"])
        guard case .rejected? = outcomes.first else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(service.requests.isEmpty)
    }

    @Test("a push service in a network that is allowed is called, also without TLS")
    func ownService() async throws {
        let outcomes = try await outcomes(
            [SampleBrowser("http://127.0.0.1:9000/p").token], hosts: ["127.0.0.1"], networks: ["127.0.0.0/8"])
        #expect(outcomes == [.accepted])
    }

    @Test("a batch of a thousand is sent whole, each push to its own browser, a bounded number at a time")
    func largeBatch() async throws {
        let browsers = (0..<1_000).map { SampleBrowser(Self.google + "\($0)") }
        let outcomes = try await outcomes(browsers.map(\.token))
        #expect(outcomes.count == 1_000)
        #expect(outcomes.allSatisfy { $0 == .accepted })
        #expect(Set(service.requests.map(\.address.url)).count == 1_000)
        #expect(service.mostAtOnce <= 64)
    }
}

/// A browser with its private half.
private struct SampleBrowser {
    let endpoint: String
    let token: String
    private let key = P256.KeyAgreement.PrivateKey()
    private let secret = (0..<16).map { _ in UInt8.random(in: .min ... .max) }

    init(_ endpoint: String, key serverKey: VAPIDKey.ID? = nil) {
        self.endpoint = endpoint
        let point = Base64URL.text(of: Array(key.publicKey.x963Representation))
        token = [endpoint, point, Base64URL.text(of: secret), serverKey?.text].compactMap(\.self).joined(separator: " ")
    }

    func message(in body: [UInt8]) throws -> [UInt8] { try WebPushEncryption.message(in: body, for: key, secret: secret) }
}

/// A push service that takes everything unless it is given an answer.
private final class ScriptedPushService: WebPushSending {
    private struct State {
        var requests: [WebPushRequest] = []
        var deadlines: [Duration] = []
        var answer: @Sendable (WebPushRequest) -> WebPushReply = { _ in
            .answered(WebPushAnswer(status: 201, now: Timestamp(seconds: 0)))
        }
        var underWay = 0
        var mostAtOnce = 0
    }

    private let state = Mutex(State())

    var requests: [WebPushRequest] { state.withLock { $0.requests } }
    var deadlines: [Duration] { state.withLock { $0.deadlines } }
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    func follow(_ answer: @escaping @Sendable (WebPushRequest) -> WebPushReply) { state.withLock { $0.answer = answer } }

    func post(_ request: WebPushRequest, within deadline: Duration) async -> WebPushReply {
        let answer = state.withLock { state in
            state.requests.append(request)
            state.deadlines.append(deadline)
            state.underWay += 1
            state.mostAtOnce = max(state.mostAtOnce, state.underWay)
            return state.answer
        }
        await Task.yield()
        state.withLock { $0.underWay -= 1 }
        return answer(request)
    }
}
