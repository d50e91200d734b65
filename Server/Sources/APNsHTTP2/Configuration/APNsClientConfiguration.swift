import APNsProtocol
import NIOCore
import NIOSSL

/// How a client reaches APNs and within which bounds. Every limit can be lowered, so that tests take milliseconds.
public struct APNsClientConfiguration: Sendable {
    /// How the client authenticates (Reference/APNs.md#2).
    public enum Credential: Sendable {
        /// A provider token on every request; the cache may be shared by several clients of one key.
        case token(ProviderTokenCache)
        /// A client certificate in TLS: the chain and its key, both PEM.
        case certificate(chain: String, privateKey: String)
        /// Each request carries what it needs: for another service than APNs.
        case none
    }

    /// Whom the client believes to be APNs.
    public enum Trust: Sendable, Hashable {
        /// The roots of the system.
        case system
        /// The roots of the system and these PEM certificates, for a local APNs with an authority of its own.
        case additional(pem: String)

        /// Whether `additional` takes the text: PEM, with at least one certificate.
        public static func isFit(pem: String) -> Bool {
            (try? NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))?.isEmpty == false
        }
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

        /// The `:authority` of requests.
        var authority: String { serverName ?? host }

        /// The name that TLS asks for and verifies; absent when the server is named by its address, which TLS verifies as such.
        var nameInTLS: String? { (try? SocketAddress(ipAddress: authority, port: 0)) == nil ? authority : nil }
    }

    public var environment: APNsEnvironment
    public var credential: Credential
    public var endpoint: Endpoint
    /// Where channels are managed (Reference/APNs.md#1-1).
    public var management: Endpoint
    public var transport: Transport
    /// The proxy to APNs; absent for a direct connection.
    public var proxy: APNsProxy?
    /// On how many event loops the client lives, each on a core of its own if there are as many: 1 is enough for more than
    /// 500,000 pushes a second. Each has its share of the connections and of the queue.
    public var eventLoops: Int
    public var limits: APNsClientLimits
    public var timing: APNsClientTiming
    /// How strictly pushes are checked before they are sent.
    public var strictness: APNsPushRules.Strictness
    /// Whom the client speaks to, for the log.
    var service = "APNs"
    /// The `:authority` of requests, where it is more than the name in TLS.
    var authority: String?
    /// Whether any server may be there: it has to choose HTTP/2 of what is offered, and what waits ends as soon as it cannot be reached.
    var isAnyServer = false
    /// Whether connections are opened for the requests that find no stream, however fast the others are answered. Callers that send the
    /// next request when one was answered never offer more than the connections carry, so nothing else would show the need.
    var countsStreams = false

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

    /// Whether it is APNs that answers, in the words of APNs.
    var isOfAPNs: Bool {
        if case .none = credential { false } else { true }
    }

    var usesTokens: Bool {
        if case .token = credential { true } else { false }
    }
}

/// The bounds on what a client holds and opens.
public struct APNsClientLimits: Sendable, Hashable {
    /// The most connections at a time, those that drain after a GOAWAY not counted.
    public var connections: Int
    /// The most streams on one connection, whatever the server allows. APNs was seen to allow up to 4,000
    /// (Reference/APNs.md#1-4).
    public var streamsPerConnection: Int
    /// The most bulk pushes in the queue, and the most express ones beside them. A batch that does not fit enters as the queue
    /// drains, and its caller waits; as many batches may. A single push, or a batch too many, ends at once as not sent (queue full),
    /// and so does a call when so many are handed over faster than the event loop takes them.
    public var queuedPushes: Int
    /// How often one push is resent after a refusal by a connection that answers nothing else. A push is resent until its deadline if
    /// the connection still answers others, or ended without processing it.
    public var resends: Int

    /// Creates limits; each is at least 1, but for `resends`, which is at least 0.
    public init(connections: Int = 64, streamsPerConnection: Int = 4000, queuedPushes: Int = 100_000, resends: Int = 3) {
        self.connections = max(1, connections)
        self.streamsPerConnection = min(max(1, streamsPerConnection), 16_384)
        self.queuedPushes = max(1, queuedPushes)
        self.resends = min(max(0, resends), 100)
    }
}

/// The waits of a client. All of them end.
public struct APNsClientTiming: Sendable, Hashable {
    /// From `send` to an outcome, at most; a hundredth of it, and no more than 250 milliseconds, less at least.
    public var pushDeadline: Duration = .seconds(30)
    /// For name resolution and TCP.
    public var connect: Duration = .seconds(10)
    /// When the connection to one address takes longer, another address is tried beside it (Reference/APNs.md#1-2).
    public var slowConnect: Duration = .milliseconds(300)
    /// From TCP to the server's first SETTINGS.
    public var handshake: Duration = .seconds(10)
    /// A connection silent for longer is probed with a PING in the same write as its next request.
    public var silenceBeforePing: Duration = .seconds(30)
    /// With requests outstanding and nothing read for this long, the connection is probed.
    public var stallBeforePing: Duration = .seconds(10)
    /// For the answer to a PING; after that the connection counts as dead.
    public var pingAnswer: Duration = .seconds(8)
    /// A connection on which requests wait and none is answered for this long takes no more of them, though it may answer PING:
    /// so it ends with APNs after some refusals of a provider token (Reference/APNs.md#2-1).
    public var noAnswer: Duration = .seconds(20)
    /// Written bytes that the other machine does not acknowledge for this long end the connection, where the system can do that
    /// (Linux: TCP_USER_TIMEOUT); elsewhere the PING does it later. At least a millisecond.
    public var unacknowledged: Duration = .seconds(20)
    /// A connection without a push for this long is closed.
    public var idle: Duration = .seconds(15 * 60)
    /// For the answers still owed on a connection after a GOAWAY or at shutdown.
    public var drain: Duration = .seconds(30)
    /// The same on a connection whose provider token was refused, which often never answers again (Reference/APNs.md#2-1).
    public var drainAfterTokenFault: Duration = .seconds(5)
    /// The queue must have waited this long before a further connection is opened beside working ones.
    public var queueBeforeScaling: Duration = .milliseconds(100)
    /// Between two attempts to connect, at least.
    public var connectPace: Duration = .milliseconds(100)
    /// The first pause after a failed attempt; it doubles up to `maximumBackOff`.
    public var initialBackOff: Duration = .seconds(1)
    public var maximumBackOff: Duration = .seconds(60)
    /// The longest pause while APNs is unreachable, unless APNs asked for more. A connection is tried only while pushes wait, once
    /// per pause, so that sending resumes within seconds once APNs is reachable.
    public var longestProbePause: Duration = .seconds(3)
    /// After APNs refused the credential, pushes end at once for this long before one more connection is tried.
    public var credentialPause: Duration = .seconds(60)

