import RichPushModel
import WireText

extension InstallationDocument {
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
}
