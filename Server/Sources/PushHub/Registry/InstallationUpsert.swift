import RichPushModel
import ServiceErrors

/// What an installation says of itself (Reference/AzureNotificationHubs.md#5-1), all of it: putting one replaces everything.
public struct InstallationUpsert: Hashable, Sendable {
    /// A template of the installation or of one of its tiles.
    public struct Template: Hashable, Sendable {
        /// Its name is its key in the dictionary; the one inside it is not looked at.
        public var template: DeviceTemplate
        /// Its own tags, as given.
        public var tags: [Tag]

        public init(_ template: DeviceTemplate, tags: [Tag] = []) {
            self.template = template
            self.tags = tags
        }
    }

    /// A secondary tile: a place of its own to push to.
    public struct Tile: Hashable, Sendable {
        public var handle: DeviceToken
        public var tags: [Tag]
        public var templates: [String: Template]

        public init(handle: DeviceToken, tags: [Tag] = [], templates: [String: Template] = [:]) {
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
    public var handle: DeviceToken?
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
    /// Whether this says that the handle is good now: an inactive record becomes active, and an older 410 no longer counts. A
    /// change of a tag by a back end does not say so. A handle that differs from the stored one is always confirmed.
    public var confirmsHandle: Bool

    /// Creates what an installation says.
    public init(
        id: RecordID, platform: Platform = .apns, handle: DeviceToken?, environment: String? = nil, topic: String? = nil,
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

extension InstallationUpsert {
    /// Checks what the installation says; throws `ServiceError` (`invalid-field`) for what a hub does not keep.
    ///
    /// An expiry in the past is kept: the installation is in no audience and soon swept. A phone whose clock is wrong sends such an
    /// expiry, and its library would take a refusal for final until the app's next start (Reference/AzureNotificationHubs.md#5-1).
    ///
    /// - Parameter known: the handles that a hub keeps in any case, since the installation has them.
    func checked(
        limits: HubRequestLimits = HubRequestLimits(), known: Set<DeviceToken> = []
    ) throws -> InstallationUpsert {
        var request = self
        request.tags = try DeviceCheck.tags(tags, limits)
        try DeviceCheck.installationID(id)
        if let handle { try DeviceCheck.handle(handle, platform, limits, known) }
        try DeviceCheck.platform(platform)
        try DeviceCheck.words(environment: environment, topic: topic, userID: userID, platform)
        try DeviceCheck.extras(pushVariables: pushVariables, details: details)
        request.templates = try checked(templates, limits)
        request.tiles = try checkedTiles(limits, known)
        let count = templates.count + tiles.values.reduce(0) { $0 + $1.templates.count + 1 }
        guard count <= Self.maximumTemplates else {
            throw ServiceError(.invalidField, "an installation has at most \(Self.maximumTemplates) templates and tiles")
        }
        return request
    }

    /// Every handle of the installation.
    var handles: Set<DeviceToken> { Set(tiles.values.map(\.handle) + [handle].compactMap(\.self)) }

    private func checkedTiles(_ limits: HubRequestLimits, _ known: Set<DeviceToken>) throws -> [String: Tile] {
        try tiles.reduce(into: [:]) { result, entry in
            var tile = entry.value
            try DeviceCheck.templateName(entry.key)
            try DeviceCheck.handle(tile.handle, platform, limits, known)
            tile.tags = try DeviceCheck.tags(tile.tags, limits)
            tile.templates = try checked(tile.templates, limits)
            result[entry.key] = tile
        }
    }

    private func checked(
        _ templates: [String: Template], _ limits: HubRequestLimits
    ) throws -> [String: Template] {
        try templates.reduce(into: [:]) { result, entry in
            var template = entry.value
            template.template.name = entry.key
            try DeviceCheck.template(template.template, platform)
            template.tags = try DeviceCheck.tags(template.tags, limits)
            result[entry.key] = template
        }
    }
}

/// An installation as it is stored.
public struct DeviceInstallation: Hashable, Sendable {
    /// What it says of itself; `confirmsHandle` is false here.
    public var content: InstallationUpsert
    public var createdAt: Timestamp
    /// The last time the handle was confirmed.
    public var registeredAt: Timestamp
    /// Whether the push service called the handle bad since then: `pushChannelExpired`.
    public var isHandleExpired: Bool
    /// Counts the changes, from 1.
    public var version: Int64

    public init(
        content: InstallationUpsert, createdAt: Timestamp, registeredAt: Timestamp, isHandleExpired: Bool = false,
        version: Int64 = 1
    ) {
        self.content = content
        self.createdAt = createdAt
        self.registeredAt = registeredAt
        self.isHandleExpired = isHandleExpired
        self.version = version
    }

    public var id: RecordID { content.id }
}
