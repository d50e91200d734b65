import APNsProtocol
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import APNsHTTP2

@Suite("The tunnel through a proxy")
struct APNsProxyHandlerTests {
    /// Notes what comes through to the handlers above.
    private final class Above: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        var isActive = false
        var text = ""
        var errors: [APNsProxyFault] = []

        func handlerAdded(context: ChannelHandlerContext) { isActive = context.channel.isActive }
        func channelRead(context: ChannelHandlerContext, data: NIOAny) { text += String(buffer: unwrapInboundIn(data)) }
    }

    private let loop = EmbeddedEventLoop()

    private func open(
        _ proxy: APNsProxy = APNsProxy(host: "proxy.example", port: 3128), host: String = "api.push.apple.com"
    ) throws -> (channel: EmbeddedChannel, above: Above) {
        let above = Above()
        let handler = APNsProxyHandler(
            target: APNsClientConfiguration.Endpoint(host: host, port: 443), proxy: proxy, limit: .seconds(10),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            opened: { try $0.pipeline.syncOperations.addHandler(above) }, failed: { above.errors.append($0) })
        let channel = EmbeddedChannel(handler: handler, loop: loop)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        return (channel, above)
    }

    private func say(_ text: String, to channel: EmbeddedChannel) {
        channel.pipeline.fireChannelRead(ByteBuffer(string: text))
        loop.run()
    }

    @Test("the proxy is given the name, not an address, and nothing else is heard before the tunnel stands")
    func tunnel() throws {
        let (channel, above) = try open()
        let asked = try #require(try channel.readOutbound(as: ByteBuffer.self))
        #expect(
            String(buffer: asked) == "CONNECT api.push.apple.com:443 HTTP/1.1\r\nHost: api.push.apple.com:443\r\n\r\n")
        #expect(!above.isActive)
        say("HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\nfirst bytes", to: channel)
        #expect(above.isActive)
        #expect(above.text == "first bytes")
        say(" and more", to: channel)
        #expect(above.text == "first bytes and more")
        loop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        #expect(above.errors.isEmpty)
    }

    @Test("credentials go to the proxy as Basic")
    func credentials() throws {
        let proxy = APNsProxy(host: "proxy.example", port: 3128, credentials: .init(user: "clarion", password: "open: sesame"))
        let asked = try #require(try open(proxy).channel.readOutbound(as: ByteBuffer.self))
        #expect(String(buffer: asked).contains("\r\nProxy-Authorization: Basic Y2xhcmlvbjpvcGVuOiBzZXNhbWU=\r\n"))
        #expect(!"\(proxy)".contains("sesame"))
    }

    @Test("an answer in single bytes is an answer")
    func split() throws {
        let (channel, above) = try open()
        for character in "HTTP/1.0 200 OK\r\n\r\n" { say(String(character), to: channel) }
        #expect(above.isActive)
    }

    @Test(
        "each refusal has its own word",
        arguments: [
            ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", APNsFailure.proxyUnauthorized),
            ("HTTP/1.1 403 Forbidden\r\n\r\n", .proxyRefused), ("SSH-2.0-OpenSSH\r\n\r\n", .proxyRefused),
            ("HTTP/1.1 99999 Odd\r\n\r\n", .proxyRefused), (String(repeating: "x", count: 9000), .proxyRefused),
        ])
    func refusals(answer: String, failure: APNsFailure) throws {
        let (channel, above) = try open()
        say(answer, to: channel)
        let error = try #require(above.errors.first)
        #expect(APNsFailure(connectionError: error, wasReady: false) == failure)
        #expect(above.errors.count == 1)
        #expect(!above.isActive)
        #expect(!channel.isActive)
    }

    @Test("a proxy that says nothing is given up at the deadline")
    func silence() throws {
        let (channel, above) = try open()
        loop.advanceTime(by: .seconds(10))
        #expect(above.errors.first == .noAnswer)
        #expect(!channel.isActive)
    }

    @Test("a proxy that hangs up is no success")
    func hangUp() throws {
        let (channel, above) = try open()
        channel.pipeline.fireChannelInactive()
        #expect(above.errors.first == .closed)
    }

    @Test("a proxy that cannot be used is refused by the configuration")
    func configuration() {
        #expect(APNsProxy(host: "proxy.example", port: 8080).isValid)
        #expect(!APNsProxy(host: "", port: 8080).isValid)
        #expect(!APNsProxy(host: "proxy.example\r\nX: y", port: 8080).isValid)
        #expect(!APNsProxy(host: "proxy.example", port: 0).isValid)
        #expect(!APNsProxy(host: "proxy.example", port: 1, credentials: .init(user: "a:b", password: "c")).isValid)
        #expect(!APNsProxy(host: "proxy.example", port: 1, credentials: .init(user: "a", password: "c\n")).isValid)
    }
}
