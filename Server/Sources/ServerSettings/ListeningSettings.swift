import NIOCore
import ServiceErrors
import SharedAccess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The HTTP interfaces.
public struct ListeningSettings: SettingGroup {
    package let host = Setting(
        "listen-host", .host, default: "127.0.0.1",
        """
        The address the server listens on. Anything but this machine needs behind-tls-proxy, because passwords travel in every \
        request.
        """)
    package let port = Setting(
        "listen-port", .listeningPort, default: 8080,
        "The port of the HTTP interface.")
    package let publicURL = Setting(
        "public-url", .optional(.siteURL), default: nil,
        "How phones and users reach the server: scheme, host and port. Set it behind a proxy, so that requests for its name are answered."
    )
    package let isBehindTLSProxy = Setting(
        "behind-tls-proxy", .flag, default: false,
        "Says that a proxy in front ends TLS, so that listening beyond this machine is safe.")
    package let isInsecure = Setting(
        "insecure", .flag, default: false,
        "Allows listening beyond this machine with no TLS in front. Passwords can then be read on the way; for closed networks only."
    )
    package let trustedProxies = Setting(
        "trusted-proxies", .list(.addressRange), default: [],
        """
        The addresses whose X-Forwarded-For is believed when sign-in failures are counted. Empty means that the header is ignored: no \
        caller can blame another, and behind a proxy all callers count as one network.
        """)
    package let tlsHost = Setting(
        "tls-listen-host", .host, default: "127.0.0.1",
        "The address of the HTTPS interface, for HTTP/2 and HTTP/1.1 on one port.")
    package let tlsPort = Setting(
        "tls-listen-port", .optional(.listeningPort), default: nil,
        "The port of the HTTPS interface, customarily 8443. Without it there is no such listener.")
    package let tlsCertificatePath = Setting(
        "tls-certificate-path", .optional(.path), default: nil,
        """
        The certificate chain (PEM) of the HTTPS interface, the server's own first. It is read again when it changes. Without it \
        the server makes a local authority and a certificate of it, in tls in the data directory, for development.
        """)
    package let tlsKeyPath = Setting(
        "tls-key-path", .optional(.path), default: nil,
        "The private key (PEM) of that certificate; only the server needs to be able to read it.")
    package let tlsNames = Setting(
        "tls-names", .list(.host), default: [],
        "More names and addresses of this machine for the certificate that the local authority makes.")
    package let priorKnowledgePort = Setting(
        "prior-knowledge-port", .optional(.listeningPort), default: nil,
        """
        A port at listen-host for HTTP/2 without TLS, for a proxy or a client that knows beforehand. Without it there is no such \
        listener.
        """)
    package let connectionLimit = Setting(
        "connection-limit", .integer(16...1_000_000), default: 10_000,
        """
        How many connections may be open at once; more are answered 503. Where the system allows the process fewer open files \
        than twice this number, the limit is lower, and a line in the log says so.
        """)
    package let backlog = Setting(
        "listen-backlog", .optional(.integer(16...65_535)), default: nil,
        """
        How many connections may wait on each listener until the server accepts them; a client beyond that has to try again, which takes \
        it a second. Without it as many as the system allows, at most 4096. The system caps it at net.core.somaxconn.
        """)
    package let requestLimit = Setting(
        "request-limit", .integer(16...1_000_000), default: 2_000,
        """
        How many requests of the app backend may be under way at once; more are answered 503 with Retry-After. One user may \
        have a quarter of them, and is answered 429 for more.
        """)
}

extension Settings {
    public typealias Listening = GroupedSettings<ListeningSettings>

    /// The HTTPS interface.
    public struct TLS: Hashable, Sendable {
        public var address: Address
        /// The files of chain and key; absent means a certificate of the local authority.
        public var files: Files?
        /// More names for the certificate of the local authority.
        public var names: [String]

        /// Where chain and key lie, both PEM.
        public struct Files: Hashable, Sendable {
            public var certificatePath: String
            public var keyPath: String
        }
    }
}

extension Settings.Listening {
    /// The HTTP interface.
    public var address: Settings.Address {
        get { Settings.Address(host: self.host, port: self.port) }
        set {
            self.host = newValue.host
            self.port = newValue.port
        }
    }

    /// Whether browsers reach the server over TLS.
    public var isReachedOverTLS: Bool {
        self.isBehindTLSProxy || tls != nil || self.publicURL?.lowercased().hasPrefix("https:") == true
    }

