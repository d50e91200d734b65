import AppBackend
import Logging
import PostgresDatabase
import RichPushModel
import ServerObservability
import SharedAccess

/// The configuration of a node: the value of each setting under the name of its declaration in `SettingCatalog`, checked one by one and
/// against each other. Made by `SettingsLoader`.
@dynamicMemberLookup
public struct Settings: Hashable, Sendable {
    private var values = SettingValues()
    /// The hub that the app backend sends through in place of this node's own; absent means this node's.
    public var remoteHub: RemoteHub?
    /// The issuers whose tokens sign users in, as they stand in their file.
    public internal(set) var issuers: TrustedIssuerFile?
    /// Each value and where it came from. Settings that say the same are equal wherever that stands.
    public internal(set) var report = SettingsReport(resolutions: [], file: nil)
    /// The provider at which people sign in to the console, as it stands in its file.
    public internal(set) var consoleProvider: TrustedIssuerFile?

    /// The defaults.
    init() {}

    public static func == (left: Settings, right: Settings) -> Bool {
        left.values == right.values && left.remoteHub == right.remoteHub && left.issuers == right.issuers
            && left.consoleProvider == right.consoleProvider
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(values) }

    public subscript<Value>(dynamicMember key: KeyPath<SettingCatalog, Setting<Value>>) -> Value {
        get { values[SettingCatalog.standard[keyPath: key]] }
        set { values[SettingCatalog.standard[keyPath: key]] = newValue }
    }

    public subscript<Group>(dynamicMember key: KeyPath<SettingCatalog, Group>) -> GroupedSettings<Group> {
        get { GroupedSettings(values: values, group: SettingCatalog.standard[keyPath: key]) }
        set { values = newValue.values }
    }

    /// Stores the value of a setting.
    mutating func store<Value>(_ value: Value, for setting: Setting<Value>) { values[setting] = value }

    /// A PostgreSQL database that several nodes may share.
    public struct Database: Hashable, Sendable {
        public var url: DatabaseURL
        /// How many connections this node opens.
        public var connections: Int
        /// What stands before it.
        public var pooler = DatabasePooler.session
        /// Whether it is used although its settings lose acknowledged writes at a crash.
        public var isWithoutFsync = false
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

        /// Whether only this machine can reach it.
        public var isLoopback: Bool { AddressRange.isLoopback(host: host) }
    }

    public struct Logging: Hashable, Sendable {
        public var level: Logger.Level
        public var format: LogFormat

        /// Creates settings of the log.
        public init(level: Logger.Level, format: LogFormat) {
            self.level = level
            self.format = format
        }
    }
}

extension Settings {
    /// PostgreSQL in place of the file in the data directory.
    public var database: Database? {
        get {
            self.databaseURL.map {
                Database(
                    url: $0, connections: self.databaseConnections, pooler: self.databasePooler,
                    isWithoutFsync: self.databaseWithoutFsync)
            }
        }
        set {
            self.databaseURL = newValue?.url
            guard let newValue else { return }
            self.databaseConnections = newValue.connections
            self.databasePooler = newValue.pooler
            self.databaseWithoutFsync = newValue.isWithoutFsync
        }
    }

    /// Where `/metrics` answers; absent means nowhere.
    public var metrics: Address? { self.metricsPort.map { Address(host: self.metricsHost, port: $0) } }

    public var logging: Logging { Logging(level: self.logLevel, format: self.logFormat) }

    /// Where a browser finds the console.
    public var consoleAddress: String {
        if let url = self.listening.publicURL { return url + self.console.path }
        let host = self.listening.address.host
        return "http://\(host.contains(":") ? "[\(host)]" : host):\(self.listening.address.port)\(self.console.path)"
    }

    /// What these settings say to the app backend.
    package var backend: BackendSettings {
        var backend = BackendSettings()
        backend.contentLimit = self.contentLimit
        backend.pixelLimit = Int64(self.contentPixels)
        backend.contentQuota = self.contentQuota
        backend.retention.content = self.retention.content
        backend.retention.grace = self.retention.grace
        backend.retention.audit = self.retention.audit
        backend.webhookRule = self.webhooks.rule
        backend.webhookRetryPause = self.webhooks.retryPause
        backend.consoleIdle = self.console.idleTimeout
        backend.consoleLife = self.console.sessionLife
        backend.minimumPasswordLength = self.users.minimumPasswordLength
        backend.userSendsPerMinute = self.users.userSendsPerMinute
        backend.senderSendsPerMinute = self.users.senderSendsPerMinute
        backend.userDevices = self.users.devices
        backend.waitingContents = self.users.waitingContents
        backend.protectedTagPrefixes = self.notifications.protectedTagPrefixes
        backend.neutralText = self.notifications.neutralText
        backend.quietHours = self.notifications.quietHours
        backend.quietHoursZone = self.notifications.quietHoursZone
        backend.userQuietHours = self.notifications.userQuietHours
        backend.approvalAbove = self.notifications.approvalAbove
        backend.frequencyCaps = self.notifications.frequencyCaps
        backend.webPush = self.webPush.terms
        return backend
    }
}

extension SettingsResolver {
    /// A problem for a node that shares its work without a shared database, and for a quota below one content.
    mutating func checkStorage() {
        if settings.role != .all, settings.database == nil {
            complain(\.role, "is for nodes that share a database; set database-url as well")
        }
        if settings.contentQuota < settings.contentLimit {
            complain(\.contentQuota, "is less than content-limit, so the largest content could never be stored")
        }
    }

    /// A problem for metrics that other machines could read without a password.
    mutating func checkMetrics() {
        guard let address = settings.metrics, !AddressRange.isLoopback(host: address.host), !settings.metricsOpen else { return }
        complain(\.metricsHost, "is beyond this machine and /metrics asks for no password; set metrics-open: true")
    }
}

extension Settings {
    /// The platforms for which the node has a credential. Hubs may have credentials of their own.
    public var platforms: [Platform] {
        [
            (Platform.apns, self.apns.credential != nil), (.fcmv1, self.fcm.account != nil),
            (.browser, self.webPush.identity != nil),
        ]
        .filter(\.1).map(\.0)
    }

    /// The same in words.
    package var pushedPlatforms: [String] {
        let names: [Platform: String] = [.apns: "Apple's devices", .fcmv1: "Android", .browser: "browsers"]
        return platforms.compactMap { names[$0] }
    }
}

/// What a node does of all that nodes do.
public enum NodeRole: String, Hashable, Sendable, CaseIterable {
    /// Everything.
    case all
    /// Answers requests; others send.
    case api
    /// Sends and keeps things in order; of requests it answers only whether it is well.
    case worker

    /// Whether the interfaces for phones, senders and hub clients are here.
    public var answers: Bool { self != .worker }

    /// Whether pushes leave from here, and jobs and sweeps run here.
    public var dispatches: Bool { self != .api }
}

/// A text that must not be seen: printing it, in a log or an error, shows only that it is there.
public struct SecretText: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let text: String

    /// Wraps a secret.
    public init(_ text: String) { self.text = text }

    /// The secret itself, for the one place that uses it.
    public func reveal() -> String { text }

    public var description: String { "(secret)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The version that the program, its answers and its logs name.
public enum ClarionVersion {
    /// Major, minor, patch, as Semantic Versioning has it.
    public static let current = "0.1.0"
}
