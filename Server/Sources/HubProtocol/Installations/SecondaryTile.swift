/// A secondary tile of a Windows installation (Reference/AzureNotificationHubs.md#5-1): a channel of its own with tags and
/// templates.
public struct SecondaryTile: Hashable, Sendable {
    /// The member's name under `secondaryTiles`.
    public var name: String
    public var pushChannel: String
    /// Whether the push service rejected the channel.
    public var pushChannelExpired: Bool?
    public var tags: [String]
    public var templates: [InstallationTemplate]

    /// Creates a tile.
    public init(
        name: String, pushChannel: String, pushChannelExpired: Bool? = nil, tags: [String] = [],
        templates: [InstallationTemplate] = []
    ) {
        self.name = name
        self.pushChannel = pushChannel
        self.pushChannelExpired = pushChannelExpired
        self.tags = tags
        self.templates = templates
    }
}

extension SecondaryTile {
    var json: WireJSON {
        var members = [WireJSON.Member("pushChannel", .string(pushChannel))]
        if let pushChannelExpired { members.append(.init("pushChannelExpired", .bool(pushChannelExpired))) }
        if !tags.isEmpty { members.append(.init("tags", .array(tags.map(WireJSON.string)))) }
        if !templates.isEmpty { members.append(.init("templates", .object(templates.map { .init($0.name, $0.json) }))) }
        return .object(members)
    }

    init(name: String, json: WireJSON, limits: HubLimits) throws(HubRequestFault) {
        guard case .object = json else { throw HubRequestFault(at: "", "an object is expected") }
        guard let channel = json["pushChannel"] else { throw HubRequestFault(at: "pushChannel", "it is missing") }
        self.init(
            name: name, pushChannel: try Self.channel(channel, limits),
            pushChannelExpired: try InstallationDocument.expired(json), tags: try TagList.read(json["tags"]),
            templates: try InstallationDocument.templates(json["templates"], limits))
        try check(limits)
    }

    private static func channel(_ json: WireJSON, _ limits: HubLimits) throws(HubRequestFault) -> String {
        do { return try PushChannel(json, isBrowser: false, limits: limits).handle } catch { throw error.within("pushChannel") }
    }

    func check(_ limits: HubLimits) throws(HubRequestFault) {
        guard (1...limits.templateNameLength).contains(name.unicodeScalars.count) else {
            throw HubRequestFault(at: "", "a tile's name has 1 to \(limits.templateNameLength) characters")
        }
        try TagList.check(tags, limits)
        try InstallationDocument.check(templates, limits)
    }
}
