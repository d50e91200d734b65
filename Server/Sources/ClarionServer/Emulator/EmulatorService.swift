import APNsEmulation
import HTTPService
import Hummingbird
import Logging
import NIOPosix
import RichPushModel
import ServiceErrors

/// How `clarion emulator` runs.
public struct EmulatorOptions: Hashable, Sendable {
    /// Where APNs is answered, over TLS and HTTP/2. Port 0 means any free one.
    public var address: Settings.Address
    /// Where simulated phones subscribe and tests administer.
    public var adminAddress: Settings.Address
    /// Where its certificate authority and its signing key are written.
    public var directory: String

    /// Creates options.
    public init(address: Settings.Address, adminAddress: Settings.Address, directory: String) {
        self.address = address
        self.adminAddress = adminAddress
        self.directory = directory
    }
}

/// The local APNs alone, for anyone's client.
public enum EmulatorService {
    /// Runs until the process is told to stop. `announce` gets the lines for the terminal once it answers.
    public static func run(_ options: EmulatorOptions, announce: @escaping @Sendable (String) -> Void) async throws {
        let logger = Observability.start(Settings.Logging(level: .info, format: .text))
        let folder = try EmulatorFolder(path: options.directory, now: SystemClock().now)
        var configuration = LocalAPNsConfiguration(host: options.address.host, port: options.address.port)
        configuration.authority = folder.authority
        configuration.allowsRemoteClients = !AddressRange.isLoopback(host: options.address.host)
        let apns = try LocalAPNs(
            configuration: configuration, clock: .system, group: .singletonMultiThreadedEventLoopGroup, logger: logger)
        try apns.registerKey(
            teamID: EmulatorFolder.teamID, keyID: EmulatorFolder.keyID, publicKeyPEM: folder.publicKeyPEM)
        let address = try await apns.start()
        let admin = administration(of: apns, at: options.adminAddress, logger: logger) { port in
            announce("Local APNs (not Apple's) on https://\(address.host):\(address.port)")
            announce("  trust    \(folder.authorityPath)")
            announce("  sign     \(folder.signingKeyPath), key \(EmulatorFolder.keyID), team \(EmulatorFolder.teamID)")
            announce("  phones   http://\(options.adminAddress.host):\(port)/apps and /devices, see Documentation/LocalAPNs.md")
        }
        let service = ClosureService {
            try await ListenerFault.explained(options.adminAddress, setting: "--admin-port") { try await admin.run() }
        }
        try await ProcessServices.run([service], deadline: .seconds(5), logger: logger)
        await apns.shutdown()
    }

    private static func administration(
        of apns: LocalAPNs, at address: Settings.Address, logger: Logger, onListening: @escaping @Sendable (Int) -> Void
    ) -> some ApplicationProtocol {
        var serving = ServiceOptions()
        if AddressRange.isLoopback(host: address.host) { serving.allowedHosts = [] }
        let router = ServiceRouter(options: serving)
        EmulatorRoutes(apns: apns).addRoutes(to: router)
        return Application(
            router: router, server: .guarded(allowance: ConnectionAllowance(limit: 1_000, clock: .system, logger: logger)),
            configuration: ApplicationConfiguration(address: .hostname(address.host, port: address.port), serverName: nil),
            onServerRunning: { onListening($0.localAddress?.port ?? 0) }, logger: logger)
    }
}
