import APNsProtocol
import Logging
import NIOPosix
import RichPushModel

@testable import APNsEmulation

/// A local APNs that listens on a port of the system's choice, with one app, one key and one device.
struct RunningEmulator {
    let apns: LocalAPNs
    let port: Int
    let managementPort: Int
    let token: String
    let authorization: String
    private let trusts: Bool

    /// Runs `body` and shuts the emulator down, whatever happens.
    static func run(
        transport: LocalAPNsConfiguration.Transport = .tls, _ adjust: (inout EmulationRules) -> Void = { _ in },
        _ body: (RunningEmulator) async throws -> Void
    ) async throws {
        var rules = EmulationRules()
        rules.goAwayGrace = .milliseconds(50)
        adjust(&rules)
        let configuration = LocalAPNsConfiguration(
            managementPort: 0, transport: transport, rules: rules, retention: EmulationRetention(frames: 1_000))
        let apns = try LocalAPNs(
            configuration: configuration, clock: .system, group: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let signer = ProviderSigner()
        try apns.registerKey(teamID: signer.teamID, keyID: signer.keyID, publicKeyPEM: signer.publicKeyPEM)
        try apns.registerApp(bundleID: EmulatorFixture.bundleID, teamID: signer.teamID, broadcasts: true)
        let address = try await apns.start()
        let running = RunningEmulator(
            apns: apns, port: address.port, managementPort: address.managementPort ?? 0,
            token: apns.issueToken(device: EmulatorFixture.device, topic: EmulatorFixture.bundleID),
            authorization: signer.authorization(issuedAt: "\(SystemClock().now.seconds)"), trusts: transport == .tls)
        do {
            try await body(running)
        } catch {
            await apns.shutdown()
            throw error
        }
        await apns.shutdown()
    }

    func connect(
        alpn: [String] = ["h2"], serverName: String? = "localhost", maximumTLS: TLSVersionChoice? = nil,
        early: [WireClient.Request] = [], certificate: IssuedCertificate? = nil, management: Bool = false
    ) async throws -> WireClient {
        try await WireClient.connect(
            port: management ? managementPort : port, trusting: trusts ? apns.certificateAuthorityPEM : nil, alpn: alpn,
            serverName: serverName, maximumTLS: maximumTLS?.version, early: early, certificate: certificate)
    }

    /// A push that is accepted, unless something is changed.
    func push(
        _ body: String? = "{}", method: String = "POST", path: String? = nil, authorization: String? = nil
    ) -> WireClient.Request {
        let path = path ?? "/3/device/" + token
        return WireClient.Request(
            headers: [
                (":method", method), (":scheme", "https"), (":path", path), (":authority", "localhost"),
                ("authorization", authorization ?? self.authorization), ("apns-topic", EmulatorFixture.bundleID),
                ("apns-push-type", "alert"),
            ], body: body)
    }

    /// A request about channels or a broadcast, with the token of the emulator.
    func request(
        _ method: String, _ path: String, _ fields: [(String, String)] = [], body: String? = nil
    ) -> WireClient.Request {
        let pseudo = [(":method", method), (":scheme", "https"), (":path", path), (":authority", "localhost")]
        return WireClient.Request(headers: pseudo + [("authorization", authorization)] + fields, body: body)
    }
}
