import Logging
import PushHub
import RichPushModel
import SharedAccess

/// All that a `RichPushBackend` is made of.
public struct BackendParts: Sendable {
    public var settings: BackendSettings
    public var clock: any ServiceClock
    public var hub: any HubSending
    public var stores: BackendStores
    public var contentStore: any ContentStore
    public var authenticator: any UserAuthenticator
    public var hasher: PasswordHasher
    public var ticketSigner: ContentTicketSigner
    public var observer: (any BackendObserver)?
    public var logger: Logger
    /// For which environments of APNs there is a credential now; `nil` when that cannot be known, as of a hub elsewhere.
    public var pushEnvironments: (@Sendable () async -> [String]?)?

    /// Creates parts.
    public init(
        settings: BackendSettings = BackendSettings(), clock: any ServiceClock, hub: any HubSending, stores: BackendStores,
        contentStore: any ContentStore, authenticator: any UserAuthenticator, hasher: PasswordHasher,
        ticketSigner: ContentTicketSigner = ContentTicketSigner(), observer: (any BackendObserver)? = nil, logger: Logger,
        pushEnvironments: (@Sendable () async -> [String]?)? = nil
    ) {
        self.settings = settings
        self.clock = clock
        self.hub = hub
        self.stores = stores
        self.contentStore = contentStore
        self.authenticator = authenticator
        self.hasher = hasher
        self.ticketSigner = ticketSigner
        self.observer = observer
        self.logger = logger
        self.pushEnvironments = pushEnvironments
    }
}

/// The storage ports of one app.
public struct BackendStores: Sendable {
    public var users: any UserStore
    public var credentials: any CredentialStore
    public var bindings: any BindingStore
    public var contents: any ContentCatalog
    public var notifications: any RichNotificationStore
    public var readMarks: any ReadMarkStore
    public var receipts: any ReceiptStore
    public var retention: any RetentionStore
    public var persons: any PersonStore
    public var signInCounts: any SignInCountStore

    /// Creates a set of stores.
    public init(
        users: any UserStore, credentials: any CredentialStore, bindings: any BindingStore, contents: any ContentCatalog,
        notifications: any RichNotificationStore, readMarks: any ReadMarkStore, receipts: any ReceiptStore,
        retention: any RetentionStore, persons: any PersonStore, signInCounts: any SignInCountStore
    ) {
        self.users = users
        self.credentials = credentials
        self.bindings = bindings
        self.contents = contents
        self.notifications = notifications
        self.readMarks = readMarks
        self.receipts = receipts
        self.retention = retention
        self.persons = persons
        self.signInCounts = signInCounts
    }
}
