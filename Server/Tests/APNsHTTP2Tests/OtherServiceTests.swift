import APNsProtocol
import Logging
import NIOCore
import NIOEmbedded
import NIOTLS
import Testing

@testable import APNsHTTP2

@Suite("Posts to another service than APNs")
struct OtherServiceTests {
    private static func post(_ body: String = "{}", keeping bytes: Int = 100) -> HTTP2Request {
        HTTP2Request(
            method: .post, path: "/v1/send", pathIndexing: .indexed,
            fields: [HTTP2Request.Field(name: "content-type", value: "application/json", indexing: .indexed)],
            body: Array(body.utf8),
            response: HTTP2Response(ofOtherService: bytes))
    }

    private static func head(_ stream: UInt32, status: Int, retryAfter: String? = nil) -> ByteBuffer {
        var block = ByteBuffer.headerBlock(status: status)
        if let retryAfter {
            block += [0x00, 11] + Array("retry-after".utf8) + [UInt8(retryAfter.utf8.count)] + Array(retryAfter.utf8)
        }
        return .frame(0x1, flags: 0x4, stream: stream, block)
    }

    private static func body(_ stream: UInt32, _ text: String) -> ByteBuffer {
        .frame(0x0, flags: 0x1, stream: stream, Array(text.utf8))
    }

    @Test("a refusal is handed over with its status, its pause and its body")
    func refusal() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(Self.post())
        try link.exchange()
        let stream = try #require(link.server.takeRequests().first).stream
        try link.say(Self.head(stream, status: 429, retryAfter: "17"), Self.body(stream, #"{"error":{}}"#))
        let content = try #require(submission.response?.content)
        #expect(submission.outcome(0)?.isAccepted == true)
        #expect(content.status == 429)
        #expect(content.retryAfter == "17")
        #expect(content.body == Array(#"{"error":{}}"#.utf8))
    }

    @Test("a word of APNs in the answer of another service does not end the use of a connection", arguments: [403, 503])
    func innocentConnection(status: Int) throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        _ = rig.submit(Self.post())
        try link.exchange()
        let stream = try #require(link.server.takeRequests().first).stream
        try link.say(Self.head(stream, status: status), Self.body(stream, #"{"reason":"ExpiredProviderToken"}"#))
        _ = rig.submit(Self.post())
        try link.exchange()
        #expect(link.server.takeRequests().count == 1)
        #expect(rig.links.count == 1)
    }

    @Test("no more of a body is kept than the caller takes")
    func longBody() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(Self.post(keeping: 10))
        try link.exchange()
        let stream = try #require(link.server.takeRequests().first).stream
        try link.say(Self.head(stream, status: 400), Self.body(stream, "0123456789abcdef"))
        #expect(submission.response?.content.body == Array("0123456789".utf8))
    }

    @Test("a body that does not end is cut off, and the status is the answer", arguments: [0, 100])
    func endlessBody(kept: Int) throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(Self.post(keeping: kept))
        try link.exchange()
        let stream = try #require(link.server.takeRequests().first).stream
        let part = ByteBuffer.frame(0x0, stream: stream, Array(repeating: 0x78, count: 16_000))
        try link.say(Self.head(stream, status: 201), part)
        #expect(submission.outcome(0) == nil)
        try link.say(part, part, part)
        #expect(submission.outcome(0)?.isAccepted == true)
        #expect(submission.response?.content.status == 201)
        #expect(submission.response?.content.body.count == kept)
        try link.exchange()
        #expect(link.server.takeFrames() == [.resetStream(stream: stream, code: .cancel)])
        _ = rig.submit(Self.post())
        try link.exchange()
        #expect(link.server.takeRequests().count == 1, "the connection goes on")
    }

