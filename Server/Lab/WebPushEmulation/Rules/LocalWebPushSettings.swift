import ServiceEmulation

/// How a local push service is set up.
public struct LocalWebPushSettings: Sendable, Hashable {
    /// A certificate with its chain and the key, in PEM.
    public struct Identity: Sendable, Hashable {
        public var certificatePEM: String
        public var privateKeyPEM: String

        /// Creates an identity.
        public init(certificatePEM: String, privateKeyPEM: String) {
            (self.certificatePEM, self.privateKeyPEM) = (certificatePEM, privateKeyPEM)
        }
    }

    /// The address to listen on. Anything but loopback is refused unless `allowsRemoteClients`.
    public var host: String
    /// The port; 0 lets the system choose.
    public var port: Int
    /// Whether an address that other machines reach is allowed. With 0.0.0.0 the endpoints need an `origin`.
    public var allowsRemoteClients: Bool
    /// Scheme, host and port of the endpoints, for a service behind a proxy with TLS. `nil` takes the address of the listener.
    public var origin: String?
    /// What it shows to clients, which then connect by TLS and may choose HTTP/2. `nil` for a service without TLS.
    public var identity: Identity?
    /// Whether senders with TLS may choose HTTP/2.
    public var speaksHTTP2 = true
    /// How much is kept.
    public var bounds: LocalWebPushBounds

    /// Creates settings; the defaults are a free loopback port.
    public init(
        host: String = "127.0.0.1", port: Int = 0, allowsRemoteClients: Bool = false, origin: String? = nil,
        identity: Identity? = nil, bounds: LocalWebPushBounds = LocalWebPushBounds()
    ) {
        (self.host, self.port, self.allowsRemoteClients) = (host, port, allowsRemoteClients)
        (self.origin, self.identity, self.bounds) = (origin, identity, bounds)
    }

    /// The origin of a listener.
    func origin(port: Int) -> String {
        origin ?? LocalOrigin.text(identity == nil ? "http" : "https", host: host, port: port)
    }
}

/// How much a local push service keeps.
public struct LocalWebPushBounds: Sendable, Hashable {
    /// Browsers; a further one is turned away.
    public var users: Int
    /// Subscriptions of a browser; a further one is answered 500.
    public var subscriptions: Int
    /// Messages that may wait for a browser; one more, and it is reset (Reference/WebPush.md#6-4).
    public var waitingMessages: Int
    /// Stored messages that leave together.
    public var batch: Int
    /// Entries of each list of the recorder.
    public var recorded: Int
    /// Connections at a time.
    public var connections: Int
    /// Bytes of a message of a browser.
    public var browserMessage: Int
    /// Pairs of salt and key that are remembered.
    public var usedKeys: Int

    /// Creates bounds; the defaults are Mozilla's where it has some.
    public init(
        users: Int = 1_000, subscriptions: Int = 200, waitingMessages: Int = 150, batch: Int = 10, recorded: Int = 1_000,
        connections: Int = 2_000, browserMessage: Int = 65_536, usedKeys: Int = 10_000
    ) {
        (self.users, self.subscriptions, self.waitingMessages) = (users, subscriptions, waitingMessages)
        (self.batch, self.recorded, self.connections) = (max(1, batch), recorded, connections)
        (self.browserMessage, self.usedKeys) = (browserMessage, usedKeys)
    }
}

/// Why a local push service could not be set up. The texts hold no secret.
public enum LocalWebPushError: LocalListenerError, Hashable, Sendable, CustomStringConvertible {
    /// The host is reachable by other machines and `allowsRemoteClients` is off.
    case notLoopback(host: String)
    /// The address is in use or not of this machine.
    case cannotListen(host: String, port: Int, cause: String)
    /// A service starts once.
    case alreadyStarted
    /// Certificate and key cannot be used.
    case badIdentity(cause: String)
    /// What an earlier run kept cannot be read.
    case badKeptState(String)

    public var description: String {
        switch self {
        case .notLoopback(let host):
            "The local push service refuses to listen on \(host): other machines could reach it. Allow remote clients if that is meant."
        case .cannotListen(let host, let port, let cause):
            "The local push service cannot listen on \(host) port \(port): \(cause)"
        case .alreadyStarted: "The local push service was started before."
        case .badIdentity(let cause): "The certificate of the local push service cannot be used: \(cause)."
        case .badKeptState(let cause): "What an earlier run kept cannot be read: \(cause)."
        }
    }
}