    /// The HTTPS interface; absent means that there is none.
    public var tls: Settings.TLS? {
        get {
            guard let port = self.tlsPort else { return nil }
            var tls = Settings.TLS(address: Settings.Address(host: self.tlsHost, port: port), names: self.tlsNames)
            if let certificatePath = self.tlsCertificatePath, let keyPath = self.tlsKeyPath {
                tls.files = Settings.TLS.Files(certificatePath: certificatePath, keyPath: keyPath)
            }
            return tls
        }
        set {
            self.tlsPort = newValue?.address.port
            self.tlsCertificatePath = newValue?.files?.certificatePath
            self.tlsKeyPath = newValue?.files?.keyPath
            guard let newValue else { return }
            self.tlsHost = newValue.address.host
            self.tlsNames = newValue.names
        }
    }
}

extension SettingsResolver {
    /// A problem for a half certificate, for a certificate without an interface, and for passwords that would travel unprotected.
    mutating func checkListening() {
        let listening = settings.listening
        let (certificatePath, keyPath) = (listening.tlsCertificatePath, listening.tlsKeyPath)
        let sentence = "is needed too: tls-certificate-path and tls-key-path belong together"
        if certificatePath == nil, keyPath != nil { complain(\.listening.tlsCertificatePath, sentence) }
        if certificatePath != nil, keyPath == nil { complain(\.listening.tlsKeyPath, sentence) }
        checkCertificate(\.listening.tlsCertificatePath, key: \.listening.tlsKeyPath)
        if listening.tlsPort == nil, certificatePath != nil {
            complain(\.listening.tlsCertificatePath, "is for the HTTPS interface; set tls-listen-port as well")
        }
        if !AddressRange.isLoopback(host: listening.host), !listening.isBehindTLSProxy, !listening.isInsecure {
            complain(
                \.listening.host,
                "is beyond this machine, and passwords would cross the network unprotected; put a TLS proxy in front and set behind-tls-proxy: true"
            )
        }
    }

    /// A problem for each listener whose port another one before it has already, at an address that they share.
    mutating func requireDistinctPorts() {
        let plain = settings.listening.address
        var listeners: [(setting: KeyPath<SettingCatalog, Setting<Int?>>, address: Settings.Address)] = []
        if let tls = settings.listening.tls { listeners.append((\.listening.tlsPort, tls.address)) }
        if let port = settings.listening.priorKnowledgePort {
            listeners.append((\.listening.priorKnowledgePort, Settings.Address(host: plain.host, port: port)))
        }
        if let metrics = settings.metrics { listeners.append((\.metricsPort, metrics)) }
        var taken = [(name: SettingCatalog.standard.listening.port.declaration.key, address: plain)]
        for (setting, address) in listeners {
            if let other = taken.first(where: { $0.address.shares(address) }) {
                complain(setting, "is the port of \(other.name) too, at the same address; each listener needs one of its own")
            }
            taken.append((SettingCatalog.standard[keyPath: setting].declaration.key, address))
        }
    }
}

extension Settings.Address {
    /// Whether one of two listeners keeps the other from its port. Port 0 is any free one.
    fileprivate func shares(_ other: Settings.Address) -> Bool {
        guard port == other.port, port != 0 else { return false }
        let (one, two) = (host.lowercased(), other.host.lowercased())
        if one == two || Self.isEvery(one, of: two) || Self.isEvery(two, of: one) { return true }
        // The name stands for one of this machine's two addresses, or for both.
        return [one, two].contains("localhost") && AddressRange.isLoopback(host: one) && AddressRange.isLoopback(host: two)
    }

    /// Whether a host means all addresses of the machine, that of another listener among them. `::` takes those of IPv4 as well.
    private static func isEvery(_ host: String, of other: String) -> Bool {
        guard let bytes = AddressRange.bytes(ofAddress: host), bytes.allSatisfy({ $0 == 0 }) else { return false }
        return bytes.count == 16 || AddressRange.bytes(ofAddress: other)?.count != 16
    }
}

/// Says which listener could not be opened, and by which setting it moves.
package enum ListenerFault {
    /// Runs a listener and turns the error of the socket into a sentence for the operator.
    package static func explained<Result>(
        _ address: Settings.Address, setting: String, _ run: () async throws -> Result
    ) async throws -> Result {
        do { return try await run() } catch let error as IOError {
            let reason: String
            switch error.errnoCode {
            case EADDRINUSE: reason = "another program uses it"
            case EACCES: reason = "this user may not listen there"
            case EADDRNOTAVAIL: reason = "this machine has no such address"
            default: reason = "the system refused it (errno \(error.errnoCode))"
            }
            throw ServiceError(
                .notReady, "port \(address.port) of \(address.host) cannot be used: \(reason); choose another \(setting)")
        }
    }
}
