import CalendarTime
import Logging
import PushHub
import RichPushModel
import SharedAccess
import TrustedIssuers
import WebPushProtocol

/// All that a `RichPushBackend` is made of.
public struct BackendParts: Sendable {
    public var settings: BackendSettings
    public var clock: any ServiceClock
    public var hub: any HubSending
    public var store: any BackendStore
    public var contentStore: any ContentStore
    public var authenticator: any UserAuthenticator
    public var hasher: PasswordHasher
    public var ticketSigner: ContentTicketSigner
    public var observer: (any BackendObserver)?
    public var logger: Logger
    /// For which environments of APNs there is a credential now; `nil` when that cannot be known, as of a hub elsewhere.
    public var pushEnvironments: (@Sendable () async -> [String]?)?
    /// The hubs of the node, which administrators and keys manage; `nil` where that is not offered.
    public var hubs: ManagedHubs?
    /// The broadcast channels of the app; `nil` where the hub is elsewhere.
    public var channels: (any BroadcastChannels)?
    /// Verifies tokens of the issuers whom the operator trusts; `nil` when there are none.
    public var tokens: TokenVerifier?
    /// Where people sign in to the console; `nil` when links are the only way.
    public var provider: ProviderSignIn?
    /// The settings of the node, for administrators; `nil` where they are not known.
    public var nodeSettings: NodeSettings?
    /// What the nodes have to do; `nil` where that is not known.
    public var workload: (@Sendable () async throws -> Workload)?
    /// The time zones of the system.
    public var zones: TimeZoneDatabase
    /// Derives the secrets of webhooks; nodes that share a database need the same.
    public var webhookSecrets: WebhookSecrets
    /// Derives the secrets of second factors; nodes that share a database need the same.
    public var timeCodes: TimeCodeSecrets

    /// Creates parts.
    public init(
        settings: BackendSettings = BackendSettings(), clock: any ServiceClock, hub: any HubSending, store: any BackendStore,
        contentStore: any ContentStore, authenticator: any UserAuthenticator, hasher: PasswordHasher,
        ticketSigner: ContentTicketSigner = ContentTicketSigner(), observer: (any BackendObserver)? = nil, logger: Logger,
        pushEnvironments: (@Sendable () async -> [String]?)? = nil, hubs: ManagedHubs? = nil,
        channels: (any BroadcastChannels)? = nil,
        tokens: TokenVerifier? = nil, provider: ProviderSignIn? = nil, nodeSettings: NodeSettings? = nil,
        workload: (@Sendable () async throws -> Workload)? = nil, zones: TimeZoneDatabase = TimeZoneDatabase(),
        webhookSecrets: WebhookSecrets = WebhookSecrets(.random()), timeCodes: TimeCodeSecrets = TimeCodeSecrets(.random())
    ) {
        self.settings = settings
        self.clock = clock
        self.hub = hub
        self.store = store
        self.contentStore = contentStore
        self.authenticator = authenticator
        self.hasher = hasher
        self.ticketSigner = ticketSigner
        self.observer = observer
        self.logger = logger
        self.pushEnvironments = pushEnvironments
        self.hubs = hubs
        self.channels = channels
        self.tokens = tokens
        self.provider = provider
        self.nodeSettings = nodeSettings
        self.workload = workload
        self.zones = zones
        self.webhookSecrets = webhookSecrets
        self.timeCodes = timeCodes
    }
}

/// The hubs of a node, and the memory of them.
public struct ManagedHubs: Sendable {
    let registry: HubRegistry
    let catalog: HubCatalog
    /// Tries credentials; `nil` where nothing is sent.
    let transport: (any PushTransport)?
    /// The hub through which the app backend sends; `nil` where that is elsewhere.
    let own: HubID?

    /// Creates a value.
    public init(registry: HubRegistry, catalog: HubCatalog, transport: (any PushTransport)? = nil, own: HubID? = nil) {
        self.registry = registry
        self.catalog = catalog
        self.transport = transport
        self.own = own
    }
}

