import Foundation
import NIOCore
import NIOPosix
import Testing

/// A stop that is asked for while a client keeps a request open.
struct GracefulStopTests {
    @Test("the dispatcher stops on request, not when the last request has ended, and the stop is a clean one")
    func openRequest() async throws {
        try await TemporaryFolder.use { folder in
            let fleet = try await Fleet(folder: folder, size: 1)
            var options = fleet.options
            (options.logLevel, options.shutdownDeadline) = ("info", "60s")
            let server = try await ServerProcess(options)
            let client = try await openUpload(at: server.address, password: fleet.password)
            server.askToStop()
            _ = try await eventually("the dispatcher stops", within: .seconds(40)) {
                server.printed.contains("The dispatcher has stopped") ? true : nil
            }
            #expect(server.isRunning, "the request is still open")
            try await client.close()
            #expect(await server.terminate() == 0)
            await fleet.apns.shutdown()
        }
    }

    /// A request whose body the server has asked for and does not get.
    private func openUpload(at address: String, password: String) async throws -> any Channel {
        let port = try #require(URL(string: address)?.port)
        let answer = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: String.self)
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer { $0.pipeline.addHandler(FirstAnswer(answer)) }
            .connect(host: "127.0.0.1", port: port).get()
        let authorization = Data("ops:\(password)".utf8).base64EncodedString()
        let head = [
            "POST /api/v1/content HTTP/1.1", "Host: 127.0.0.1", "Content-Type: image/gif", "Content-Length: 1000",
            "Expect: 100-continue", "Authorization: Basic \(authorization)", "", "",
        ]
        try await channel.writeAndFlush(ByteBuffer(string: head.joined(separator: "\r\n")))
        #expect(try await answer.futureResult.get().hasPrefix("HTTP/1.1 100 "))
        return channel
    }
}

/// Reports the first bytes that come.
private final class FirstAnswer: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private struct Closed: Error {}

    private let answer: EventLoopPromise<String>

    init(_ answer: EventLoopPromise<String>) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { answer.succeed(String(buffer: unwrapInboundIn(data))) }

    func channelInactive(context: ChannelHandlerContext) { answer.fail(Closed()) }
}
