import APNsEmulation
import APNsProtocol
import HTTPService
import Hummingbird
import LocalCertificates
import Logging
import NIOPosix
import RichPushModel
import ServerComposition
import ServerSettings
import ServiceErrors
import ServiceLifecycle

/// The local APNs alone, for anyone's client.
public enum EmulatorService {
    /// Runs until the process gets a signal to stop. `announce` gets the lines for the terminal once it answers.
    ///
    /// - Parameter companions: makes what runs beside it, of the certificate authority of the folder and the logger.
    public static func run(
        _ options: EmulatorOptions, announce: @escaping @Sendable (String) -> Void,
        beside companions: (LocalCertificateAuthority, Logger) async throws -> [EmulatorCompanion] = { _, _ in [] }
    ) async throws {
        let logger = Observability.start(Settings.Logging(level: .info, format: .text))
        let folder = try EmulatorFolder(path: options.directory, now: SystemClock().now)
        var running: [(apns: LocalAPNs, path: RouterPath)] = []
        let companions = try await companions(folder.authority, logger)
        var memories = companions.map(\.service)
        let sandbox = try make(.sandbox, port: options.address.port, management: options.managementPort, options, folder, logger)
        running.append((sandbox, ""))
        if let port = options.productionPort {
            let management = options.productionManagementPort
            running.append((try make(.production, port: port, management: management, options, folder, logger), "/production"))
        }
        var lines: [String] = []
        for (apns, _) in running {
            memories.append(try memory(of: apns, folder, logger))
            let address: LocalAPNs.Address
            do { address = try await apns.start() } catch let error as LocalAPNsError {
                throw fault(error, of: apns.environment, options)
            }
            lines.append(
                "Local APNs (not Apple's), \(apns.environment.rawValue), on https://\(address.host):\(address.port), "
                    + "channels on port \(address.managementPort ?? 0)")
        }
        let serviceLines = lines
        let router = administration(of: running, at: options.adminAddress) { folder.hasIssued(serialNumber: $0) }
        for companion in companions { companion.addRoutes(router) }
        let admin = application(of: router, at: options.adminAddress, logger: logger) { port in
            for line in serviceLines { announce(line) }
            announce("  trust    \(folder.authorityPath)")
            announce("  sign     \(folder.signingKeyPath), key \(EmulatorFolder.keyID), team \(EmulatorFolder.teamID)")
            announce("  phones   http://\(options.adminAddress.host):\(port)/apps and /devices, see Documentation/LocalAPNs.md")
            for page in companions.compactMap(\.page) {
                announce("  page     http://\(options.adminAddress.host):\(port)\(page)")
            }
        }
        let ending = running.map(\.apns)
        let service = ClosureService(onShutdown: { for apns in ending { apns.endStreams() } }) {
            try await ListenerFault.explained(options.adminAddress, setting: "--admin-port") { try await admin.run() }
        }
        try await ProcessServices.run(memories + [service], deadline: .seconds(5), logger: logger)
        for (apns, _) in running { await apns.shutdown() }
    }

    /// Names the option that moves a listener which cannot be opened.
    static func fault(
        _ error: LocalAPNsError, of environment: APNsEnvironment, _ options: EmulatorOptions
    ) -> any Error {
        guard case .cannotListen(_, let port, _) = error else { return error }
        let isProduction = environment == .production
        let isManagement = port != (isProduction ? options.productionPort : options.address.port)
        let option = (isProduction ? "--production-" : "--") + (isManagement ? "management-port" : "port")
        return ServiceError(.notReady, "\(error); choose another \(option)")
    }

    private static func make(
        _ environment: APNsEnvironment, port: Int, management: Int, _ options: EmulatorOptions, _ folder: EmulatorFolder,
        _ logger: Logger
    ) throws -> LocalAPNs {
        var configuration = LocalAPNsConfiguration(
            environment: environment, host: options.address.host, port: port, managementPort: management)
        configuration.authority = folder.authority
        configuration.allowsRemoteClients = !options.address.isLoopback
        configuration.retention.frames = 2_000
        let apns = try LocalAPNs(
            configuration: configuration, clock: .system, group: .singletonMultiThreadedEventLoopGroup, logger: logger)
        return apns
    }

