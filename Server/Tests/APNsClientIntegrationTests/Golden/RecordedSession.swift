import APNsEmulation
import APNsHTTP2
import APNsProtocol
import Crypto
import Foundation
import Logging
import NIOPosix
import RichPushModel

/// A client and a local APNs with a tunnel between them that records.
struct RecordedSession {
    let apns: LocalAPNs
    let client: APNsClient
    private let proxy: TunnelProxy

    /// Runs `body` with everything in clear text, and has decoded what was said.
    static func record(
        rules: EmulationRules = EmulationRules(), timing: APNsClientTiming = APNsClientTiming(),
        _ body: (RecordedSession) async throws -> Void
    ) async throws -> RecordedTraffic {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let key = P256.Signing.PrivateKey()
        let apns = try LocalAPNs(
            configuration: LocalAPNsConfiguration(transport: .clearText, rules: rules), clock: SystemClock(),
            group: MultiThreadedEventLoopGroup.singleton, logger: logger)
        try apns.registerKey(
            teamID: LocalService.teamID, keyID: LocalService.keyID, publicKeyPEM: key.publicKey.pemRepresentation)
        try apns.registerApp(bundleID: LocalService.topic, teamID: LocalService.teamID)
        let address = try await apns.start()
        let proxy = try await TunnelProxy(to: address.port, isRecording: true)
        let tokenKey = try ProviderTokenKey(privateKey: key, keyID: LocalService.keyID, teamID: LocalService.teamID)
        let client = try APNsClient(
            configuration: APNsClientConfiguration(
                environment: .sandbox, credential: .token(ProviderTokenCache(key: tokenKey, clock: SystemClock())),
                endpoint: .init(host: "api.sandbox.push.apple.com"), transport: .cleartext,
                proxy: APNsProxy(host: "127.0.0.1", port: proxy.port), limits: APNsClientLimits(connections: 1),
                timing: timing, strictness: .wireOnly),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
        try await body(RecordedSession(apns: apns, client: client, proxy: proxy))
        await client.shutdown(within: .seconds(2))
        await proxy.shutdown()
        await apns.shutdown()
        return try await RecordedTraffic.decode(proxy.recording)
    }

    func push(_ number: Int, size: Int = 60) -> APNsPush {
        let payload = #"{"aps":{"alert":"\#(String(repeating: "x", count: size))"}}"#
        return APNsPush(
            deviceToken: apns.issueToken(device: "device \(number)", topic: LocalService.topic),
            headers: APNsPush.Headers(topic: LocalService.topic, pushType: .alert, priority: 10, expiration: 0),
            payload: Array(payload.utf8), apnsID: UUID())
    }
}
