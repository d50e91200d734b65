import CoreMetrics
import NIOCore
import NIOEmbedded
import NIOHTTP1
import ServerObservability
import ServiceErrors
import Testing

@testable import HTTPService

/// One guarded connection on an event loop whose time stands still until the test moves it.
private struct Connection {
    let channel = EmbeddedChannel()
    let metrics = PrometheusMetrics()
    let gate = OutboundGate()
    let reader = PartRecorder()
    let connection: ConnectionGuard

    init(acknowledged: @escaping () -> UInt64 = { 0 }) throws {
        connection = ConnectionGuard(limits: ConnectionLimits(), metrics: ConnectionMetrics(factory: metrics)) { channel in
            channel.eventLoop.makeSucceededFuture(acknowledged())
        }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers(gate, connection, HTTPResponseEncoder())
        try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
        try pipeline.addHandlers(RequestBoundaries(connection: connection), reader)
        try channel.connect(to: .init(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    /// Bytes arrive, and the channel asks for more, as a socket does by itself.
    func send(_ text: String) throws {
        try channel.writeInbound(ByteBuffer(string: text))
        channel.read()
    }

    func pass(_ seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

    func answer(_ body: String = "", ends: Bool = true) throws {
        channel.write(HTTPServerResponsePart.head(.init(version: .http1_1, status: .ok)), promise: nil)
        channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: body))), promise: nil)
        if ends { channel.write(HTTPServerResponsePart.end(nil), promise: nil) }
        channel.flush()
    }

    /// Everything that left so far.
    func output() throws -> String {
        var text = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
        return text
    }

    func stalls(_ reason: String) -> Bool {
        metrics.render().contains("clarion_http_connections_stalled_total{reason=\"\(reason)\"} 1")
    }
}

/// A client's receive window: what is flushed while it is shut stays in the channel.
private final class OutboundGate: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    var isShut = false

    func flush(context: ChannelHandlerContext) {
        if !isShut { context.flush() }
    }
}

/// The server's end: what arrives there, and whether it wants more.
private final class PartRecorder: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    var errors: [any Error] = []
    var heads: [HTTPRequestHead] = []
    var wantsMore = true

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) { heads.append(head) }
    }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { errors.append(error) }

    func read(context: ChannelHandlerContext) {
        if wantsMore { context.read() }
    }
}

@Suite("A connection with a slow client")
struct ConnectionGuardTests {
    @Test("is answered 408 and closed when a head takes longer than 10 seconds from its first byte, however it drips")
    func dripsHead() throws {
        let client = try Connection()
        client.pass(30)
        for byte in "GET / HTT" {
            try client.send(String(byte))
            client.pass(1)
        }
        #expect(client.channel.isActive)
        client.pass(1)
        #expect(!client.channel.isActive)
        #expect(try client.output().hasPrefix("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"))
        #expect(client.stalls("head"))
    }

    @Test("that asks for another protocol is answered in this one, and learns that the connection ends")
    func otherProtocol() throws {
        let client = try Connection()
        try client.send("GET /1 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n")
        #expect(client.reader.heads.last?.headers["connection"] == ["close"])
        try client.answer("here")
        let output = try client.output()
        #expect(output.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(output.contains("connection: close\r\n"))
    }

    @Test("has the same time for the head of every later request, and none for empty lines between them")
    func laterHeads() throws {
        let client = try Connection()
        try client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
        try client.answer()
        try client.send("\r\n")
        client.pass(40)
        #expect(client.channel.isActive)
        try client.send("GET /2")
        client.pass(9)
        try client.send(" HTTP/1.1\r\nHost: a\r\n\r\n")
        try client.answer()
        client.pass(40)
        #expect(client.channel.isActive)
        try client.send("GET /3")
        client.pass(10)
        #expect(!client.channel.isActive)
    }

    @Test("may begin its next head during a long answer; the time for it starts when that has ended")
    func earlyHead() throws {
        let client = try Connection()
        try client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
        try client.answer("part", ends: false)
        try client.send("GET /2")
        client.pass(60)
        #expect(client.channel.isActive)
        client.channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
        client.pass(9)
        #expect(client.channel.isActive)
        client.pass(1)
        #expect(!client.channel.isActive)
    }

    @Test("gets no second answer when the body breaks the protocol after the first one, and is closed a little later")
    func breaksAnsweredBody() throws {
        let client = try Connection()
        try client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        try client.answer("first")
        try client.send("zz\r\n\r\n")
        #expect(client.reader.errors.count == 1)
        try client.answer("second")
        #expect(try client.output().matches(of: #/HTTP/1/#).count == 1)
        #expect(client.metrics.render().contains("clarion_http_connections_malformed_total{reason=\"body\"} 1"))
        #expect(client.channel.isActive)
        client.pass(2)
        #expect(!client.channel.isActive)
    }