    @Test("path and headers are written once, and then named by their place in the table")
    func recurringFields() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        var sizes: [Int] = []
        for _ in 0..<2 {
            _ = rig.submit(Self.post())
            let bytes = try #require(try link.channel.readOutbound(as: ByteBuffer.self))
            sizes.append(bytes.readableBytes)
            try link.server.read(bytes)
        }
        let requests = link.server.takeRequests()
        #expect(requests.map { $0.value(":path") } == ["/v1/send", "/v1/send"])
        #expect(requests.map { $0.value("content-type") } == ["application/json", "application/json"])
        #expect(sizes[1] < sizes[0] - 10)
    }

    @Test("the status is known as soon as it came, although the connection ends before the body")
    func brokenBody() throws {
        let rig = try PoolRig()
        let link = try rig.warmLink()
        let submission = rig.submit(Self.post())
        try link.exchange()
        let stream = try #require(link.server.takeRequests().first).stream
        try link.say(Self.head(stream, status: 200))
        link.channel.pipeline.fireChannelInactive()
        rig.advance(.milliseconds(1))
        #expect(submission.outcome(0) == .unknown(.connectionClosed))
        #expect(submission.response?.content.status == 200)
    }

    @Test(
        "where any server may be, what waits ends as soon as no connection can be made; elsewhere it waits",
        arguments: [true, false])
    func anyServer(isAny: Bool) throws {
        let rig = try PoolRig(authorityOfAnyServer: isAny ? "push.example.net" : nil)
        rig.isReachable = false
        let submission = rig.submit(Self.post())
        rig.advance(.milliseconds(1))
        #expect(submission.outcome(0) == (isAny ? .notSent(.unreachable) : nil))
    }

    @Test("a connection that cannot be made beside another one ends nothing that waits")
    func secondConnection() throws {
        let rig = try PoolRig(countsStreams: true, authorityOfAnyServer: "push.example.net")
        let link = try rig.warmLink(streamLimit: 1)
        rig.isReachable = false
        let submissions = [rig.submit(Self.post()), rig.submit(Self.post())]
        rig.advance(.seconds(1))
        #expect(rig.metrics.connectFailures > 0)
        #expect(submissions.map { $0.outcome(0) } == [nil, nil])
        try link.exchange()
        try link.say(.success(try #require(link.server.takeRequests().first).stream))
        try link.exchange()
        #expect(link.server.takeRequests().count == 1)
    }

    @Test(
        "a server whose certificate has another name gets nothing, whichever protocol it chooses", arguments: ["h2", "http/1.1"])
    func otherName(choice: String) throws {
        let rig = try PoolRig(authorityOfAnyServer: "push.example.net", expectedName: "push.example.net")
        let submission = rig.submit(Self.post())
        let link = try #require(rig.links.first)
        link.channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: choice))
        rig.advance(.milliseconds(1))
        #expect(submission.outcome(0) == .notSent(.tlsFailed))
    }

    @Test("what comes after the server chose another protocol ends without a pause and without a further connection")
    func afterOtherProtocol() throws {
        let rig = try PoolRig(authorityOfAnyServer: "push.example.net")
        let first = rig.submit(Self.post())
        let link = try #require(rig.links.first)
        link.channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: "http/1.1"))
        rig.advance(.milliseconds(1))
        #expect(first.outcome(0) == .notSent(.otherProtocol))
        #expect(rig.submit(Self.post()).outcome(0) == .notSent(.otherProtocol))
        rig.advance(.seconds(5))
        #expect(rig.links.count == 1)
    }

    @Test("a request that any server wants by HTTP/1.1 was not processed; APNs has no such right", arguments: [true, false])
    func resetForHTTP1(isAny: Bool) throws {
        let rig = try PoolRig(authorityOfAnyServer: isAny ? "push.example.net" : nil)
        let link = try rig.warmLink()
        let submission = rig.submit(Self.post())
        try link.exchange()
        try link.say(.reset(try #require(link.server.takeRequests().first).stream, .http11Required))
        #expect(submission.outcome(0) == (isAny ? .notSent(.otherProtocol) : .unknown(.streamReset)))
    }

    @Test("requests that a connection leaves because the server wants HTTP/1.1 go over no other one")
    func goAwayForHTTP1() throws {
        let rig = try PoolRig(authorityOfAnyServer: "push.example.net")
        let link = try rig.warmLink()
        let submission = rig.submit(Self.post())
        try link.exchange()
        try link.say(.goAway(last: 1, code: .http11Required))
        #expect(submission.outcome(0) == .notSent(.otherProtocol))
        #expect(rig.submit(Self.post()).outcome(0) == .notSent(.otherProtocol))
        rig.advance(.seconds(5))
        #expect(rig.links.count == 1)
    }

    @Test("a server that is silent in the handshake does not keep requests longer than one attempt")
    func silentHandshake() throws {
        let rig = try PoolRig(authorityOfAnyServer: "push.example.net")
        let submission = rig.submit(Self.post())
        rig.advance(.seconds(4))
        #expect(rig.links.count == 2, "one is tried beside the one that hangs")
        #expect(submission.outcome(0) == nil)
        rig.advance(.seconds(7))
        #expect(submission.outcome(0) == .notSent(.unreachable))
    }

    @Test("a request names the authority, with its port")
    func authority() throws {
        let rig = try PoolRig(authorityOfAnyServer: "push.example.net:8443")
        let link = try rig.warmLink()
        _ = rig.submit(Self.post())
        try link.exchange()
        #expect(link.server.takeRequests().map { $0.value(":authority") } == ["push.example.net:8443"])
    }

    @Test("what a connection that ends in order has not processed goes over the next one")
    func orderlyEnd() throws {
        let rig = try PoolRig(authorityOfAnyServer: "push.example.net")
        let link = try rig.warmLink()
        let submission = rig.submit(Self.post())
        try link.exchange()
        try link.say(.goAway(last: 1))
        rig.advance(.seconds(2))
        let next = try #require(rig.links.last)
        #expect(next !== link)
        try next.say(.streamLimit(100))
        try next.exchange()
        try next.say(.success(try #require(next.server.takeRequests().first).stream))
        #expect(submission.outcome(0)?.isAccepted == true)
    }

    @Test("a reason of APNs in the GOAWAY of another service does not stop its client", arguments: [true, false])
    func innocentGoAway(isOfAPNs: Bool) throws {
        let rig = try PoolRig(isOfAPNs: isOfAPNs)
        let link = try rig.warmLink()
        try link.say(.goAway(last: 1, debug: "InvalidProviderToken"))
        let submission = rig.submit(Self.post())
        rig.advance(.seconds(2))
        guard !isOfAPNs else { return #expect(submission.outcome(0) == .notSent(.credentialRefused)) }
        #expect(rig.metrics.lastGoAwayReason == nil)
        let next = try #require(rig.links.last)
        #expect(next !== link)
        try next.say(.streamLimit(100))
        try next.exchange()
        try next.say(.success(try #require(next.server.takeRequests().first).stream))
        #expect(submission.outcome(0)?.isAccepted == true)
    }

    @Test(
        "a service that refuses a stream gets its request once more, whether it answers others or none", arguments: [true, false])
    func refusedStreams(answersOthers: Bool) throws {
        let rig = try PoolRig(limits: HTTP2PostClient.limits(connections: 2), isOfAPNs: false)
        let link = try rig.warmLink()
        if !answersOthers { rig.advance(.seconds(1)) }
        let submission = rig.submit(Self.post())
        for stream in [UInt32(3), 5] {
            #expect(submission.outcome(0) == nil)
            try link.exchange()
            #expect(link.server.takeRequests().map(\.stream) == [stream])
            try link.say(.reset(stream, .refusedStream))
        }
        #expect(submission.outcome(0) == .notSent(.refusedStream))
        try link.exchange()
        #expect(link.server.takeRequests().isEmpty)
    }

    @Test("the path is a secret where another party named it, and a header that varies stays out of the table")
    func secretPath() throws {
        let client = try HTTP2PostClient(
            toAny: .init(host: "192.0.2.1", serverName: "push.example.net"), authority: "push.example.net",
            security: try HTTP2PostSecurity(.system), connections: 1, eventLoopGroup: EmbeddedEventLoop(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let request = client.request([], to: "/push/secret", headers: [("ttl", "60"), ("topic", "a")])
        #expect(request.pathIndexing == .never)
        #expect(request.fields.map(\.indexing) == [.indexed, .nameOnly])
    }

    @Test("requests that find no stream get connections of their own, although the others are answered as fast as they come")
    func connections() throws {
        let rig = try PoolRig(countsStreams: true)
        _ = try rig.warmLink(streamLimit: 10)
        for _ in 0..<35 { _ = rig.submit(Self.post()) }
        for _ in 0..<10 { rig.advance(.milliseconds(100)) }
        #expect(rig.links.count == 4)
    }
}
