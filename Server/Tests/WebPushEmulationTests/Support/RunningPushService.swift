import AsyncHTTPClient
import ClarionTesting
import Logging
import NIOCore
import NIOPosix
import RichPushModel
import WebPushProtocol

@testable import WebPushEmulation

/// A local push service, in the process alone or with a port, and a sender for it.
struct RunningPushService {
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    let service: LocalWebPush
    let sender: TestSender
    let client: HTTPClient
    var port = 0

    /// A service without a port.
    static func inProcess(clock: any ServiceClock = ManualClock(), bounds: LocalWebPushBounds = LocalWebPushBounds())
        -> LocalWebPush
    {
        LocalWebPush(
            settings: LocalWebPushSettings(origin: PushServiceFixture.origin, bounds: bounds), clock: clock,
            group: MultiThreadedEventLoopGroup.singleton, logger: quiet, random: SeededGenerator(seed: 3))
    }

    /// Runs `body` with a service that listens, and shuts it down, whatever happens.
    static func run(
        port: Int = 0, kept: KeptPushService? = nil, sender: TestSender = TestSender(), clock: any ServiceClock = .system,
        _ body: (RunningPushService) async throws -> Void
    ) async throws {
        let service = LocalWebPush(
            settings: LocalWebPushSettings(port: port), clock: clock, group: MultiThreadedEventLoopGroup.singleton, logger: quiet)
        if let kept { try service.restore(kept) }
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.httpVersion = .http1Only
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let running = RunningPushService(service: service, sender: sender, client: client, port: try await service.start().port)
        let result: Result<Void, any Error>
        do { result = .success(try await body(running)) } catch { result = .failure(error) }
        await service.shutdown()
        try await client.shutdown()
        try result.get()
    }

    /// Connects a browser by WebSocket.
    func connect(_ browser: SimulatedBrowser = SimulatedBrowser()) async throws -> BrowserSession {
        try await BrowserSession.connect(
            browser, host: "127.0.0.1", port: port, group: MultiThreadedEventLoopGroup.singleton)
    }

    /// Posts a message with the product's encryption, and returns the status.
    func push(
        _ message: String, to subscription: WebPushSubscription, ttl: Int = 60, topic: String? = nil
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: subscription.endpoint.url)
        request.method = .POST
        request.headers = [
            "ttl": "\(ttl)", "content-encoding": "aes128gcm",
            "authorization": sender.authorization(now: SystemClock().now, origin: "http://127.0.0.1:\(port)"),
        ]
        if let topic { request.headers.add(name: "topic", value: topic) }
        request.body = .bytes(try WebPushEncryption.body(of: Array(message.utf8), for: subscription))
        return try await client.execute(request, timeout: .seconds(20))
    }
}

extension ReceivedPush {
    /// The clear text as text.
    var text: String? { message.map { String(decoding: $0, as: UTF8.self) } }
}
