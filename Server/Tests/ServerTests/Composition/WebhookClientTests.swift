import AppBackend
import ClarionTesting
import Foundation
import NIOCore
import NIOPosix
import RichPushModel
import SharedAccess
import Synchronization
import Testing

@testable import ServerComposition

/// The client on real sockets of this machine.
@Suite("The client of webhooks")
struct WebhookClientTests {
    private static let message = WebhookMessage(headers: [("webhook-id", "evt_1")], body: Array("{}".utf8))

    private static func networks(_ texts: String...) -> [AddressRange] { texts.compactMap { AddressRange($0) } }

    /// Accepts connections, gives each the answer as it stands, and counts.
    @discardableResult
    static func withServer<Result>(
        host: String = "127.0.0.1", answer: String, _ body: (Int, Received) async throws -> Result
    ) async throws -> Result {
        let counter = Received()
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Scripted(answer: answer, counter: counter))
                }
            }
            .bind(host: host, port: 0).get()
        let port = try #require(channel.localAddress?.port)
        let result = try await body(port, counter)
        try await channel.close().get()
        return result
    }

    private static func post(
        to url: String, allowing networks: [AddressRange], clock: any ServiceClock = .system
    ) async throws -> WebhookReply {
        let client = try WebhookClient(
            allowing: OutboundRule(networks: networks, setting: "webhook-networks"), trustRootsPath: nil, clock: clock,
            group: .singletonMultiThreadedEventLoopGroup)
        client.start()
        let connection = await client.connect(to: try #require(OutboundAddress(url)))
        let reply = await connection.post(message)
        await connection.close()
        client.shutDown()
        return reply
    }

    static func answer(_ status: String, _ headers: String = "", body: String = "") -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }

    @Test("an answer comes back with its status, its Retry-After and the beginning of its text")
    func answers() async throws {
        let long = String(repeating: "x", count: 3_000)
        try await Self.withServer(answer: Self.answer("503 Away", "Retry-After: 7\r\n", body: long)) { port, counter in
            let reply = try await Self.post(to: "http://127.0.0.1:\(port)/x?y=1", allowing: Self.networks("127.0.0.0/8"))
            #expect(reply == .status(503, retryAfter: 7, text: String(long.prefix(1_024))))
            let request = counter.text
            #expect(request.hasPrefix("POST /x?y=1 HTTP/1.1\r\n"))
            #expect(request.contains("webhook-id: evt_1\r\n") && request.hasSuffix("\r\n\r\n{}"))
        }
    }

    @Test("a redirection is an answer and is not followed")
    func redirected() async throws {
        try await Self.withServer(answer: Self.answer("200 OK")) { other, otherCounter in
            let away = Self.answer("307 Away", "Location: http://127.0.0.1:\(other)/\r\n")
            try await Self.withServer(answer: away) { port, _ in
                let reply = try await Self.post(to: "http://127.0.0.1:\(port)/", allowing: Self.networks("127.0.0.0/8"))
                #expect(reply == .status(307, retryAfter: nil, text: ""))
            }
            #expect(otherCounter.connections == 0)
        }
    }

    @Test(
        "an address that is not allowed gets no connection, whatever name stands for it",
        arguments: ["127.0.0.1", "localhost", "127.1", "0x7f000001"])
    func refused(_ host: String) async throws {
        try await Self.withServer(answer: Self.answer("200 OK")) { port, counter in
            for scheme in ["http", "https"] {
                let reply = try await Self.post(to: "\(scheme)://\(host):\(port)/", allowing: Self.networks("10.0.0.0/8"))
                guard case .unreachable(let reason) = reply else {
                    Issue.record("\(reply)")
                    continue
                }
                #expect(reason.contains("webhook-networks"))
            }
            #expect(counter.connections == 0)
        }
    }

    @Test("a name of the machine is looked up, and its receiver called at the address that was looked at")
    func lookedUp() async throws {
        try await Self.withServer(answer: Self.answer("204 Done")) { port, counter in
            // Where the name stands for the machine's IPv6 address too, nothing listens there, and either may be chosen.
            var reply = WebhookReply.unreachable("")
            for _ in 0..<30 where counter.connections == 0 {
                reply = try await Self.post(
                    to: "http://localhost:\(port)/", allowing: Self.networks("127.0.0.0/8", "::1/128"))
            }
            #expect(reply == .status(204, retryAfter: nil, text: ""))
            #expect(counter.text.lowercased().contains("host: localhost:\(port)\r\n"))
        }
    }

    @Test("what cannot be reached or breaks has a reason without an address")
    func unreachable() async throws {
        let allowed = Self.networks("127.0.0.0/8")
        var free = 0
        try await Self.withServer(answer: "") { port, _ in free = port }
        #expect(
            try await Self.post(to: "http://127.0.0.1:\(free)/", allowing: allowed)
                == .unreachable("nothing answers at the address"))
        #expect(
            try await Self.post(to: "https://no-such-host.invalid/", allowing: allowed) == .unreachable("the host has no address")
        )
        for garbage in ["nonsense\r\n\r\n", ""] {
            try await Self.withServer(answer: garbage) { port, _ in
                let reply = try await Self.post(to: "http://127.0.0.1:\(port)/", allowing: allowed)
                #expect(reply == .unreachable("the connection broke"))
            }
        }
        // The status has arrived, and it is what counts.
        try await Self.withServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab") { port, _ in
            let reply = try await Self.post(to: "http://127.0.0.1:\(port)/", allowing: allowed)
            #expect(reply == .status(200, retryAfter: nil, text: ""))
        }
        try await Self.withServer(answer: "HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n") { port, _ in
            let reply = try await Self.post(to: "https://127.0.0.1:\(port)/", allowing: allowed)
            guard case .unreachable = reply else {
                Issue.record("\(reply)")
                return
            }
        }
    }

    @Test("a receiver that says nothing is left after fifteen seconds, and one that ends no answer too")
    func silent() async throws {
        for answer in ["-", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n-"] {
            let clock = ManualClock()
            try await Self.withServer(answer: answer) { port, counter in
                async let reply = Self.post(
                    to: "http://127.0.0.1:\(port)/", allowing: Self.networks("127.0.0.0/8"), clock: clock)
                while counter.text.isEmpty { await Task.yield() }
                clock.advance(by: WebhookDispatcher.attemptTime)
                let found = try await reply
                #expect(found == .unreachable("no answer within 15 seconds"))
            }
        }
    }
}

