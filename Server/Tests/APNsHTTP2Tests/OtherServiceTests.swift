import APNsProtocol
import NIOCore
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

    @Test("requests that find no stream get connections of their own, although the others are answered as fast as they come")
    func connections() throws {
        let rig = try PoolRig(countsStreams: true)
        _ = try rig.warmLink(streamLimit: 10)
        for _ in 0..<35 { _ = rig.submit(Self.post()) }
        for _ in 0..<10 { rig.advance(.milliseconds(100)) }
        #expect(rig.links.count == 4)
    }
}