    @Test("gets the rest of an answer that has begun when the body breaks the protocol, and nothing after it")
    func breaksBodyMeanwhile() throws {
        let client = try Connection()
        try client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        try client.answer("part", ends: false)
        try client.send("zz\r\n\r\n")
        client.channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: "rest"))), promise: nil)
        client.channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
        try client.answer("second")
        let output = try client.output()
        #expect(output.contains("rest"))
        #expect(!output.contains("second"))
    }

    @Test("gets one answer to a head that breaks the protocol, and is counted")
    func breaksHead() throws {
        let client = try Connection()
        try client.send("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
        try client.answer("first")
        try client.answer("second")
        let output = try client.output()
        #expect(output.contains("first"))
        #expect(!output.contains("second"))
        #expect(client.metrics.render().contains("clarion_http_connections_malformed_total{reason=\"head\"} 1"))
    }

    @Test("learns that its body is late by the request's own answer, and is closed a little later")
    func dripsBody() throws {
        let client = try Connection()
        try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
        for _ in 1...20 {
            #expect(client.reader.errors.isEmpty)
            try client.send("x")
            client.pass(1)
        }
        let error = try #require(client.reader.errors.first as? ServiceError)
        #expect(error.code == .requestTimeout)
        #expect(client.reader.errors.count == 1)
        #expect(client.channel.isActive)
        client.pass(2)
        #expect(!client.channel.isActive)
        #expect(client.stalls("body"))
    }

    @Test("keeps an upload that is slow and steady")
    func slowUpload() throws {
        let client = try Connection()
        try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
        for _ in 1...97 {
            try client.send(String(repeating: "x", count: 1_024))
            client.pass(19)
        }
        try client.send(String(repeating: "x", count: 100_000 - 97 * 1_024))
        client.pass(100)
        #expect(client.channel.isActive)
        #expect(client.reader.errors.isEmpty)
    }

    @Test("is not blamed for time in which the server did not read")
    func serverIsSlow() throws {
        let client = try Connection()
        try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
        client.pass(15)
        client.reader.wantsMore = false
        try client.send("x")
        client.pass(300)
        #expect(client.reader.errors.isEmpty)
        client.reader.wantsMore = true
        client.channel.read()
        client.pass(4)
        #expect(client.reader.errors.isEmpty)
        client.pass(1)
        #expect(client.reader.errors.count == 1)
    }
}

@Suite("A connection whose client does not read")
struct WriteStallTests {
    @Test("is closed when nothing of an answer leaves for 30 seconds")
    func stalls() throws {
        let client = try Connection()
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        client.gate.isShut = true
        try client.answer("a picture")
        client.pass(29)
        #expect(client.channel.isActive)
        client.pass(1)
        #expect(!client.channel.isActive)
        #expect(client.stalls("write"))
    }

    @Test("stays open while it takes a little every 29 seconds")
    func slowAndSteady() throws {
        let client = try Connection()
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        client.gate.isShut = true
        try client.answer("first", ends: false)
        for _ in 1...20 {
            client.pass(29)
            client.gate.isShut = false
            client.channel.flush()
            client.gate.isShut = true
            client.channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: "more"))), promise: nil)
        }
        #expect(client.channel.isActive)
        client.pass(60)
        #expect(!client.channel.isActive)
    }

    @Test("stays open while the kernel's own buffer still drains, although the process gets nothing rid")
    func acknowledged() throws {
        nonisolated(unsafe) var bytes: UInt64 = 0  // One thread: the embedded loop runs on the test's own.
        let client = try Connection { bytes }
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        client.gate.isShut = true
        try client.answer("a picture")
        for _ in 1...20 {
            client.pass(29)
            bytes += 1_460
        }
        #expect(client.channel.isActive)
        client.pass(60)
        #expect(!client.channel.isActive)
    }

    @Test("may wait without limit for an answer that the server has not begun")
    func longPoll() throws {
        let client = try Connection()
        try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        client.pass(100_000)
        #expect(client.channel.isActive)
    }
}

@Suite("A client that asks before it sends its body")
struct ContinueTests {
    private let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n"

    private func ask(_ client: Connection) throws -> String {
        client.channel.triggerUserOutboundEvent(WantsBody(), promise: nil)
        return try client.output()
    }

    @Test("gets one 100 Continue when the body is wanted, and has its time for the body from then")
    func goesOn() throws {
        let client = try Connection()
        try client.send(head)
        client.pass(300)
        #expect(try client.output().isEmpty)
        #expect(try ask(client) == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(try ask(client).isEmpty)
        client.pass(19)
        #expect(client.reader.errors.isEmpty)
        client.pass(1)
        #expect(client.reader.errors.count == 1)
    }

    @Test("gets none after its answer, nor when it did not wait, nor when it did not ask")
    func getsNoContinue() throws {
        let answered = try Connection()
        try answered.send(head)
        try answered.answer()
        _ = try answered.output()
        #expect(try ask(answered).isEmpty)

        let hasty = try Connection()
        try hasty.send(head + "x")
        #expect(try ask(hasty).isEmpty)

        let plain = try Connection()
        try plain.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n")
        #expect(try ask(plain).isEmpty)

        let old = try Connection()
        try old.send(head.replacing("HTTP/1.1", with: "HTTP/1.0"))
        #expect(try ask(old).isEmpty)
    }
}