/// What an operator may set of the app backend.
public struct BackendSettings: Sendable, Hashable {
    /// The most bytes of one content.
    public var contentLimit: Int64 = 50 * 1024 * 1024
    /// The most pixels of a picture, width times height.
    public var pixelLimit: Int64 = 100_000_000
    /// The most bytes of one user's contents together, those that wait to be sent and those that were.
    public var contentQuota: Int64 = 1_000_000_000
    /// The most contents of one user that wait to be sent.
    public var waitingContents = 200
    /// The most schedules of one user that wait.
    public var waitingSchedules = 1_000
    /// How many sends a user of role `user` may begin in a minute, on each node.
    public var userSendsPerMinute = 60
    /// The same for roles `sender` and `admin`.
    public var senderSendsPerMinute = 3_000
    /// The most devices on which one user is signed in.
    public var userDevices = 100
    /// How long a content may wait to be sent.
    public var stagedLifetime: Duration = .seconds(24 * 3600)
    /// Beginnings of tags that only the server sets. Compared without regard to case.
    public var protectedTagPrefixes = ["username:", "role:", "team:"]
    /// The hours in which devices are left alone, by their own clocks; absent means none.
    public var quietHours: QuietHours?
    /// The zone of devices that report none.
    public var quietHoursZone = "UTC"
    /// Whether users may have hours of their own.
    public var userQuietHours = false
    /// To how many devices a person may send alone; `nil` for any number.
    public var approvalAbove: Int?
    /// How many sends of a kind a user gets at most, each with another name.
    public var frequencyCaps: [FrequencyCap] = []
    /// What Apple carries in place of the texts when the preview is neutral.
    public var neutralText = "You have a new message"
    /// The message of the rich push tutorial's send.
    public var defaultMessage = "Check this image out!"
    /// How long an installation credential lives without being used.
    public var credentialLifetime: Duration = .seconds(90 * 24 * 3600)
    /// How long what was sent is kept.
    public var retention = RetentionSettings()
    /// How long an idempotency key is remembered.
    public var idempotencyKeyLifetime: Duration = .seconds(7 * 24 * 3600)
    /// How browsers are pushed to, unless the hub has keys of its own.
    public var webPush = WebPushTerms(publicKey: nil)
    /// Where webhooks may lead.
    public var webhookRule = OutboundRule(networks: [], setting: "webhook-networks")
    /// The pause after the first attempt of an event for a webhook that fails; later ones grow.
    public var webhookRetryPause: Duration = .seconds(5)
    /// How long a session of the console holds without being used.
    public var consoleIdle: Duration = .seconds(1_800)
    /// How long a session of the console holds in any case.
    public var consoleLife: Duration = .seconds(12 * 3600)
    /// The fewest characters of a new password.
    public var minimumPasswordLength = 12

    /// How much the contents of one user may take up.
    var quota: ContentQuota { ContentQuota(bytes: contentQuota, waiting: waitingContents) }

    /// The defaults.
    public init() {}
}

/// What a browser has to know before it subscribes, and what its subscription must be like.
public struct WebPushTerms: Sendable, Hashable, Codable {
    /// The key that it subscribes with: `applicationServerKey`, a point on P-256 in Base64 for URLs. Absent where there are no keys.
    public var publicKey: String?
    /// Which ones may register.
    var rule = WebPushRule()

    private enum CodingKeys: String, CodingKey { case publicKey }

    /// Creates terms.
    public init(publicKey: String?, rule: WebPushRule = WebPushRule()) { (self.publicKey, self.rule) = (publicKey, rule) }
}

/// How long what is kept. Everything else has a time of its own: contents that wait to be sent, idempotency keys, credentials.
public struct RetentionSettings: Sendable, Hashable {
    /// How long a notification stays after its send ended, with its content, its places in inboxes and its receipts. One with an
    /// expiry of its own that comes sooner goes at that.
    public var content: Duration = .seconds(30 * 86_400)
    /// How much longer everything stays that would go: Apple keeps a push for up to 30 days, and the phone that gets it at the
    /// last moment has to be able to fetch.
    public var grace: Duration = .seconds(86_400)
    /// How long an audit entry stays.
    public var audit: Duration = .seconds(180 * 86_400)

    /// The defaults.
    public init() {}
}

/// Receives events, for a demonstration or a display. It must return at once and gets no content.
public protocol BackendObserver: Sendable {
    /// Called after the fact.
    func observed(_ event: BackendEvent)
}

/// Something that happened in the app backend.
public enum BackendEvent: Hashable, Sendable {
    /// A notification is stored, since `at`, and the hub has taken it.
    case accepted(RichID, trackingID: NotificationID, sender: UserName, kind: ContentKind, style: DeliveryStyle, at: Timestamp)
    case recalled(RichID)
    /// A receipt was recorded for the first time.
    case receipt(Receipt, user: UserName, installation: InstallationID)
    /// A device was bound to a user.
    case registered(RecordID, user: UserName)
    /// A device was signed out.
    case signedOut(RecordID, user: UserName)
}
