import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// An HTTP proxy for tests: answers CONNECT, leads every tunnel to one port of this machine, and keeps what it was asked.
final class TunnelProxy: Sendable {
    let port: Int
    private let channel: any Channel
    private let heads: NIOLockedValueBox<[String]>
    private let tape: NIOLockedValueBox<[UInt8]>?

    /// - Parameter isRecording: keep what passes through the tunnels, see `recording`.
    /// - Parameter answer: what is said to a request, before the tunnel stands if it begins with `HTTP/1.1 2`.
    init(
        to target: Int, isRecording: Bool = false,
        answer: @escaping @Sendable (String) -> String = { _ in "HTTP/1.1 200 OK\r\n\r\n" }
    ) async throws {
        let tape = isRecording ? NIOLockedValueBox<[UInt8]>([]) : nil
        self.tape = tape
        let heads = NIOLockedValueBox<[String]>([])
        self.heads = heads
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Entrance(target: target, heads: heads, tape: tape, answer: answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    /// What was asked, each head as it came.
    var requests: [String] { heads.withLockedValue { $0 } }

    /// What passed: pieces of one byte `c` or `s` for who spoke, four bytes of length, and the bytes, in the order of passing.
    var recording: [UInt8] { tape?.withLockedValue { $0 } ?? [] }

    private static func note(_ side: Character, _ bytes: ByteBuffer, on tape: NIOLockedValueBox<[UInt8]>?) {
        guard let tape, let mark = side.asciiValue else { return }
        let count = UInt32(bytes.readableBytes)
        tape.withLockedValue { tape in
            tape.append(mark)
            for shift in [24, 16, 8, 0] { tape.append(UInt8(truncatingIfNeeded: count >> UInt32(shift))) }
            tape.append(contentsOf: bytes.readableBytesView)
        }
    }

    func shutdown() async { try? await channel.close() }

    private final class Entrance: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        let target: Int
        let heads: NIOLockedValueBox<[String]>
        let tape: NIOLockedValueBox<[UInt8]>?
        let answer: @Sendable (String) -> String
        private var head = ""
        private var waiting: [ByteBuffer] = []
        private var peer: (any Channel)?
        private var isAnswered = false

        init(
            target: Int, heads: NIOLockedValueBox<[String]>, tape: NIOLockedValueBox<[UInt8]>?,
            answer: @escaping @Sendable (String) -> String
        ) {
            self.tape = tape
            self.target = target
            self.heads = heads
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            if let peer {
                TunnelProxy.note("c", bytes, on: tape)
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
            ClientBootstrap(group: channel.eventLoop)
                .channelInitializer { far in
                    far.eventLoop.makeCompletedFuture {
                        try far.pipeline.syncOperations.addHandler(Exit(near: channel, tape: tape))
                    }
                }
                .connect(host: "127.0.0.1", port: target).whenSuccess { far in
                    bound.value.peer = far
                    bound.value.say(words, channel)
                    for bytes in bound.value.waiting {
                        TunnelProxy.note("c", bytes, on: tape)
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
        let tape: NIOLockedValueBox<[UInt8]>?

        init(near: any Channel, tape: NIOLockedValueBox<[UInt8]>?) {
            self.near = near
            self.tape = tape
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            TunnelProxy.note("s", bytes, on: tape)
            near.writeAndFlush(bytes, promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { near.close(promise: nil) }
    }
}