    /// Lets it know what it knew in the run before, and then the key of the folder, which may be a new one.
    private static func memory(of apns: LocalAPNs, _ folder: EmulatorFolder, _ logger: Logger) throws -> EmulatorMemory<LocalAPNs>
    {
        let path = folder.statePath(of: apns.environment.rawValue)
        let memory = try EmulatorMemory(of: apns, at: path, clock: .system, logger: logger)
        try apns.registerKey(
            teamID: EmulatorFolder.teamID, keyID: EmulatorFolder.keyID, publicKeyPEM: folder.publicKeyPEM)
        return memory
    }

    private static func administration(
        of running: [(apns: LocalAPNs, path: RouterPath)], at address: Settings.Address,
        isListed: @escaping @Sendable (String) -> Bool
    ) -> ServiceRouter {
        var serving = ServiceOptions()
        if address.isLoopback { serving.allowedHosts = [] }
        let router = ServiceRouter(options: serving)
        for (apns, path) in running { EmulatorRoutes(apns: apns, isListed: isListed).addRoutes(to: router, under: path) }
        return router
    }

    private static func application(
        of router: ServiceRouter, at address: Settings.Address, logger: Logger, onListening: @escaping @Sendable (Int) -> Void
    ) -> some ApplicationProtocol {
        Application(
            router: router, server: .guarded(allowance: ConnectionAllowance(limit: 1_000, clock: .system, logger: logger)),
            configuration: ApplicationConfiguration(address: .hostname(address.host, port: address.port), serverName: nil),
            onServerRunning: { onListening($0.localAddress?.port ?? 0) }, logger: logger)
    }
}

/// What runs beside the local APNs, and may be administered at the same port.
public struct EmulatorCompanion: Sendable {
    let service: any Service
    let page: String?
    let addRoutes: @Sendable (ServiceRouter) -> Void

    /// Creates a companion.
    ///
    /// - Parameters:
    ///   - page: the path of its page; `nil` for one without a page.
    ///   - addRoutes: adds what administers it.
    public init(
        _ service: any Service, page: String? = nil, addRoutes: @escaping @Sendable (ServiceRouter) -> Void = { _ in }
    ) {
        (self.service, self.page, self.addRoutes) = (service, page, addRoutes)
    }
}

/// How `clarion emulator` runs.
public struct EmulatorOptions: Hashable, Sendable {
    /// Where APNs is answered, over TLS and HTTP/2. Port 0 means any free one.
    public var address: Settings.Address
    /// Where the channel management of the sandbox is answered.
    public var managementPort = 2_195
    /// Where production is answered; `nil` leaves it out.
    public var productionPort: Int?
    /// Where the channel management of production is answered.
    public var productionManagementPort = 2_196
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

/// Client certificates for a local APNs that has run here before.
public enum EmulatorCertificates {
    /// Writes certificate and key into one PEM file and returns the serial number. The environments are `sandbox`, `production`
    /// or both.
    public static func write(
        bundleID: String, environments: [String], furtherTopics: [String], directory: String, to path: String
    ) throws -> String {
        let now = SystemClock().now
        let known = environments.compactMap(APNsEnvironment.init(rawValue:))
        guard known.count == environments.count else {
            throw ServiceError(.invalidField, "an environment is 'sandbox' or 'production'")
        }
        guard EmulatorFolder.isOne(directory) else {
            throw ServiceError(.notFound, "\(directory) is no folder of a local APNs: start `clarion emulator` with it first")
        }
        return try EmulatorFolder(path: directory, now: now).writeClientCertificate(
            ClientCertificateRequest(bundleID: bundleID, environments: Set(known), furtherTopics: furtherTopics), to: path,
            now: now)
    }
}
