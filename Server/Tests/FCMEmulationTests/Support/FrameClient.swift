import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL

/// A client of HTTP/2 that shows each frame of the service, which no client of whole answers does.
final class FrameClient: Sendable {
    enum Seen: Sendable, Equatable {
        case headers(stream: Int, status: String)
        case data(stream: Int, text: String, ends: Bool)
        case reset(stream: Int, code: Int)
        case goAway(last: Int)
        case closed
    }

    private let channel: any Channel
    /// What came, without frames about the connection alone.
    let frames: AsyncStream<Seen>

    private init(channel: any Channel, frames: AsyncStream<Seen>) { (self.channel, self.frames) = (channel, frames) }

    static func connect(to running: RunningFCM) async throws -> FrameClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(running.authorityPEM.utf8)))
        tls.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: tls)
        let (frames, continuation) = AsyncStream.makeStream(of: Seen.self)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: "localhost"))
                    try pipeline.addHandler(NIOHTTP2Handler(mode: .client))
                    try pipeline.addHandler(FrameWatcher(continuation))
                }
            }.connect(host: "127.0.0.1", port: running.port).get()
        return FrameClient(channel: channel, frames: frames)
    }

    /// Sends a whole request on a stream.
    func send(_ running: RunningFCM, stream: Int, path: String, body: String) async throws {
        let headers = HPACKHeaders([
            (":method", "POST"), (":scheme", "https"), (":path", path), (":authority", "localhost"),
            ("authorization", "Bearer \(running.bearer)"), ("content-type", "application/json"),
        ])
        let id = HTTP2StreamID(stream)
        channel.write(HTTP2Frame(streamID: id, payload: .headers(.init(headers: headers))), promise: nil)
        let data = HTTP2Frame.FramePayload.Data(data: .byteBuffer(ByteBuffer(string: body)), endStream: true)
        try await channel.writeAndFlush(HTTP2Frame(streamID: id, payload: .data(data)))
    }

    func close() async { try? await channel.close() }
}

private final class FrameWatcher: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private let seen: AsyncStream<FrameClient.Seen>.Continuation

    init(_ seen: AsyncStream<FrameClient.Seen>.Continuation) { self.seen = seen }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        let stream = Int(frame.streamID)
        switch frame.payload {
        case .headers(let content): seen.yield(.headers(stream: stream, status: content.headers.first(name: ":status") ?? ""))
        case .data(let content):
            guard case .byteBuffer(let buffer) = content.data else { return }
            seen.yield(.data(stream: stream, text: String(buffer: buffer), ends: content.endStream))
        case .rstStream(let code): seen.yield(.reset(stream: stream, code: code.networkCode))
        case .goAway(let last, _, _): seen.yield(.goAway(last: Int(last)))
        default: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        seen.yield(.closed)
        seen.finish()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
