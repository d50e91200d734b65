import ServiceEmulation

/// How a local FCM is set up. The defaults are a free loopback port and Google's numbers.
public struct LocalFCMSettings: Sendable, Hashable {
    /// A certificate with its chain and the key, in PEM.
    public struct Identity: Sendable, Hashable {
        public var certificatePEM: String
        public var privateKeyPEM: String

        /// Creates an identity.
        public init(certificatePEM: String, privateKeyPEM: String) {
            (self.certificatePEM, self.privateKeyPEM) = (certificatePEM, privateKeyPEM)
        }
    }

    /// What it shows to clients.
    public var identity: Identity
    /// The address to listen on. Anything but loopback is refused unless `allowsRemoteClients`.
    public var host: String
    /// The port for TLS; 0 lets the system choose.
    public var port: Int
    public var allowsRemoteClients = false
    /// It is reached by the names of Google's hosts: key files then name Google's token URL (Reference/FCM.md#8).
    public var standsInForGoogle = false
    public var tokenLifetime: Duration = .seconds(3_600)
    public var quotas = LocalFCMQuotas()
    public var bounds = LocalFCMBounds()

    /// Creates settings.
    public init(identity: Identity, host: String = "127.0.0.1", port: Int = 0) {
        (self.identity, self.host, self.port) = (identity, host, port)
    }

    /// What the service account of a key file is called when nothing else is said, as in Google's console.
    public static let standardAccount = "firebase-adminsdk"

    static let googleTokenURL = "https://oauth2.googleapis.com/token"
}

/// How much the service allows (Reference/FCM.md#4).
public struct LocalFCMQuotas: Sendable, Hashable, Codable {
    public var projectPerMinute = 600_000
    public var devicePerMinute = 240
    public var devicePerHour = 5_000
    /// Collapsible messages to a device at once, and the seconds until one more is allowed.
    public var collapsibleBurst = 20
    public var collapsibleRefillSeconds = 180
    /// Messages without a collapse key that wait for a device; one more, and all are dropped. And different keys that wait.
    public var waitingMessages = 100
    public var collapseKeys = 4
    public var topicsPerDevice = 2_000
    /// Days without contact after which a registration token is dead.
    public var inactiveDays = 270
    /// High-priority messages without a visible notification, after which the next are delivered with normal priority. `nil`:
    /// never, as Google names no number (Reference/FCM.md#6).
    public var silentHighPriority: Int?

    /// Creates Google's quotas.
    public init() {}
}

/// How much a local FCM keeps.
public struct LocalFCMBounds: Sendable, Hashable {
    public var projects = 100
    public var devices = 1_000_000
    public var accessTokens = 10_000
    /// Entries of each list of the recorder.
    public var recorded = 1_000
    /// Events that wait for the reader of a phone. Of them and of access tokens the oldest go first.
    public var phoneEvents = 10_000
    public var connections = 2_000
    public var streams = 100

    /// Creates bounds for a test or a demo.
    public init() {}
}

/// Why a local FCM could not do what its operator asks. The texts hold no secret.
public enum LocalFCMError: LocalListenerError, Hashable, Sendable, CustomStringConvertible {
    case notLoopback(host: String)
    case cannotListen(host: String, port: Int, cause: String)
    /// The certificate or its key cannot be read.
    case badIdentity(cause: String)
    case alreadyStarted
    /// What an earlier run kept cannot be read.
    case badKeptState(String)
    /// There is no such project, or no such device.
    case unknown(String)
    /// A name of another form, a taken one, or one more than the bounds allow.
    case notPossible(String)

    public var description: String {
        switch self {
        case .notLoopback(let host):
            "The local FCM refuses to listen on \(host): other machines could reach it. Allow remote clients if that is meant."
        case .cannotListen(let host, let port, let cause): "The local FCM cannot listen on \(host) port \(port): \(cause)"
        case .badIdentity(let cause): "The certificate of the local FCM cannot be used: \(cause)"
        case .alreadyStarted: "The local FCM was started before."
        case .badKeptState(let cause): "What an earlier run kept cannot be read: \(cause)."
        case .unknown(let what): "There is no \(what)."
        case .notPossible(let cause): "That is not possible: \(cause)."
        }
    }
}
