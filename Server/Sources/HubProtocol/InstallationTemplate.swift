import WireText

/// A template of an installation (Reference/AzureNotificationHubs.md#5-1): a body with expressions, and what goes with it.
public struct InstallationTemplate: Hashable, Sendable {
    /// The member's name under `templates`, which is also a tag of the template (Reference/AzureNotificationHubs.md#3-1).
    public var name: String
    public var body: String
    /// Headers for the push service, in order; values may be expressions.
    public var headers: [HeaderField]
    /// An expression or a date; of Apple devices only.
    public var expiry: String?
    /// Tags of this template alone, without its own name.
    public var tags: [String]

    public init(name: String, body: String, headers: [HeaderField] = [], expiry: String? = nil, tags: [String] = []) {
        self.name = name
        self.body = body
        self.headers = headers
        self.expiry = expiry
        self.tags = tags
    }

    /// The template as JSON. Its own name leads its tags: the service answers so (Reference/AzureNotificationHubs.md#3-1).
    var json: WireJSON {
        var members = [WireJSON.Member("body", .string(body))]
        if !headers.isEmpty { members.append(.init("headers", .object(headers.map { .init($0.name, .string($0.value)) }))) }
        if let expiry { members.append(.init("expiry", .string(expiry))) }
        members.append(.init("tags", .array(([name] + tags).map(WireJSON.string))))
        return .object(members)
    }

    init(name: String, json: WireJSON, limits: HubLimits) throws(HubRequestFault) {
        guard case .object = json else { throw HubRequestFault(at: "", "an object is expected") }
        guard case .string(let body)? = json["body"] else { throw HubRequestFault(at: "body", "a text is expected") }
        self.init(
            name: name, body: body, headers: try Self.headers(json["headers"] ?? .object([])).get(),
            expiry: try json["expiry"].flatMap { json throws(HubRequestFault) in try Self.expiry(json) },
            tags: try TagList.read(json["tags"], ownName: name))
        try check(limits)
    }

    /// Reads an object of texts as headers.
    static func headers(_ json: WireJSON) -> Result<[HeaderField], HubRequestFault> {
        guard case .object(let members) = json else {
            return .failure(HubRequestFault(at: "headers", "an object of texts is expected"))
        }
        var fields: [HeaderField] = []
        for member in members where member.value != .null {
            guard let value = member.value.scalarText else {
                return .failure(HubRequestFault(at: "headers." + HubRequestFault.shown(member.name), "a text is expected"))
            }
            fields.removeAll { HeaderList.isSame($0.name, member.name) }
            fields.append(HeaderField(member.name, value))
        }
        return .success(fields)
    }

    static func expiry(_ json: WireJSON) throws(HubRequestFault) -> String? {
        guard let text = json.scalarText else { throw HubRequestFault(at: "expiry", "a text is expected") }
        return text.isEmpty ? nil : text
    }

    /// Checks the bounds.
    func check(_ limits: HubLimits) throws(HubRequestFault) {
        guard (1...limits.templateNameLength).contains(name.unicodeScalars.count) else {
            throw HubRequestFault(at: "", "a template's name has 1 to \(limits.templateNameLength) characters")
        }
        guard !name.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw HubRequestFault(at: "", "a template's name has no control characters")
        }
        guard !body.isEmpty else { throw HubRequestFault(at: "body", "it is empty") }
        guard body.utf8.count <= limits.templateBytes else {
            throw HubRequestFault(.tooLarge, at: "body", "it has more than \(limits.templateBytes) bytes")
        }
        guard headers.count <= limits.templateHeaders else {
            throw HubRequestFault(at: "headers", "there are more than \(limits.templateHeaders)")
        }
        for field in headers { try Self.check(field, limits) }
        guard (expiry?.utf8.count ?? 0) <= limits.valueBytes else {
            throw HubRequestFault(at: "expiry", "it has more than \(limits.valueBytes) bytes")
        }
        try TagList.check(tags, limits)
    }

    private static func check(_ field: HeaderField, _ limits: HubLimits) throws(HubRequestFault) {
        let isToken = field.name.utf8.allSatisfy { PercentEncoding.isUnreserved($0) && $0 != UInt8(ascii: "~") }
        guard isToken, (1...limits.propertyNameLength).contains(field.name.utf8.count) else {
            throw HubRequestFault(at: "headers." + HubRequestFault.shown(field.name), "this is no name of a header")
        }
        guard field.value.utf8.count <= limits.valueBytes,
            !field.value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else {
            throw HubRequestFault(
                at: "headers." + field.name, "a value has at most \(limits.valueBytes) bytes and no control characters")
        }
    }
}

