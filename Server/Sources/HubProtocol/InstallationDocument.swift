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
    public var tags: [String] = []
    /// Kept for the client that wrote them; templates are filled from the properties of a send alone. Written in the order of
    /// their names.
    public var pushVariables: [String: String] = [:]
    public var templates: [InstallationTemplate] = []
    public var secondaryTiles: [SecondaryTile] = []
}

extension InstallationDocument {
    /// Creates an installation; everything else is set afterwards.
    public init(installationID: String, platform: Platform, pushChannel: PushChannel) {
        self.installationID = installationID
        self.platform = platform
        self.pushChannel = pushChannel
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

    /// Reads the body of a PUT or, in the client, of an answer. `pathID` is the id of the request's path: the body's must be the
    /// same, or absent.
    public init(
        parsing body: some Collection<UInt8>, pathID: String? = nil, limits: HubLimits = HubLimits()
    ) throws(HubRequestFault) {
        guard body.count <= limits.installationBytes else {
            throw HubRequestFault(.tooLarge, at: "body", "an installation has at most \(limits.installationBytes) bytes")
        }
        let json = try WireJSON(parsing: body)
        guard case .object = json else { throw HubRequestFault(at: "body", "a JSON object is expected") }
        let platform = try Self.platform(json)
        self.init(
            installationID: try Self.id(json, pathID: pathID), userID: try Self.text("userId", in: json), platform: platform,
            pushChannel: try Self.channel(json, platform, limits), pushChannelExpired: try Self.expired(json),
            expirationTime: try Self.expiration(json["expirationTime"]), tags: try TagList.read(json["tags"]),
            pushVariables: try Self.variables(json["pushVariables"], limits),
            templates: try Self.templates(json["templates"], limits),
            secondaryTiles: try Self.tiles(json["secondaryTiles"], limits))
        try settle(limits)
    }

    private static func id(_ json: WireJSON, pathID: String?) throws(HubRequestFault) -> String {
        guard let id = try text("installationId", in: json) ?? pathID else {
            throw HubRequestFault(at: "installationId", "it is missing")
        }
        guard pathID == nil || id == pathID else {
            throw HubRequestFault(at: "installationId", "it differs from the id in the path")
        }
        return id
    }

    private static func platform(_ json: WireJSON) throws(HubRequestFault) -> Platform {
        guard let name = try text("platform", in: json) else { throw HubRequestFault(at: "platform", "it is missing") }
        let platform = Platform(rawValue: name.lowercased())
        guard platforms.contains(platform) else {
            throw HubRequestFault(at: "platform", "it is one of " + platforms.map(\.rawValue).sorted().joined(separator: ", "))
        }
        return platform
    }

    private static func channel(
        _ json: WireJSON, _ platform: Platform, _ limits: HubLimits
    ) throws(HubRequestFault) -> PushChannel {
        guard let channel = json["pushChannel"] else { throw HubRequestFault(at: "pushChannel", "it is missing") }
        do {
            return try PushChannel(channel, isBrowser: platform.rawValue == "browser", limits: limits)
        } catch { throw error.within("pushChannel") }
    }

    /// A text that is not empty, `nil` when it is absent.
    private static func text(_ name: String, in json: WireJSON) throws(HubRequestFault) -> String? {
        guard let value = json[name] else { return nil }
        guard case .string(let text) = value else { throw HubRequestFault(at: name, "a text is expected") }
        return text.isEmpty ? nil : text
    }

    /// `pushChannelExpired`, or `expiredPushChannel` as documentation spells it.
    static func expired(_ json: WireJSON) throws(HubRequestFault) -> Bool? {
        guard let value = json["pushChannelExpired"] ?? json["expiredPushChannel"] else { return nil }
        switch value {
        case .bool(let isExpired): return isExpired
        case .string(let text) where text.lowercased() == "true": return true
        case .string(let text) where text.lowercased() == "false": return false
        default: throw HubRequestFault(at: "pushChannelExpired", "true or false is expected")
        }
    }

    /// A date in any spelling of `WireTime`. Dates before 1970 are what libraries write for "none".
    static func expiration(_ json: WireJSON?) throws(HubRequestFault) -> Timestamp? {
        guard let json else { return nil }
        guard case .string(let text) = json else { throw HubRequestFault(at: "expirationTime", "a date and time is expected") }
        if text.isEmpty { return nil }
        guard let time = WireTime(text) else {
            throw HubRequestFault(at: "expirationTime", "a date and time such as 2026-03-01T10:00:00Z is expected")
        }
        return time.moment.milliseconds < 0 ? nil : time.moment
    }

    private static func variables(_ json: WireJSON?, _ limits: HubLimits) throws(HubRequestFault) -> [String: String] {
        guard let json else { return [:] }
        guard case .object(let members) = json else { throw HubRequestFault(at: "pushVariables", "an object is expected") }
        var variables: [String: String] = [:]
        for member in members where member.value != .null {
            guard let text = member.value.scalarText else {
                throw HubRequestFault(at: "pushVariables." + HubRequestFault.shown(member.name), "a text is expected")
            }
            variables[member.name] = text
        }
        return variables
    }

    static func templates(_ json: WireJSON?, _ limits: HubLimits) throws(HubRequestFault) -> [InstallationTemplate] {
        guard let json else { return [] }
        guard case .object(let members) = json else { throw HubRequestFault(at: "templates", "an object is expected") }
        var templates: [InstallationTemplate] = []
        for member in members where member.value != .null {
            templates.removeAll { $0.name == member.name }
            do {
                templates.append(try InstallationTemplate(name: member.name, json: member.value, limits: limits))
            } catch { throw error.within("templates." + HubRequestFault.shown(member.name)) }
            guard templates.count <= limits.templates else {
                throw HubRequestFault(at: "templates", "there are more than \(limits.templates)")
            }
        }
        return templates
    }

    private static func tiles(_ json: WireJSON?, _ limits: HubLimits) throws(HubRequestFault) -> [SecondaryTile] {
        guard let json else { return [] }
        guard case .object(let members) = json else { throw HubRequestFault(at: "secondaryTiles", "an object is expected") }
        var tiles: [SecondaryTile] = []
        for member in members where member.value != .null {
            tiles.removeAll { $0.name == member.name }
            do {
                tiles.append(try SecondaryTile(name: member.name, json: member.value, limits: limits))
            } catch { throw error.within("secondaryTiles." + HubRequestFault.shown(member.name)) }
            guard tiles.count <= limits.secondaryTiles else {
                throw HubRequestFault(at: "secondaryTiles", "there are more than \(limits.secondaryTiles)")
            }
        }
        return tiles
    }

    /// Checks every bound, and takes away the special tags that name this installation and its user: the server adds them
    /// itself. Special tags of others are refused: a client that sets one would receive another's pushes.
    mutating func settle(_ limits: HubLimits) throws(HubRequestFault) {
        try Self.check(identifier: installationID, at: "installationId", limits)
        if let userID { try Self.check(identifier: userID, at: "userId", limits) }
        try TagList.check(tags, limits)
        tags = try settled(tags)
        for index in templates.indices {
            do { templates[index].tags = try settled(templates[index].tags) } catch {
                throw error.within(place(templates[index]))
            }
        }
        for index in secondaryTiles.indices {
            do {
                secondaryTiles[index].tags = try settled(secondaryTiles[index].tags)
                for inner in secondaryTiles[index].templates.indices {
                    secondaryTiles[index].templates[inner].tags = try settled(secondaryTiles[index].templates[inner].tags)
                }
            } catch { throw error.within("secondaryTiles." + HubRequestFault.shown(secondaryTiles[index].name)) }
        }
        try checkVariables(limits)
    }

    /// Checks the bounds of everything, after changes.
    mutating func recheck(_ limits: HubLimits) throws(HubRequestFault) {
        try Self.check(templates, limits)
        guard secondaryTiles.count <= limits.secondaryTiles else {
            throw HubRequestFault(at: "secondaryTiles", "there are more than \(limits.secondaryTiles)")
        }
        for tile in secondaryTiles {
            do { try tile.check(limits) } catch { throw error.within("secondaryTiles." + HubRequestFault.shown(tile.name)) }
        }
        try settle(limits)
    }

    static func check(_ templates: [InstallationTemplate], _ limits: HubLimits) throws(HubRequestFault) {
        guard templates.count <= limits.templates else {
            throw HubRequestFault(at: "templates", "there are more than \(limits.templates)")
        }
        for template in templates {
            do { try template.check(limits) } catch { throw error.within("templates." + HubRequestFault.shown(template.name)) }
        }
    }

    private func place(_ template: InstallationTemplate) -> String { "templates." + HubRequestFault.shown(template.name) }

    private func settled(_ tags: [String]) throws(HubRequestFault) -> [String] {
        var kept: [String] = []
        for (index, tag) in tags.enumerated() {
            guard tag.hasPrefix("$") else {
                kept.append(tag)
                continue
            }
            let special = Tag.addressing(tag)
            let own = [Tag.addressedInstallation(installationID), userID.flatMap(Tag.addressedUser)]
            guard let special, own.contains(special) else {
                throw HubRequestFault(at: "tags[\(index)]", "the tag names another installation or user")
            }
        }
        return kept
    }

    private func checkVariables(_ limits: HubLimits) throws(HubRequestFault) {
        guard pushVariables.count <= limits.pushVariables else {
            throw HubRequestFault(at: "pushVariables", "there are more than \(limits.pushVariables)")
        }
        for (name, value) in pushVariables
        where !(1...limits.propertyNameLength).contains(name.unicodeScalars.count) || value.utf8.count > limits.valueBytes {
            throw HubRequestFault(
                at: "pushVariables." + HubRequestFault.shown(name),
                "a name has 1 to \(limits.propertyNameLength) characters, a value at most \(limits.valueBytes) bytes")
        }
    }

    private static func check(identifier: String, at place: String, _ limits: HubLimits) throws(HubRequestFault) {
        guard identifier.utf8.count <= limits.identifierBytes else {
            throw HubRequestFault(at: place, "it has more than \(limits.identifierBytes) bytes")
        }
        // Whom no tag expression can name, no send could reach.
        guard Tag.addressedUser(identifier) != nil else {
            throw HubRequestFault(at: place, "it has 1 to 256 characters, none of them } or a control character")
        }
        if place == "installationId", identifier.contains(where: { "/?# ".contains($0) }) {
            throw HubRequestFault(at: place, "it has none of / ? # and blanks")
        }
    }
}

/// The reading of lists of tags in JSON.
enum TagList {
    /// Reads an array of texts. Empty ones are dropped, and duplicates without regard to case; so is the template's own name, which
    /// every template carries anyway (Reference/AzureNotificationHubs.md#3-1).
    static func read(_ json: WireJSON?, ownName: String? = nil) throws(HubRequestFault) -> [String] {
        guard let json else { return [] }
        guard case .array(let elements) = json else { throw HubRequestFault(at: "tags", "a list of texts is expected") }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element else {
                throw HubRequestFault(at: "tags[\(index)]", "a text is expected")
            }
            texts.append(text)
        }
        return merged([], texts, ownName: ownName)
    }

    /// The tags with others behind, in order and each once.
    static func merged(_ tags: [String], _ others: [String], ownName: String? = nil) -> [String] {
        var seen = Set(tags.map { $0.lowercased() })
        if let ownName { seen.insert(ownName.lowercased()) }
        return tags
            + others.map(\.trimmingBlanks).filter { !$0.isEmpty && seen.insert($0.lowercased()).inserted }
    }

    /// Checks number and form. The special forms `$InstallationId:{…}` and `$UserId:{…}` are admitted here; whose they are is
    /// checked with the installation.
    static func check(_ tags: [String], _ limits: HubLimits) throws(HubRequestFault) {
        guard tags.count <= limits.tags else { throw HubRequestFault(at: "tags", "there are more than \(limits.tags)") }
        for (index, tag) in tags.enumerated() where Tag.stored(tag) == nil {
            throw HubRequestFault(at: "tags[\(index)]", "a tag has 1 to 120 letters, digits and _ @ # . : -")
        }
    }
}
