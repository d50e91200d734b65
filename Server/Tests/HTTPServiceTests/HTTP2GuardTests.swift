import NIOCore
import NIOEmbedded
import NIOHTTP2
import NIOTLS
import ServerObservability
import ServiceErrors
import Testing

@testable import HTTPService

/// One guarded stream on an event loop whose time stands still until the test moves it.
private struct Stream {
    let channel = EmbeddedChannel()
    let metrics = PrometheusMetrics()
    let window = StreamWindow()
    let reader = StreamReader()

    init(acknowledged: @escaping () -> UInt64 = { 0 }) throws {
        let guarding = HTTP2StreamGuard(limits: ConnectionLimits(), metrics: ConnectionMetrics(factory: metrics)) { channel in
            channel.eventLoop.makeSucceededFuture(acknowledged())
        }
        try channel.pipeline.syncOperations.addHandlers(window, guarding, reader)
        try channel.connect(to: .init(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    func head(ends: Bool = false) throws {
        try channel.writeInbound(
            HTTP2Frame.FramePayload.headers(.init(headers: [":method": "POST", ":path": "/"], endStream: ends)))
        channel.read()
    }

    func body(_ count: Int, ends: Bool = false) throws {
        let bytes = IOData.byteBuffer(ByteBuffer(repeating: 1, count: count))
        try channel.writeInbound(HTTP2Frame.FramePayload.data(.init(data: bytes, endStream: ends)))
        channel.read()
    }

    func answer(_ count: Int) {
        channel.write(HTTP2Frame.FramePayload.headers(.init(headers: [":status": "200", "connection": "close"])), promise: nil)
        let bytes = IOData.byteBuffer(ByteBuffer(repeating: 1, count: count))
        channel.write(HTTP2Frame.FramePayload.data(.init(data: bytes, endStream: true)), promise: nil)
        channel.flush()
    }

    func pass(_ seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

    func stalls(_ reason: String) -> Bool {
        metrics.render().contains("clarion_http_connections_stalled_total{reason=\"\(reason)\"} 1")
    }
}

/// A client's window: what is written while it is shut waits.
private final class StreamWindow: ChannelOutboundHandler {
    typealias OutboundIn = HTTP2Frame.FramePayload
    var isShut = false
    var waiting: [(NIOAny, EventLoopPromise<Void>?)] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isShut { waiting.append((data, promise)) } else { context.write(data, promise: promise) }
    }

    func open(_ channel: EmbeddedChannel) {
        isShut = false
        for (_, promise) in waiting { promise?.succeed() }
        waiting = []
    }
}

private final class StreamReader: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    var errors: [any Error] = []
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
    func errorCaught(context: ChannelHandlerContext, error: any Error) { errors.append(error) }
}

@Suite("The limits of HTTP/2")
struct HTTP2GuardTests {
    @Test("a body that is late ends in request-timeout, and the stream after a time to answer")
    func lateBody() throws {
        let stream = try Stream()
        try stream.head()
        stream.pass(19)
        try stream.body(100)
        #expect(stream.reader.errors.isEmpty)
        stream.pass(1)
        #expect(stream.reader.errors.map { ($0 as? ServiceError)?.code } == [.requestTimeout])
        #expect(stream.stalls("body"))
        #expect(stream.channel.isActive)
        stream.pass(2)
        #expect(!stream.channel.isActive)
    }

    @Test("a body that brings enough in each span may take as long as it needs, and one that ended is not waited for")
    func steadyBody() throws {
        let stream = try Stream()
        try stream.head()
        for _ in 1...20 {
            stream.pass(15)
            try stream.body(1024)
        }
        try stream.body(1, ends: true)
        stream.pass(1000)
        #expect(stream.reader.errors.isEmpty)
        #expect(stream.channel.isActive)
        let empty = try Stream()
        try empty.head(ends: true)
        empty.pass(1000)
        #expect(empty.reader.errors.isEmpty)
    }

    @Test("an answer of which nothing is taken is cut off, unless the client acknowledges something")
    func stalledAnswer() throws {
        var acknowledged: UInt64 = 0
        let stream = try Stream(acknowledged: { acknowledged })
        try stream.head(ends: true)
        stream.window.isShut = true
        stream.answer(1000)
        for _ in 1...5 {
            stream.pass(29)
            acknowledged += 1
        }
        #expect(stream.channel.isActive)
        stream.pass(61)
        #expect(!stream.channel.isActive)
        #expect(stream.stalls("write"))
    }

    @Test("an answer that was taken leaves nothing to wait for")
    func takenAnswer() throws {
        let stream = try Stream()
        try stream.head(ends: true)
        stream.window.isShut = true
        stream.answer(1000)
        stream.pass(20)
        stream.window.open(stream.channel)
        stream.pass(1000)
        #expect(stream.channel.isActive)
        #expect(!stream.stalls("write"))
    }

    @Test("fields that HTTP/2 does not have are taken out of an answer")
    func fields() throws {
        let stream = try Stream()
        try stream.head(ends: true)
        stream.answer(1)
        guard case .headers(let answer)? = try stream.channel.readOutbound(as: HTTP2Frame.FramePayload.self) else {
            Issue.record("no head came")
            return
        }
        #expect(answer.headers.first(name: "connection") == nil)
        #expect(answer.headers.first(name: ":status") == "200")
    }

    @Test("a connection without a stream ends after the idle time, whatever its client says; with one it stays")
    func idle() throws {
        let channel = EmbeddedChannel()
        let guarding = HTTP2ConnectionGuard(limits: ConnectionLimits())
        try channel.pipeline.syncOperations.addHandler(guarding)
        try channel.connect(to: .init(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.embeddedEventLoop.advanceTime(by: .seconds(61))
        guarding.streamOpened()
        channel.embeddedEventLoop.advanceTime(by: .seconds(1000))
        guarding.streamClosed()
        channel.embeddedEventLoop.advanceTime(by: .seconds(61))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("a handshake that does not end is ended, and one that ended is left alone")
    func handshake() throws {
        for completes in [true, false] {
            let channel = EmbeddedChannel()
            let metrics = PrometheusMetrics()
            try channel.pipeline.syncOperations.addHandler(
                HandshakeDeadline(limit: .seconds(10), metrics: ConnectionMetrics(factory: metrics)))
            try channel.connect(to: .init(ipAddress: "127.0.0.1", port: 1)).wait()
            if completes {
                channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: "h2"))
            }
            channel.embeddedEventLoop.advanceTime(by: .seconds(10))
            #expect(channel.isActive == completes)
        }
    }
}