/// Where an installation is reached: a device token, or for a browser an endpoint with its keys
/// (Reference/AzureNotificationHubs.md#5-1).
public enum PushChannel: Hashable, Sendable {
    case handle(String)
    case browser(BrowserChannel)

    /// What the installation's own row is found by.
    public var handle: String {
        switch self {
        case .handle(let text): text
        case .browser(let channel): channel.token
        }
    }

    var json: WireJSON {
        switch self {
        case .handle(let text): .string(text)
        case .browser(let channel): channel.json
        }
    }

    /// Reads a channel of a platform.
    init(_ json: WireJSON, isBrowser: Bool, limits: HubLimits) throws(HubRequestFault) {
        switch json {
        case .string(let text):
            guard !text.isEmpty else { throw HubRequestFault(at: "", "the device token is empty") }
            guard text.utf8.count <= limits.handleBytes else {
                throw HubRequestFault(at: "", "a device token has at most \(limits.handleBytes) bytes")
            }
            guard isBrowser else {
                self = .handle(text)
                return
            }
            guard let object = try? WireJSON(parsing: text.utf8) else {
                throw HubRequestFault(at: "", "a browser's channel is an object with endpoint, p256dh and auth, or its JSON text")
            }
            self = .browser(try Self.browser(object, isObject: false, limits))
        case .object where isBrowser: self = .browser(try Self.browser(json, isObject: true, limits))
        default: throw HubRequestFault(at: "", "a text is expected")
        }
    }

    private static func browser(_ json: WireJSON, isObject: Bool, _ limits: HubLimits) throws(HubRequestFault) -> BrowserChannel {
        var parts: [String] = []
        for name in ["endpoint", "p256dh", "auth"] {
            guard case .string(let text)? = json[name], (1...limits.handleBytes).contains(text.utf8.count),
                !text.utf8.contains(UInt8(ascii: " "))
            else { throw HubRequestFault(at: name, "a text of 1 to \(limits.handleBytes) bytes without blanks is expected") }
            parts.append(text)
        }
        return BrowserChannel(endpoint: parts[0], p256dh: parts[1], auth: parts[2], isObject: isObject)
    }
}

/// A browser's subscription for Web Push.
public struct BrowserChannel: Hashable, Sendable {
    public var endpoint: String
    public var p256dh: String
    public var auth: String
    /// Whether it is written as an object (one client) or as the same object in a string (others). The spelling that came is
    /// the one that goes back, since each client can read its own only.
    public var isObject: Bool

    public init(endpoint: String, p256dh: String, auth: String, isObject: Bool) {
        self.endpoint = endpoint
        self.p256dh = p256dh
        self.auth = auth
        self.isObject = isObject
    }

    /// What a hub keeps as the device token: all that a push needs, the same for every spelling of the keys. No part has blanks.
    public var token: String { "\(endpoint) \(Base64URL.plain(p256dh)) \(Base64URL.plain(auth))" }

    /// The endpoint in such a token.
    public static func endpoint(in token: String) -> String { String(token.prefix { $0 != " " }) }

    private var object: WireJSON {
        .object([.init("endpoint", .string(endpoint)), .init("p256dh", .string(p256dh)), .init("auth", .string(auth))])
    }

    var json: WireJSON { isObject ? object : .string(object.text) }
}

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
