import RichPushModel

/// What an installation says of itself (Reference/AzureNotificationHubs.md#5-1), all of it: putting one replaces everything.
public struct InstallationUpsert: Hashable, Sendable {
    /// A template of the installation or of one of its tiles.
    public struct Template: Hashable, Sendable {
        /// Its name is that under which it stands, whatever it says itself.
        public var template: DeviceTemplate
        /// Its own tags, as given.
        public var tags: [Tag]

        /// Creates a template.
        public init(_ template: DeviceTemplate, tags: [Tag] = []) {
            self.template = template
            self.tags = tags
        }
    }

    /// A secondary tile: a place of its own to push to.
    public struct Tile: Hashable, Sendable {
        public var handle: DeviceHandle
        public var tags: [Tag]
        public var templates: [String: Template]

        /// Creates a tile.
        public init(handle: DeviceHandle, tags: [Tag] = [], templates: [String: Template] = [:]) {
            self.handle = handle
            self.tags = tags
            self.templates = templates
        }
    }

    /// The most templates, those of tiles included, and the most tiles.
    public static let maximumTemplates = 100

    public var id: RecordID
    public var platform: Platform
    /// Absent while the system has not given one; the installation is in no audience then.
    public var handle: DeviceHandle?
    /// `sandbox` or `production`; absent means the hub's default.
    public var environment: String?
    /// The APNs topic; absent means the hub's default.
    public var topic: String?
    public var userID: String?
    public var expiresAt: Timestamp?
    public var tags: [Tag]
    public var pushVariables: [String: String]
    /// Extras of the platform by their wire names, for example `P256DH`.
    public var details: [String: String]
    /// By name.
    public var templates: [String: Template]
    /// By name.
    public var tiles: [String: Tile]
    /// Whether this says that the handle is good now: it ends the parked state, and a 410 that is older counts no more. A
    /// change of a tag by a back end does not. A handle that differs from the stored one is always confirmed.
    public var confirmsHandle: Bool

    /// Creates what an installation says.
    public init(
        id: RecordID, platform: Platform = .apns, handle: DeviceHandle?, environment: String? = nil, topic: String? = nil,
        userID: String? = nil, expiresAt: Timestamp? = nil, tags: [Tag] = [], pushVariables: [String: String] = [:],
        details: [String: String] = [:], templates: [String: Template] = [:], tiles: [String: Tile] = [:],
        confirmsHandle: Bool = true
    ) {
        self.id = id
        self.platform = platform
        self.handle = handle
        self.environment = environment
        self.topic = topic
        self.userID = userID
        self.expiresAt = expiresAt
        self.tags = tags
        self.pushVariables = pushVariables
        self.details = details
        self.templates = templates
        self.tiles = tiles
        self.confirmsHandle = confirmsHandle
    }
}
