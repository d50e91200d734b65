import APNsHTTP2
import APNsProtocol
import AppBackend
import Logging
import PostgresDatabase
import ServerObservability
import SharedAccess

/// What a node was told to do: plain values, checked one by one and against each other. Made by `SettingsLoader`.
public struct Settings: Hashable, Sendable {
    /// Where the database and the content live.
    public var dataDirectory: String
    /// PostgreSQL in place of the file in the data directory.
    public var database: Database?
    /// The bucket that keeps the contents; absent means the data directory.
    public var contentStore: ContentStore?
    /// What this node does of all that nodes do.
    public var role: NodeRole = .all
    /// The largest content, in bytes.
    public var contentLimit: Int64
    /// The most pixels of a picture, width times height.
    public var contentPixels: Int64 = 100_000_000
    /// How many bytes the contents of one user may have together.
    public var contentQuota: Int64
    /// The key that seals the secrets of hubs, as Base64; absent means the one in the data directory.
    public var masterKey: SecretText?
    /// How long what was sent is kept.
    public var retention: RetentionSettings
    public var listening: Listening
    /// Where `/metrics` answers; absent means nowhere.
    public var metrics: Address?
    public var logging: Logging
    public var apns: APNs
    public var notifications: Notifications
    public var hubBounds = HubBounds()
    public var users = UserBounds()
    /// The hub that the app backend sends through in place of this node's own; absent means this node's.
    public var remoteHub: RemoteHub?
    /// How long one push may take.
    public var pushDeadline: Duration
    /// How long a stopping server waits for what is under way.
    public var shutdownDeadline: Duration

    /// A PostgreSQL database that several nodes may share.
    public struct Database: Hashable, Sendable {
        public var url: DatabaseURL
        /// How many connections this node opens.
        public var connections: Int
        /// What stands before it.
        public var pooler: DatabasePooler
        /// Whether it is used although its settings lose acknowledged writes at a crash.
        public var isWithoutFsync: Bool

        /// Creates the place of a database.
        public init(url: DatabaseURL, connections: Int, pooler: DatabasePooler = .session, isWithoutFsync: Bool = false) {
            self.url = url
            self.connections = connections
            self.pooler = pooler
            self.isWithoutFsync = isWithoutFsync
        }
    }

    /// A host and a port to listen on; port 0 means any free one.
    public struct Address: Hashable, Sendable {
        public var host: String
        public var port: Int

        /// Creates an address.
        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// The HTTP interface.
    public struct Listening: Hashable, Sendable {
        public var address: Address
        /// Scheme, host and port with which links begin, without a slash at the end; absent means the listening address.
        public var publicURL: String?
        public var isBehindTLSProxy: Bool
        /// Whose `X-Forwarded-For` is believed.
        public var trustedProxies: [AddressRange]
        /// How many connections may be open at once.
        public var connectionLimit: Int
        /// How many connections may wait to be accepted; absent means as many as the system allows, at most 4,096.
        public var backlog: Int?
        /// How many requests of the app backend may be under way at once.
        public var requestLimit: Int
        /// The HTTPS interface; absent means that there is none.
        public var tls: TLS?
        /// The port at the host of `address` for HTTP/2 without TLS; absent means none, 0 any free one.
        public var priorKnowledgePort: Int?
    }

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

    public struct Logging: Hashable, Sendable {
        public var level: Logger.Level
        public var format: LogFormat
    }

    /// How pushes reach Apple, or a local APNs.
    public struct APNs: Hashable, Sendable {
        public var environment: APNsEnvironment
        /// Who signs; absent means that nothing can be pushed.
        public var credential: Credential?
        /// In place of Apple's host; absent means Apple's.
        public var host: String?
        public var port: Int
        /// Whether pushes for production may go to a host that is not Apple's.
        public var allowsLocalHost = false
        /// The way out of the network; absent means a direct one.
        public var proxy: APNsProxy?
        /// A PEM file with the certificates that vouch for `host`.
        public var trustRootsPath: String?
        /// The host for pushes of the sandbox; absent means that they go where those for production go.
        public var sandboxHost: SandboxHost?

        /// A host that takes pushes of the sandbox only.
        public struct SandboxHost: Hashable, Sendable {
            public var host: String
            public var port: Int
            /// A PEM file with the certificates that vouch for `host`; absent means those of the system.
            public var trustRootsPath: String?
        }
    }

    /// A signing key and what belongs to it.
    public struct Credential: Hashable, Sendable {
        public var teamID: String
        public var keyID: String
        /// The bundle id.
        public var topic: String
        /// The text of the `.p8`.
        public var key: SecretText
        /// Where the `.p8` lies; absent when its text was given.
        public var keyPath: String?
    }

    /// A hub elsewhere.
    public struct RemoteHub: Hashable, Sendable {
        /// Where it is and with which key; prints without the key.
        public var connection: ConnectionString
        public var name: String
        /// A PEM file with certificates that vouch for it besides the system's.
        public var trustRootsPath: String?
    }

    public struct Notifications: Hashable, Sendable {
        public var hubName: String
        /// How many sends each hub takes in a second; absent means as many as come.
        public var hubSendsPerSecond: Int?
        /// The same for changes of registrations and installations.
        public var hubWritesPerSecond: Int?
        /// Always holds `username:`.
        public var protectedTagPrefixes: [String]
        public var neutralText: String
        /// The picture of a send without a body; absent means the built-in one.
        public var defaultPicturePath: String?
    }
}
