import Crypto
import Foundation
import Logging
import NIOPosix
import PushHub
import RichPushModel
import WebPushDelivery
import WebPushProtocol
import WireText

@testable import ServerDelivery
@testable import ServerSettings

/// What a push to a browser costs from the batch of a hub to its outcome: the transport and the client of a node, against a sink.
struct BrowserPushes {
    /// As the hub hands them over.
    private static let batchSize = 1_000
    private static let batches = 20

    private let client: WebPushClient
    private let transport: WebPushTransport
    private let batch: PushBatch

    /// - Parameter certificate: the file with that of the sink.
    init(port: Int, certificate: String, body: [UInt8]) throws {
        var settings = Settings()
        settings.webPush.hosts = ["127.0.0.1"]
        settings.webPush.networks = ["127.0.0.0/8"].compactMap { .init($0) }
        settings.webPush.trustRootsPath = certificate
        guard let identity = VAPIDIdentity(subject: "mailto:bench@example.com", keys: [VAPIDKey()]) else {
            throw BenchError.refused
        }
        client = try WebPushClient(settings.webPush, clock: .system, group: .singletonMultiThreadedEventLoopGroup)
        transport = WebPushTransport(
            identity: identity, allowing: settings.webPush.rule, sender: client, deadline: .seconds(60), clock: .system,
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        // With a key for each, and endpoints as long as those of push services.
        var batch = PushBatch(
            hub: HubID(1), bodies: [body], headers: [.init(pushType: "", priority: 10)],
            targets: (0..<Self.batchSize).map { number in
                let key = P256.KeyAgreement.PrivateKey().publicKey.x963Representation
                let path = "push/\(number)-" + String(repeating: "Ab1_", count: 37)
                let parts = [
                    "https://127.0.0.1:\(port)/\(path)", Base64URL.text(of: Array(key)),
                    Base64URL.text(of: Array(repeating: 7, count: 16)), identity.keys[0].id.text,
                ]
                return .init(handle: DeviceToken(canonical: parts.joined(separator: " ")), pushID: PushID(UUID()))
            })
        batch.platform = .browser
        self.batch = batch
    }

    /// Microseconds of the processor for one push. Throws when one is not accepted.
    func cost(_ processorSeconds: () -> Double) async throws -> Double {
        try await send()
        let before = processorSeconds()
        for _ in 0..<Self.batches { try await send() }
        let processor = processorSeconds() - before
        await client.shutDown(within: .seconds(1))
        return processor / Double(Self.batches * Self.batchSize) * 1_000_000
    }

    private func send() async throws {
        let outcomes = await transport.send(batch)
        guard outcomes.allSatisfy({ $0 == .accepted }) else { throw BenchError.refused }
    }
}
