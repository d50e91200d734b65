import AppBackend
import ClarionTesting
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import SharedAccess
import Synchronization
import Testing

/// A webhook receiver. It verifies each request; a test makes it fail, hang or restart.
final class WebhookReceiver: Sendable {
    /// A request whose signature is right.
    struct Event: Sendable {
        var id: String
        var data: WebhookData
    }

    private struct State {
        var random: SeededGenerator
        var secret: WebhookSecret?
        var failing = 0
        var hangsOf100_000 = 0
        var requests = 0
        var forged = 0
        /// Those that were answered 204, in that order, repetitions included.
        var taken: [Event] = []
        var ids: Set<String> = []
        /// How often each event was answered 500.
        var failures: [String: Int] = [:]
    }

    private let state: Mutex<State>
    private let channel = Mutex<(any Channel)?>(nil)
    private let port = Mutex(0)

    init(seed: UInt64) { state = Mutex(State(random: SeededGenerator(seed: seed))) }

    var address: String { "http://127.0.0.1:\(port.withLock { $0 })/events" }
    var requests: Int { state.withLock { $0.requests } }
    var forged: Int { state.withLock { $0.forged } }
    var taken: [Event] { state.withLock { $0.taken } }
    /// How many different events were taken.
    var count: Int { state.withLock { $0.ids.count } }

    /// Verifies with this secret from now on; answers so many of a hundred requests with 500, and so many of 100,000 with nothing. No event
    /// is refused more than four times, since each time the server waits four times as long.
    func expect(_ secret: WebhookSecret, failing: Int, hangsOf100_000: Int) {
        state.withLock { ($0.secret, $0.failing, $0.hangsOf100_000) = (secret, failing, hangsOf100_000) }
    }

    /// Listens, after the first time on the same port.
    func start() async throws {
        let bound = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(receiver: self))
                }
            }
            .bind(host: "127.0.0.1", port: port.withLock { $0 }).get()
        port.withLock { $0 = bound.localAddress?.port ?? 0 }
        channel.withLock { $0 = bound }
    }

    /// Takes no new connection.
    func stop() async throws {
        try await channel.withLock { channel in
            defer { channel = nil }
            return channel
        }?.close().get()
    }

    /// The status of the answer; `nil` for none.
    fileprivate func take(_ headers: HTTPHeaders, _ body: [UInt8]) -> Int? {
        let id = headers.first(name: "webhook-id") ?? ""
        let seconds = headers.first(name: "webhook-timestamp").flatMap { Int64($0) } ?? 0
        struct Body: Decodable { var data: WebhookData }
        return state.withLock { state in
            state.requests += 1
            guard let signature = state.secret?.signature(id: id, seconds: seconds, body: body),
                headers.first(name: "webhook-signature") == signature,
                let data = try? JSONDecoder().decode(Body.self, from: Data(body)).data
            else {
                state.forged += 1
                return 400
            }
            if Int.random(in: 0..<100_000, using: &state.random) < state.hangsOf100_000 { return nil }
            if Int.random(in: 0..<100, using: &state.random) < state.failing, state.failures[id, default: 0] < 4 {
                state.failures[id, default: 0] += 1
                return 500
            }
            state.taken.append(Event(id: id, data: data))
            state.ids.insert(id)
            return 204
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let receiver: WebhookReceiver
        private var headers = HTTPHeaders()
        private var body: [UInt8] = []

        init(receiver: WebhookReceiver) { self.receiver = receiver }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): (headers, body) = (head.headers, [])
            case .body(let buffer): body += buffer.readableBytesView
            case .end:
                guard let status = receiver.take(headers, body) else { return }
                let head = HTTPResponseHead(
                    version: .http1_1, status: HTTPResponseStatus(statusCode: status),
                    headers: status == 204 ? [:] : ["content-length": "0"])
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
