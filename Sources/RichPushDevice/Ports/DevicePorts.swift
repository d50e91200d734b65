import RichPushModel

/// What the engine needs of its surroundings in every process: the app and the service extension each make their own.
public struct DevicePorts: Sendable {
    public var transport: any HTTPTransport
    public var secrets: any SecretStore
    public var store: any SharedStore
    public var cache: any ContentCache
    public var clock: any ServiceClock
    public var identifiers: any IdentifierSource
    public var log: any EventLog
    public var power: any PowerState

    /// Gathers the ports.
    public init(
        transport: any HTTPTransport, secrets: any SecretStore, store: any SharedStore, cache: any ContentCache,
        clock: any ServiceClock, identifiers: any IdentifierSource, log: any EventLog,
        power: any PowerState = FullPower()
    ) {
        self.transport = transport
        self.secrets = secrets
        self.store = store
        self.cache = cache
        self.clock = clock
        self.identifiers = identifiers
        self.log = log
        self.power = power
    }
}

/// What only the app has.
public struct AppPorts: Sendable {
    public var notifications: any NotificationPresenting
    public var push: any PushRegistering
    public var environment: any AppEnvironment
    public var router: any ContentRouting
    /// Absent where the system runs no app in the background.
    public var scheduling: (any BackgroundScheduling)?

    /// Gathers the ports.
    public init(
        notifications: any NotificationPresenting, push: any PushRegistering, environment: any AppEnvironment,
        router: any ContentRouting, scheduling: (any BackgroundScheduling)? = nil
    ) {
        self.notifications = notifications
        self.push = push
        self.environment = environment
        self.router = router
        self.scheduling = scheduling
    }
}
