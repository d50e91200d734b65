import AsyncHTTPClient
import ClarionTesting
import NIOSSL
import PushHub
import RichPushModel
import ServiceErrors
import SharedAccess
import Testing
import WebPushDelivery
import WebPushProtocol
import WireText

@testable import ServerDelivery
@testable import ServerSettings

/// The client on real sockets of this machine.
@Suite("The client of push services")
struct WebPushClientTests {
    private static func request(_ url: String) throws -> WebPushRequest {
        let subscription = try WebPushSubscription(
            endpoint: url, publicKey: VAPIDKey().publicText, secret: Base64URL.text(of: Array(repeating: 7, count: 16)))
        let headers = WebPushHeaders(expiresAt: 0, priority: 10, collapseID: nil, now: Timestamp(seconds: 0))
        return try WebPushRequest(Array("hello".utf8), to: subscription, headers: headers, authorization: "vapid t=x, k=y")
    }

    /// Posts so many times with one client.
    private static func replies(
        from url: String, allowing networks: [String] = ["127.0.0.0/8"], count: Int = 1, within deadline: Duration = .seconds(20)
    ) async throws -> [WebPushReply] {
        var settings = Settings()
        settings.webPush.networks = networks.compactMap { AddressRange($0) }
        let client = try WebPushClient(settings.webPush, clock: .system, group: .singletonMultiThreadedEventLoopGroup)
        var replies: [WebPushReply] = []
        for _ in 0..<count { replies.append(await client.post(try request(url), within: deadline)) }
        await client.shutDown(within: .seconds(1))
        return replies
    }

    private static func status(_ reply: WebPushReply?) -> Int? {
        if case .answered(let answer) = reply { answer.status } else { nil }
    }

    @Test("an answer comes back with its status and its pause, each time")
    func answers() async throws {
        let answer = WebhookClientTests.answer("429 Slow", "Retry-After: 7\r\n", body: "{}")
        try await WebhookClientTests.withServer(answer: answer) { port, counter in
            let replies = try await Self.replies(from: "http://127.0.0.1:\(port)/p", count: 3)
            #expect(replies.map(Self.status) == [429, 429, 429])
            guard case .answered(let answer) = replies.first else { return }
            #expect(answer.pause == .seconds(7))
            #expect(counter.text.contains("content-encoding: aes128gcm"))
        }
    }

    @Test("only an error that comes before the request proves that it did not leave")
    func provenFailures() {
        #expect(OutboundFailure(NIOSSLError.unableToValidateCertificate).isBeforeSending)
        #expect(OutboundFailure(HTTPClientError.connectTimeout).isBeforeSending)
        #expect(!OutboundFailure(NIOSSLError.uncleanShutdown).isBeforeSending)
        #expect(!OutboundFailure(HTTPClientError.remoteConnectionClosed).isBeforeSending)
        #expect(!OutboundFailure(HTTPClientError.deadlineExceeded).isBeforeSending)
    }

    @Test("a push service whose connections are all in use has not got the push, and is not looked up anew")
    func busy() {
        let busy = OutboundFailure(HTTPClientError.getConnectionFromPoolTimeout)
        #expect(busy.isBeforeSending)
        #expect(!busy.isOutOfReach)
        #expect(busy.reason(late: "") == "no connection to the receiver became free")
        #expect(OutboundFailure(HTTPClientError.connectTimeout).isOutOfReach)
        #expect(!OutboundFailure(HTTPClientError.deadlineExceeded).isOutOfReach)
    }

    @Test("a hub's own pair comes first, and browsers that subscribed with the server's keys are still sent to")
    func ownPair() throws {
        let (own, node) = (VAPIDKey(), VAPIDKey())
        let pair = HubBrowserCredential(
            subject: "mailto:push@example.com", publicKey: own.publicText, privateKey: own.privateText)
        #expect(try VAPIDIdentity(pair, former: [node, own]).keys.map(\.id) == [own.id, node.id])
        #expect(throws: ServiceError.self) {
            _ = try VAPIDIdentity(.init(subject: pair.subject, publicKey: node.publicText, privateKey: own.privateText))
        }
    }

    @Test("a redirect is not followed")
    func redirect() async throws {
        let answer = WebhookClientTests.answer("307 There", "Location: http://127.0.0.1:1/\r\n")
        try await WebhookClientTests.withServer(answer: answer) { port, _ in
            let replies = try await Self.replies(from: "http://127.0.0.1:\(port)/p")
            #expect(replies.map(Self.status) == [307])
        }
    }

    @Test("a status counts also where the body never ends")
    func endlessBody() async throws {
        try await WebhookClientTests.withServer(answer: "HTTP/1.1 201 Created\r\nContent-Length: 50\r\n\r\n-") { port, _ in
            let replies = try await Self.replies(from: "http://127.0.0.1:\(port)/p")
            #expect(replies.map(Self.status) == [201])
        }
    }

    @Test("a push service that takes no connection has not got the push, and one that does not answer may have")
    func silence() async throws {
        let port = try await WebhookClientTests.withServer(answer: "-") { port, _ in
            let replies = try await Self.replies(from: "http://127.0.0.1:\(port)/p", within: .seconds(1))
            #expect(replies == [.unknown(reason: "no answer in time")])
            return port
        }
        let replies = try await Self.replies(from: "http://127.0.0.1:\(port)/p", count: 2)
        #expect(replies == Array(repeating: .notSent(reason: "nothing answers at the address"), count: 2))
    }

    @Test("a name that stands for an address of a private network is not called")
    func privateName() async throws {
        try await WebhookClientTests.withServer(answer: WebhookClientTests.answer("201 Created")) { port, counter in
            let replies = try await Self.replies(from: "https://localhost:\(port)/p", allowing: [])
            guard case .notAllowed = replies.first else {
                Issue.record("\(replies)")
                return
            }
            #expect(counter.text.isEmpty)
        }
    }
}
