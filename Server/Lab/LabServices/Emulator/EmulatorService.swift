import APNsEmulation
import APNsProtocol
import HTTPService
import Hummingbird
import Logging
import NIOPosix
import RichPushModel
import ServerComposition
import ServerSettings
import ServiceErrors

/// The local APNs alone, for anyone's client.
public enum EmulatorService {
    /// Runs until the process is told to stop. `announce` gets the lines for the terminal once it answers.
    public static func run(_ options: EmulatorOptions, announce: @escaping @Sendable (String) -> Void) async throws {
        let logger = Observability.start(Settings.Logging(level: .info, format: .text))
        let folder = try EmulatorFolder(path: options.directory, now: SystemClock().now)
        var running: [(apns: LocalAPNs, path: RouterPath)] = []
        var memories: [EmulatorMemory] = []
        let sandbox = try make(.sandbox, port: options.address.port, management: options.managementPort, options, folder, logger)
        running.append((sandbox, ""))
        if let port = options.productionPort {
            let management = options.productionManagementPort
            running.append((try make(.production, port: port, management: management, options, folder, logger), "/production"))
        }
        var lines: [String] = []
        for (apns, _) in running {
            memories.append(try memory(of: apns, folder, logger))
            let wanted = apns.environment == .production ? options.productionPort ?? 0 : options.address.port
            let address = try await ListenerFault.explained(
                Settings.Address(host: options.address.host, port: wanted), setting: "port, here or for the channels beside it"
            ) { try await apns.start() }
            lines.append(
                "Local APNs (not Apple's), \(apns.environment.rawValue), on https://\(address.host):\(address.port), "
                    + "channels on port \(address.managementPort ?? 0)")
        }
        let told = lines
        let isListed: @Sendable (String) -> Bool = { folder.hasIssued(serialNumber: $0) }
        let admin = administration(of: running, at: options.adminAddress, logger: logger, isListed: isListed) { port in
            for line in told { announce(line) }
            announce("  trust    \(folder.authorityPath)")
            announce("  sign     \(folder.signingKeyPath), key \(EmulatorFolder.keyID), team \(EmulatorFolder.teamID)")
            announce("  phones   http://\(options.adminAddress.host):\(port)/apps and /devices, see Documentation/LocalAPNs.md")
        }
        let ending = running.map(\.apns)
        let service = ClosureService(onShutdown: { for apns in ending { apns.endStreams() } }) {
            try await ListenerFault.explained(options.adminAddress, setting: "--admin-port") { try await admin.run() }
        }
        try await ProcessServices.run(memories + [service], deadline: .seconds(5), logger: logger)
        for (apns, _) in running { await apns.shutdown() }
    }

    private static func make(
        _ environment: APNsEnvironment, port: Int, management: Int, _ options: EmulatorOptions, _ folder: EmulatorFolder,
        _ logger: Logger
    ) throws -> LocalAPNs {
        var configuration = LocalAPNsConfiguration(
            environment: environment, host: options.address.host, port: port, managementPort: management)
        configuration.authority = folder.authority
        configuration.allowsRemoteClients = !AddressRange.isLoopback(host: options.address.host)
        configuration.retention.frames = 2_000
        let apns = try LocalAPNs(
            configuration: configuration, clock: .system, group: .singletonMultiThreadedEventLoopGroup, logger: logger)
        return apns
    }

    /// Lets it know what it knew in the run before, and then the key of the folder, which may be a new one.
    private static func memory(of apns: LocalAPNs, _ folder: EmulatorFolder, _ logger: Logger) throws -> EmulatorMemory {
        let path = folder.statePath(of: apns.environment.rawValue)
        let memory = try EmulatorMemory(of: apns, at: path, clock: .system, logger: logger)
        try apns.registerKey(
            teamID: EmulatorFolder.teamID, keyID: EmulatorFolder.keyID, publicKeyPEM: folder.publicKeyPEM)
        return memory
    }

    private static func administration(
        of running: [(apns: LocalAPNs, path: RouterPath)], at address: Settings.Address, logger: Logger,
        isListed: @escaping @Sendable (String) -> Bool, onListening: @escaping @Sendable (Int) -> Void
    ) -> some ApplicationProtocol {
        var serving = ServiceOptions()
        if AddressRange.isLoopback(host: address.host) { serving.allowedHosts = [] }
        let router = ServiceRouter(options: serving)
        for (apns, path) in running { EmulatorRoutes(apns: apns, isListed: isListed).addRoutes(to: router, under: path) }
        return Application(
            router: router, server: .guarded(allowance: ConnectionAllowance(limit: 1_000, clock: .system, logger: logger)),
            configuration: ApplicationConfiguration(address: .hostname(address.host, port: address.port), serverName: nil),
            onServerRunning: { onListening($0.localAddress?.port ?? 0) }, logger: logger)
    }
}
