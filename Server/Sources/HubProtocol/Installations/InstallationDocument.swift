import RichPushModel
import WireText

/// An installation as the hub protocol writes it in JSON (Reference/AzureNotificationHubs.md#5-1).
///
/// One device with its tags, its templates and, on Windows, its secondary tiles. Reading is as tolerant as the clients need:
/// `null` means absent, names compare without regard to case, unknown members are ignored.
public struct InstallationDocument: Hashable, Sendable {
    /// The platforms that an installation may name, in lower case (Reference/AzureNotificationHubs.md#5-1).
    public static let platforms: Set<Platform> = Set(
        ["apns", "wns", "mpns", "gcm", "adm", "baidu", "browser", "fcmv1", "xiaomi"].map(Platform.init(rawValue:)))

    public var installationID: String
    public var userID: String?
    public var platform: Platform
    public var pushChannel: PushChannel
    /// Whether the push service rejected the channel. Set by the server; what a client sends is kept here only to be seen.
    public var pushChannelExpired: Bool?
    /// When the installation ends; absent means never.
    public var expirationTime: Timestamp?
    /// Tags of the whole installation, without the special ones that the server adds.
    public var tags: [String]
    /// Kept for the client that wrote them; templates are filled from the properties of a send alone. Written in the order of
    /// their names.
    public var pushVariables: [String: String]
    public var templates: [InstallationTemplate]
    public var secondaryTiles: [SecondaryTile]

    /// Creates an installation.
    public init(
        installationID: String, userID: String? = nil, platform: Platform, pushChannel: PushChannel,
        pushChannelExpired: Bool? = nil, expirationTime: Timestamp? = nil, tags: [String] = [],
        pushVariables: [String: String] = [:], templates: [InstallationTemplate] = [], secondaryTiles: [SecondaryTile] = []
    ) {
        self.installationID = installationID
        self.userID = userID
        self.platform = platform
        self.pushChannel = pushChannel
        self.pushChannelExpired = pushChannelExpired
        self.expirationTime = expirationTime
        self.tags = tags
        self.pushVariables = pushVariables
        self.templates = templates
        self.secondaryTiles = secondaryTiles
    }

    /// The body of an answer, and of this product's own PUT: the observed order of members, absent ones omitted.
    public var json: String {
        var members = [WireJSON.Member("installationId", .string(installationID))]
        if let userID { members.append(.init("userId", .string(userID))) }
        members.append(.init("pushChannel", pushChannel.json))
        if let pushChannelExpired { members.append(.init("pushChannelExpired", .bool(pushChannelExpired))) }
        members.append(.init("platform", .string(platform.rawValue)))
        if let expirationTime { members.append(.init("expirationTime", .string(WireTime(expirationTime).description))) }
        if !tags.isEmpty { members.append(.init("tags", .array(tags.map(WireJSON.string)))) }
        if !pushVariables.isEmpty {
            let ordered = pushVariables.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            members.append(.init("pushVariables", .object(ordered.map { .init($0.key, .string($0.value)) })))
        }
        if !templates.isEmpty { members.append(.init("templates", .object(templates.map { .init($0.name, $0.json) }))) }
        if !secondaryTiles.isEmpty {
            members.append(.init("secondaryTiles", .object(secondaryTiles.map { .init($0.name, $0.json) })))
        }
        return WireJSON.object(members).text
    }
}
