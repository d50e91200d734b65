import APNsHTTP2
import APNsProtocol
import Logging
import NIOCore
import NIOPosix
import Testing

#if os(Linux)
    /// The half of complaint 14 that the system has to do: bytes that leave and are never acknowledged.
    @Suite("Peers that take nothing any more", .timeLimit(.minutes(10)))
    struct DeadPeerTests {
        private final class Greeter: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            typealias OutboundOut = ByteBuffer

            func channelActive(context: ChannelHandlerContext) {
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: [0, 0, 0, 4, 0, 0, 0, 0, 0])), promise: nil)
            }
        }

        /// Accepts, sends SETTINGS, and reads nothing: its small buffer is full at once, and then no byte is acknowledged.
        private func start() async throws -> any Channel {
            try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_rcvbuf), value: 4096)
                .childChannelOption(.autoRead, value: false)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Greeter()) }
                }
                .bind(host: "127.0.0.1", port: 0).get()
        }

        @Test("complaint 14: unacknowledged bytes end the connection, without a PING and long before the deadline")
        func unacknowledged() async throws {
            let server = try await start()
            var timing = APNsClientTiming()
            timing.unacknowledged = .seconds(1)
            timing.stallBeforePing = .seconds(600)
            timing.noAnswer = .seconds(600)
            timing.pushDeadline = .seconds(600)
            // A certificate's connection needs no warm-up, and in clear text the certificate is not used.
            let client = try APNsClient(
                configuration: APNsClientConfiguration(
                    environment: .sandbox, credential: .certificate(chain: "", privateKey: ""),
                    endpoint: .init(host: "127.0.0.1", port: server.localAddress?.port ?? 0), transport: .cleartext,
                    limits: APNsClientLimits(connections: 1, resends: 0), timing: timing, strictness: .wireOnly),
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
            let headers = APNsPush.Headers(topic: "com.example.app", pushType: .alert, priority: 10)
            let pushes = (0..<15).map { _ in
                APNsPush(
                    deviceToken: String(repeating: "0a", count: 32), headers: headers,
                    payload: [UInt8](repeating: 0x20, count: 4096))
            }
            let outcomes = await client.send(pushes)
            #expect(outcomes == Array(repeating: .unknown(.connectionClosed), count: 15))
            try await server.close()
            await client.shutdown(within: .seconds(1))
        }
    }
#endif
