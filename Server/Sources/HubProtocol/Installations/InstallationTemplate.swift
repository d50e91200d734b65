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

    /// Creates a template.
    public init(name: String, body: String, headers: [HeaderField] = [], expiry: String? = nil, tags: [String] = []) {
        self.name = name
        self.body = body
        self.headers = headers
        self.expiry = expiry
        self.tags = tags
    }
}

extension InstallationTemplate {
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
