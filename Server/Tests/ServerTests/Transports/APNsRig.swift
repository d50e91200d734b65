import APNsDelivery
import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Crypto
import Foundation
import Logging
import NIOPosix
import PushHub
import RichPushModel
import Testing

/// The transport to iPhones at a local APNs.
struct APNsRig: TransportRig {
    private static let topic = "org.example.app"
    private static let team = "TEAM567890"
    private static let keyID = "KEY4567890"
    private static let connections = 2
    private static let streams = 50

    let platform = Platform.apns
    let width = connections * streams
    let strangeToken = DeviceToken(canonical: String(repeating: "AB", count: 32))
    let transport: any PushTransport
    private let apns: LocalAPNs
    private let client: APNsClient

    static func run(_ terms: RigTerms, _ body: (APNsRig) async throws -> Void) async throws {
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let key = P256.Signing.PrivateKey()
        var rules = EmulationRules()
        (rules.firstConcurrentStreams, rules.concurrentStreams) = (streams, streams)
        rules.retryAfter = Int(TransportPromises.pause.components.seconds)
        let apns = try LocalAPNs(
            configuration: LocalAPNsConfiguration(rules: rules), clock: .system, group: .singletonMultiThreadedEventLoopGroup,
            logger: quiet)
        try apns.registerKey(teamID: team, keyID: keyID, publicKeyPEM: key.publicKey.pemRepresentation)
        try apns.registerApp(bundleID: topic, teamID: team)
        let address = try await apns.start()
        let own = try ProviderTokenKey(
            privateKey: terms.isCredentialGood ? key : P256.Signing.PrivateKey(), keyID: keyID, teamID: team)
        var configuration = APNsClientConfiguration(
            environment: .sandbox, credential: .token(ProviderTokenCache(key: own, clock: .system)),
            endpoint: .init(host: address.host, port: address.port, serverName: "localhost"),
            transport: .tls(.additional(pem: apns.certificateAuthorityPEM)), limits: APNsClientLimits(connections: connections),
            strictness: .appleHeaders)
        configuration.timing.pushDeadline = terms.deadline
        (configuration.timing.initialBackOff, configuration.timing.maximumBackOff) = (.milliseconds(10), .milliseconds(50))
        let client = try APNsClient(
            configuration: configuration, eventLoopGroup: .singletonMultiThreadedEventLoopGroup, logger: quiet)
        let transport = APNsPushTransport(
            clients: [.sandbox: client], defaultEnvironment: .sandbox, defaultTopic: topic, logger: quiet)
        let result = await Result { try await body(APNsRig(transport: transport, apns: apns, client: client)) }
        await client.shutdown(within: .seconds(5))
        await apns.shutdown()
        try result.get()
    }

    private init(transport: any PushTransport, apns: LocalAPNs, client: APNsClient) {
        (self.transport, self.apns, self.client) = (transport, apns, client)
    }

    var heard: Int { apns.recordedExchanges.count }

    func devices(_ count: Int) throws -> [DeviceToken] {
        try (0..<count).map { _ in
            let token = apns.issueToken(device: UUID().uuidString, topic: Self.topic)
            return try #require(DeviceToken(token, platform: .apns))
        }
    }

    func remove(_ device: DeviceToken) {
        apns.invalidate(token: device.text, reason: .unregistered, at: SystemClock().now)
    }

    func body(_ text: String) -> [UInt8] { Array(#"{"aps":{"alert":"\#(text)"}}"#.utf8) }

    func taken(by devices: [DeviceToken]) -> [Int] { devices.map { apns.requests(for: $0.text).accepted } }

    func plan(_ trouble: TransportTrouble, times: Int, after: Int) -> Bool {
        let fault: InjectedFault =
            switch trouble {
            case .tooMany: .status(429, .tooManyRequests)
            case .overload: .status(503, .serviceUnavailable)
            case .serverError: .status(500, .internalServerError)
            case .lostAnswer: .resetConnection(processed: true)
            case .cutOff: .resetConnection(processed: false)
            case .orderlyEnd: .goAway(lastStream: .beforeThisRequest, reason: .shutdown)
            }
        if times > 0 { apns.inject(fault, count: times, afterRequests: after) }
        return true
    }

    func silence() async throws {
        _ = await transport.send(TransportPromises.batch(try devices(1), at: self))
        apns.clearRequests()
        apns.inject(.noAnswer, everyRequests: 1)
    }

    func slowDown() { apns.changeRules { $0.answerDelay = .milliseconds(300) } }

    /// Its client keeps to real time, and has no pauses here.
    func skip(_ duration: Duration) {}

    func endService() async { await apns.shutdown() }

    func close() async { await client.shutdown(within: .seconds(5)) }
}