/// What arrived at a server of a test.
final class Received: Sendable {
    private let state = Mutex((connections: 0, text: ""))

    var connections: Int { state.withLock { $0.connections } }
    var text: String { state.withLock { $0.text } }

    func connected() { state.withLock { $0.connections += 1 } }
    func received(_ text: String) { state.withLock { $0.text += text } }
}

/// Answers the first bytes of each connection with a text as it stands and closes, or with one that ends in `-` and waits.
private final class Scripted: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: String
    private let counter: Received
    private var bytes: [UInt8] = []
    private var hasAnswered = false

    init(answer: String, counter: Received) {
        self.answer = answer
        self.counter = counter
    }

    func channelActive(context: ChannelHandlerContext) { counter.connected() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let piece = unwrapInboundIn(data)
        bytes += piece.readableBytesView
        counter.received(String(buffer: piece))
        guard !hasAnswered, isWhole else { return }
        hasAnswered = true
        let waits = answer.hasSuffix("-")
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: waits ? String(answer.dropLast()) : answer)), promise: nil)
        if !waits { context.close(promise: nil) }
    }

    /// Whether a request has come with its body, or something that is no request.
    private var isWhole: Bool {
        guard bytes.starts(with: Array("POST".utf8)) else { return true }
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return false }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased().split(separator: "\r\n")
        let length = lines.first { $0.hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) } ?? 0
        return bytes.count - end.upperBound >= length
    }
}
