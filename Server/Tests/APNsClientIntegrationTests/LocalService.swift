import APNsEmulation
import APNsHTTP2
import APNsProtocol
import ClarionTesting
import Crypto
import Foundation
import Logging
import NIOPosix
import RichPushModel
import Testing

/// The local APNs and a client of it over real TLS, on a port that the system chose.
struct LocalService {
    static let topic = "com.example.app"
    static let keyID = "KEY4567890"
    static let teamID = "TEAM567890"

    let apns: LocalAPNs
    let client: APNsClient
    let address: LocalAPNs.Address
    let configuration: APNsClientConfiguration
    /// The time of both sides' tokens; connections live in real time.
    let clock: ManualClock

    /// Runs `body` with a service that is torn down afterwards.
    static func run(
        rules: EmulationRules = EmulationRules(), limits: APNsClientLimits = APNsClientLimits(),
        timing: APNsClientTiming = APNsClientTiming(), serverName: String? = "localhost", trustsAuthority: Bool = true,
        clientKey: P256.Signing.PrivateKey? = nil, managesChannels: Bool = false, logger clientLogger: Logger? = nil,
        strictness: APNsPushRules.Strictness = .wireOnly, frames: Int = 0, observer: (any APNsClientObserver)? = nil,
        _ body: (LocalService) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let clock = ManualClock(start: SystemClock().now)
        let key = P256.Signing.PrivateKey()
        let apns = try LocalAPNs(
            configuration: LocalAPNsConfiguration(
                managementPort: managesChannels ? 0 : nil, rules: rules,
                retention: EmulationRetention(observerQueue: 1_000_000, frames: frames)),
            clock: clock,
            group: MultiThreadedEventLoopGroup.singleton,
            logger: logger)
        try apns.registerKey(teamID: teamID, keyID: keyID, publicKeyPEM: key.publicKey.pemRepresentation)
        try apns.registerApp(bundleID: topic, teamID: teamID, broadcasts: true)
        let address = try await apns.start()
        let tokenKey = try ProviderTokenKey(privateKey: clientKey ?? key, keyID: keyID, teamID: teamID)
        let configuration = APNsClientConfiguration(
            environment: .sandbox, credential: .token(ProviderTokenCache(key: tokenKey, clock: clock)),
            endpoint: .init(host: address.host, port: address.port, serverName: serverName),
            transport: .tls(trustsAuthority ? .additional(pem: apns.certificateAuthorityPEM) : .system), limits: limits,
            timing: timing, strictness: strictness)
        let client = try APNsClient(
            configuration: configuration, eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: clientLogger ?? logger, observer: observer)
        do {
            try await body(
                LocalService(apns: apns, client: client, address: address, configuration: configuration, clock: clock))
        } catch {
            await client.shutdown(within: .seconds(1))
            await apns.shutdown()
            throw error
        }
        await client.shutdown(within: .seconds(5))
        await apns.shutdown()
    }

    /// A second client of the same service, with another configuration. The caller shuts it down.
    func otherClient(
        resolver: (any APNsNameResolver)? = nil, _ change: (inout APNsClientConfiguration) -> Void
    ) throws -> APNsClient {
        var configuration = configuration
        change(&configuration)
        return try APNsClient(
            configuration: configuration, eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), resolver: resolver)
    }

    /// Waits until the client's numbers, which are published once per turn of its loop, are as they should be.
    func expect(
        sourceLocation: SourceLocation = #_sourceLocation, _ condition: (APNsClientMetrics) -> Bool
    ) async {
        let deadline = ContinuousClock.now + .seconds(60)
        while !condition(client.metrics), ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(10)) }
        #expect(condition(client.metrics), "\(client.metrics)", sourceLocation: sourceLocation)
    }

    /// Lets the clock of both sides run about as fast as the real one while `body` runs, for faults that wait.
    func whileTimePasses<Result: Sendable>(_ body: @Sendable () async -> Result) async -> Result {
        let clock = clock
        // Not a task: on a busy machine the threads of tasks may all be taken for seconds.
        let ticker = MultiThreadedEventLoopGroup.singleton.next().scheduleRepeatedTask(
            initialDelay: .zero, delay: .milliseconds(10)
        ) { _ in clock.advance(by: .milliseconds(10)) }
        defer { ticker.cancel() }
        return await body()
    }

    func tokens(_ count: Int) -> [String] { (0..<count).map { apns.issueToken(device: "device \($0)", topic: Self.topic) } }

    func push(_ token: String, topic: String = topic, payload: String = #"{"aps":{"alert":"Hello"}}"#) -> APNsPush {
        APNsPush(
            deviceToken: token, headers: APNsPush.Headers(topic: topic, pushType: .alert, priority: 10),
            payload: Array(payload.utf8), apnsID: UUID())
    }

    func pushes(_ count: Int) -> [APNsPush] { tokens(count).map { push($0) } }
}

extension APNsOutcome {
    var reason: APNsReason? { if case .rejected(let rejection) = self { rejection.reason } else { nil } }
}
