import APNsHTTP2
import CryptoExtras
import FCMDelivery
import FCMProtocol
import Foundation
import Logging
import NIOPosix
import PushHub
import RichPushModel

/// The transport of FCM against a sink: batches of the size that the hub hands over, at no pace, with an access token that is at hand.
/// Each caller has one batch under way, as each worker of a node has.
struct FCMLoad {
    private static let batchSize = 1000
    private static let projectID = "bench-project"

    /// Posts messages to the sink, and gives access tokens itself.
    private struct Sender: FCMSending {
        let client: HTTP2PostClient
        let endpoint: String

        func post(_ request: FCMRequest, within deadline: Duration) async -> FCMReply {
            guard request.url.hasPrefix(endpoint) else {
                let token = #"{"access_token":"\#(String(repeating: "a1", count: 92))","expires_in":3600}"#
                return .answered(FCMAnswer(status: 200, body: Array(token.utf8), now: SystemClock().now))
            }
            let path = String(request.url.dropFirst(endpoint.count))
            switch await client.post(request.body, to: path, headers: request.headers, within: deadline) {
            case .answered(let answer):
                return .answered(FCMAnswer(status: answer.status, body: answer.body, now: SystemClock().now))
            case .notSent(let failure): return .notSent(reason: failure.rawValue)
            case .unknown(let failure): return .unknown(reason: failure.rawValue)
            }
        }
    }

    private struct Account: FCMCredentials {
        let account: FCMServiceAccount

        func credential(for hub: HubID) async -> FCMCredential { .account(account) }
    }

    private let options: LoadOptions
    private let client: HTTP2PostClient
    private let transport: FCMTransport
    private let batch: PushBatch

    init(_ options: LoadOptions, group: MultiThreadedEventLoopGroup) throws {
        self.options = options
        let logger = Logger(label: "apns-load", factory: { _ in SwiftLogNoOpLogHandler() })
        let pem = try String(contentsOfFile: options.certificate, encoding: .utf8)
        client = try HTTP2PostClient(
            to: .init(host: "127.0.0.1", port: options.port, serverName: "localhost"), of: "the sink",
            trust: .additional(pem: pem), connections: options.connections, answerBytes: 16_384, eventLoopGroup: group,
            logger: logger)
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation
        let account = try FCMServiceAccount(
            projectID: Self.projectID, privateKey: key, clientEmail: "bench@example.iam.gserviceaccount.com")
        let endpoint = "https://localhost:\(options.port)"
        transport = FCMTransport(
            credentials: Account(account: account), sender: Sender(client: client, endpoint: endpoint), endpoint: endpoint,
            messagesPerMinute: 100_000_000, ramp: .zero, deadline: .seconds(60), clock: SystemClock(), logger: logger)
        batch = Self.batch(body: options.body)
    }

    /// A registration token has about 160 characters.
    private static func batch(body size: Int) -> PushBatch {
        let text = String(repeating: "x", count: max(1, size - 30))
        var batch = PushBatch(
            hub: HubID(1), bodies: [Array(#"{"message":{"data":{"text":"\#(text)"}}}"#.utf8)],
            headers: [PushBatch.Headers(pushType: "", priority: 10)],
            targets: (0..<batchSize).map { number in
                let token = "token-\(number):" + String(repeating: "Ab1_", count: 37)
                return PushBatch.Target(handle: DeviceToken(canonical: token), pushID: PushID(UUID()))
            })
        batch.platform = .fcmv1
        return batch
    }

    func run() async -> LoadResult {
        _ = await transport.send(batch)
        let start = ContinuousClock.now
        let before = Resources.now()
        var result = await withTaskGroup(of: LoadResult.self) { group in
            for _ in 0..<options.callers { group.addTask { await sendShare() } }
            return await group.reduce(into: LoadResult()) { $0.add($1) }
        }
        let after = Resources.now()
        result.processor = after.processor - before.processor
        result.resident = after.resident
        result.residentPeak = Resources.peakBytes()
        result.seconds = start.duration(to: .now) / .seconds(1)
        await client.shutdown(within: .seconds(5))
        return result
    }

    /// The batches of one caller, one after the other.
    private func sendShare() async -> LoadResult {
        var result = LoadResult()
        for _ in 0..<max(1, options.count / Self.batchSize / options.callers) {
            for outcome in await transport.send(batch) {
                result.sent += 1
                if case .accepted = outcome { result.accepted += 1 }
            }
        }
        return result
    }
}