    /// The defaults (Reference/APNs.md#1-8).
    public init() {}

    /// Deadlines are checked no more often than this, so that many close together cost one pass.
    var sweepInterval: Duration { min(max(pushDeadline / 100, .milliseconds(1)), .milliseconds(250)) }

    /// What a push gets on the event loop, so that the look that finds it late still keeps the promise.
    var timeLimit: Duration { max(pushDeadline - sweepInterval, pushDeadline / 2) }
}

/// An HTTP proxy that lets connections out by CONNECT (RFC 9110, 9.3.6).
///
/// The proxy resolves the name of APNs; TLS runs through it from end to end, so it sees neither tokens nor content.
public struct APNsProxy: Sendable, Hashable {
    /// A name or an address.
    public var host: String
    public var port: Int
    /// For `Proxy-Authorization: Basic`; absent for an open proxy. They are sent to the proxy unencrypted.
    public var credentials: Credentials?

    /// Name and password at the proxy.
    public struct Credentials: Sendable, Hashable {
        /// Without a colon (RFC 7617).
        public var user: String
        public var password: String

        /// Creates credentials.
        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// Creates a proxy.
    public init(host: String, port: Int, credentials: Credentials? = nil) {
        self.host = host
        self.port = port
        self.credentials = credentials
    }

    var isValid: Bool {
        guard !host.isEmpty, host.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), (1...65_535).contains(port) else {
            return false
        }
        guard let credentials else { return true }
        return !credentials.user.contains(":")
            && (credentials.user + credentials.password).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

extension APNsProxy: CustomStringConvertible {
    /// Never the credentials.
    public var description: String { "\(host):\(port)" }
}

/// Why a client cannot be made from a configuration. Safe to show: nothing of a key is in it.
public enum APNsConfigurationFault: Error, Hashable, Sendable {
    /// The host is empty or the port is not 1 to 65535.
    case endpoint
    /// The proxy's host, port or credentials cannot be used.
    case proxy
    /// The additional trust roots are no PEM certificates.
    case trustRoots
    /// The system has no certificates of public authorities.
    case systemRoots
    /// The client certificate chain is no PEM certificates.
    case certificateChain
    /// The key of the client certificate is no PEM key.
    case certificateKey
    /// TLS cannot be set up for another reason.
    case tls
}

extension APNsConfigurationFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .endpoint: "the APNs endpoint needs a host and a port of 1 to 65535"
        case .proxy: "the proxy needs a host, a port of 1 to 65535, a user name without a colon and no control characters"
        case .trustRoots: "the additional trust roots for APNs are no PEM certificates"
        case .systemRoots:
            "this system has no certificates of public authorities, which vouch for the push service; install them (Debian: ca-certificates)"
        case .certificateChain: "the APNs client certificate is no PEM certificate chain"
        case .certificateKey: "the key of the APNs client certificate is no PEM private key"
        case .tls: "TLS to APNs cannot be set up with this configuration"
        }
    }
}

extension TLSConfiguration {
    /// TLS for APNs (Reference/APNs.md#1-3): 1.2 or later, `h2` offered, the whole chain and the name verified.
    static func apns(_ trust: APNsClientConfiguration.Trust) throws(APNsConfigurationFault) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["h2"]
        tls.certificateVerification = .fullVerification
        switch trust {
        case .system: guard hasSystemRoots else { throw .systemRoots }
        case .additional(let pem):
            guard let roots = try? NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)), !roots.isEmpty else { throw .trustRoots }
            if hasSystemRoots { tls.additionalTrustRoots = [.certificates(roots)] } else { tls.trustRoots = .certificates(roots) }
        }
        return tls
    }

    /// A minimal system has no roots, and swift-nio-ssl makes no context there, whatever else is trusted.
    private static let hasSystemRoots = (try? NIOSSLContext(configuration: .makeClientConfiguration())) != nil
}

extension NIOSSLContext {
    /// The same with the client's certificate, if it has one.
    convenience init(
        apns trust: APNsClientConfiguration.Trust, credential: APNsClientConfiguration.Credential
    ) throws(APNsConfigurationFault) {
        var tls = try TLSConfiguration.apns(trust)
        if case .certificate(let chain, let key) = credential {
            guard let certificates = try? NIOSSLCertificate.fromPEMBytes(Array(chain.utf8)), !certificates.isEmpty else {
                throw .certificateChain
            }
            guard let privateKey = try? NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem) else { throw .certificateKey }
            tls.certificateChain = certificates.map { .certificate($0) }
            tls.privateKey = .privateKey(privateKey)
        }
        do { try self.init(configuration: tls) } catch { throw .tls }
    }
}
