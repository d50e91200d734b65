import APNsProtocol
import Logging
import NIOPosix
import RichPushModel

@testable import APNsEmulation

/// A local APNs that listens on a port of the system's choice, with one app, one key and one device.
struct RunningEmulator {
    let apns: LocalAPNs
    let port: Int
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
        let apns = try LocalAPNs(
            configuration: LocalAPNsConfiguration(transport: transport, rules: rules), clock: .system,
            group: MultiThreadedEventLoopGroup.singleton, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let signer = ProviderSigner()
        try apns.registerKey(teamID: signer.teamID, keyID: signer.keyID, publicKeyPEM: signer.publicKeyPEM)
        try apns.registerApp(bundleID: EmulatorFixture.bundleID, teamID: signer.teamID)
        let running = RunningEmulator(
            apns: apns, port: try await apns.start().port,
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
        early: [WireClient.Request] = []
    ) async throws -> WireClient {
        try await WireClient.connect(
            port: port, trusting: trusts ? apns.certificateAuthorityPEM : nil, alpn: alpn, serverName: serverName,
            maximumTLS: maximumTLS?.version, early: early)
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
}
