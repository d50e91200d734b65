import APNsProtocol
import LocalCertificates

/// How one local APNs is set up. One instance plays one environment, because Apple's two share nothing (Reference/APNs.md#1-1).
public struct LocalAPNsConfiguration: Sendable {
    /// What lies under HTTP/2.
    public enum Transport: Sendable, Hashable {
        /// TLS 1.2 or later with a leaf of the local authority, as at Apple; with ALPN `h2` and without ALPN.
        case tls
        /// No encryption, HTTP/2 with prior knowledge: for load tests alone.
        case clearText
    }

    /// Sandbox or production.
    public var environment: APNsEnvironment
    /// The address to listen on. Anything but loopback is refused unless `allowsRemoteClients`.
    public var host: String
    /// The port; 0 lets the system choose.
    public var port: Int
    /// The port of the channel management, which Apple keeps apart: 2195 for the sandbox, 2196 for production. 0 lets the
    /// system choose, `nil` leaves it out.
    public var managementPort: Int?
    /// Whether an address that other machines reach is allowed.
    public var allowsRemoteClients: Bool
    /// Names and addresses for the leaf certificate, beside `localhost`, `127.0.0.1` and `::1`.
    public var names: [String]
    /// Signs the server's certificate; `nil` makes a new authority for this run.
    public var authority: LocalCertificateAuthority?
    public var transport: Transport
    /// The switches of the rules.
    public var rules: EmulationRules
    /// How much is remembered.
    public var retention: EmulationRetention
    /// Makes device tokens and ids repeatable; `nil` takes the system's random source.
    public var randomSeed: UInt64?

    /// Creates a configuration; the defaults are a sandbox on a free loopback port with Apple's rules.
    public init(
        environment: APNsEnvironment = .sandbox, host: String = "127.0.0.1", port: Int = 0, managementPort: Int? = nil,
        allowsRemoteClients: Bool = false, names: [String] = [], authority: LocalCertificateAuthority? = nil,
        transport: Transport = .tls, rules: EmulationRules = EmulationRules(),
        retention: EmulationRetention = EmulationRetention(), randomSeed: UInt64? = nil
    ) {
        self.environment = environment
        self.host = host
        self.port = port
        self.managementPort = managementPort
        self.allowsRemoteClients = allowsRemoteClients
        self.names = names
        self.authority = authority
        self.transport = transport
        self.rules = rules
        self.retention = retention
        self.randomSeed = randomSeed
    }

    /// Whether `host` can be reached from this machine alone. Only literal loopback addresses and `localhost` count; any
    /// other name could resolve to anything.
    static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
