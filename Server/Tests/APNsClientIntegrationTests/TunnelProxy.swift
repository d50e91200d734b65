import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// An HTTP proxy for tests: answers CONNECT, leads every tunnel to one port of this machine, and keeps what it was asked.
final class TunnelProxy: Sendable {
    let port: Int
    private let channel: any Channel
    private let heads: NIOLockedValueBox<[String]>
    private let tape: NIOLockedValueBox<TunnelTape>?

    /// - Parameter isRecording: keep what passes through the tunnels, see `recording`.
    /// - Parameter answer: what is said to a request, before the tunnel stands if it begins with `HTTP/1.1 2`.
    init(
        to target: Int, isRecording: Bool = false,
        answer: @escaping @Sendable (String) -> String = { _ in "HTTP/1.1 200 OK\r\n\r\n" }
    ) async throws {
        let tape = isRecording ? NIOLockedValueBox(TunnelTape()) : nil
        self.tape = tape
        let heads = NIOLockedValueBox<[String]>([])
        self.heads = heads
        let tunnels = NIOLockedValueBox(0)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let tunnel = tunnels.withLockedValue { tunnels in
                        tunnels += 1
                        return tunnels
                    }
                    try channel.pipeline.syncOperations.addHandler(
                        Entrance(target: target, tunnel: tunnel, heads: heads, tape: tape, answer: answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    /// What was asked, each head as it came.
    var requests: [String] { heads.withLockedValue { $0 } }

    /// What passed, in the order of passing.
    var recording: TunnelTape { tape?.withLockedValue { $0 } ?? TunnelTape() }

    private static func note(_ side: TunnelTape.Side, _ bytes: ByteBuffer, _ tunnel: Int, on tape: NIOLockedValueBox<TunnelTape>?)
    {
        tape?.withLockedValue { $0.note(side, Array(bytes.readableBytesView), connection: tunnel) }
    }

    func shutdown() async { try? await channel.close() }

    private final class Entrance: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        let target: Int
        let tunnel: Int
        let heads: NIOLockedValueBox<[String]>
        let tape: NIOLockedValueBox<TunnelTape>?
        let answer: @Sendable (String) -> String
        private var head = ""
        private var waiting: [ByteBuffer] = []
        private var peer: (any Channel)?
        private var isAnswered = false

        init(
            target: Int, tunnel: Int, heads: NIOLockedValueBox<[String]>, tape: NIOLockedValueBox<TunnelTape>?,
            answer: @escaping @Sendable (String) -> String
        ) {
            self.tape = tape
            self.target = target
            self.tunnel = tunnel
            self.heads = heads
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            if let peer {
                TunnelProxy.note(.client, bytes, tunnel, on: tape)
                return peer.writeAndFlush(bytes, promise: nil)
            }
            guard !isAnswered else { return waiting.append(bytes) }
            head += String(buffer: bytes)
            guard head.hasSuffix("\r\n\r\n") else { return }
            isAnswered = true
            heads.withLockedValue { $0.append(head) }
            let words = answer(head)
            guard words.hasPrefix("HTTP/1.1 2") else { return say(words, context.channel) }
            lead(context.channel, words)
        }

        private func lead(_ channel: any Channel, _ words: String) {
            let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
            let tape = tape
            let tunnel = tunnel
            ClientBootstrap(group: channel.eventLoop)
                .channelInitializer { far in
                    far.eventLoop.makeCompletedFuture {
                        try far.pipeline.syncOperations.addHandler(Exit(near: channel, tunnel: tunnel, tape: tape))
                    }
                }
                .connect(host: "127.0.0.1", port: target).whenSuccess { far in
                    bound.value.peer = far
                    bound.value.say(words, channel)
                    for bytes in bound.value.waiting {
                        TunnelProxy.note(.client, bytes, tunnel, on: tape)
                        far.writeAndFlush(bytes, promise: nil)
                    }
                }
        }

        private func say(_ words: String, _ channel: any Channel) {
            channel.writeAndFlush(ByteBuffer(string: words), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { peer?.close(promise: nil) }
    }

    private final class Exit: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let near: any Channel
        let tunnel: Int
        let tape: NIOLockedValueBox<TunnelTape>?

        init(near: any Channel, tunnel: Int, tape: NIOLockedValueBox<TunnelTape>?) {
            self.near = near
            self.tunnel = tunnel
            self.tape = tape
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            TunnelProxy.note(.server, bytes, tunnel, on: tape)
            near.writeAndFlush(bytes, promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { near.close(promise: nil) }
    }
}
