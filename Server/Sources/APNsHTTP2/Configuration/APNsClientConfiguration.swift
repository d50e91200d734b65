import APNsProtocol

/// How a client reaches APNs and within which bounds. Every limit can be lowered, so that tests take milliseconds.
public struct APNsClientConfiguration: Sendable {
    /// With what the client proves who it is (Reference/APNs.md#2).
    public enum Credential: Sendable {
        /// A provider token on every request; the cache may be shared by several clients of one key.
        case token(ProviderTokenCache)
        /// A client certificate in TLS: the chain and its key, both PEM.
        case certificate(chain: String, privateKey: String)
    }

    /// Whom the client believes to be APNs.
    public enum Trust: Sendable, Hashable {
        /// The roots of the system.
        case system
        /// The roots of the system and these PEM certificates, for a local APNs with an authority of its own.
        case additional(pem: String)
    }

    /// Whether the bytes are encrypted.
    public enum Transport: Sendable, Hashable {
        /// TLS 1.2 or later, with ALPN `h2` offered; a server without ALPN is accepted (Reference/APNs.md#1-3).
        case tls(Trust)
        /// HTTP/2 with prior knowledge and no TLS. For load tests on one machine only.
        case cleartext
    }

    /// Where to connect, when not to Apple's host.
    public struct Endpoint: Sendable, Hashable {
        /// A name or an address.
        public var host: String
        public var port: Int
        /// The name to ask for and to verify in TLS, and the `:authority` of requests. Absent means `host`.
        public var serverName: String?

        /// Creates an endpoint.
        public init(host: String, port: Int = 443, serverName: String? = nil) {
            self.host = host
            self.port = port
            self.serverName = serverName
        }
    }

    public var environment: APNsEnvironment
    public var credential: Credential
    public var endpoint: Endpoint
    /// Where channels are managed (Reference/APNs.md#1-1).
    public var management: Endpoint
    public var transport: Transport
    /// The way out of the network; absent for a direct one.
    public var proxy: APNsProxy?
    /// On how many event loops the client lives, each on a core of its own if there are as many: 1 is enough for more than
    /// 500,000 pushes a second. Each has its share of the connections and of the queue.
    public var eventLoops: Int
    public var limits: APNsClientLimits
    public var timing: APNsClientTiming
    /// How strictly pushes are checked before they are sent.
    public var strictness: APNsPushRules.Strictness

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - endpoint: absent means Apple's host of the environment, port 443.
    ///   - management: absent means Apple's management host and port of the environment.
    public init(
        environment: APNsEnvironment, credential: Credential, endpoint: Endpoint? = nil, management: Endpoint? = nil,
        transport: Transport = .tls(.system), proxy: APNsProxy? = nil, eventLoops: Int = 1,
        limits: APNsClientLimits = APNsClientLimits(), timing: APNsClientTiming = APNsClientTiming(),
        strictness: APNsPushRules.Strictness = .apple
    ) {
        self.environment = environment
        self.credential = credential
        self.endpoint = endpoint ?? Endpoint(host: environment.host)
        self.management = management ?? Endpoint(host: environment.managementHost, port: environment.managementPort)
        self.transport = transport
        self.proxy = proxy
        self.eventLoops = max(1, eventLoops)
        self.limits = limits
        self.timing = timing
        self.strictness = strictness
    }

    var usesTokens: Bool {
        if case .token = credential { true } else { false }
    }

    var serverName: String { endpoint.serverName ?? endpoint.host }
}
