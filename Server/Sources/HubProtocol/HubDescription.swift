import RichPushModel
import WireText

/// A hub as management sees it: the element with what Atom says of it (Reference/AzureNotificationHubs.md#2-13). `nil` and empty
/// parts are absent, which in a request means: leave as is.
public struct HubDescription: Hashable, Sendable {
    /// How long a registration lives after its last upsert.
    public enum RegistrationLifetime: Hashable, Sendable {
        case never
        case after(Duration)
    }

    /// The title of the entry; empty in requests, which name the hub in the path.
    public var name = ""
    public var published = Timestamp(milliseconds: 0)
    public var updated = Timestamp(milliseconds: 0)
    /// Only requests have them: a hub never shows them. Credentials of other push services are ignored.
    public var credentials: [CredentialElement: CredentialProperties] = [:]
    public var registrationLifetime: RegistrationLifetime?
    public var rules: [HubAccessRule] = []
    /// At most 1024 characters (Reference/AzureNotificationHubs.md#6-1).
    public var userMetadata: String?

    public init() {}

    /// Reads the entry of a request.
    public static func read(entry bytes: [UInt8], limits: XMLLimits = .request) throws(HubDocumentError) -> HubDescription {
        try HubDescription(try AtomContent.entry(bytes, limits: limits).element)
    }

    /// Reads the answer to a get; `nil` when it is the feed that says that there is no such hub.
    static func read(answer bytes: [UInt8], limits: XMLLimits = .request) throws(HubDocumentError) -> HubDescription? {
        let root = try XMLReader.root(bytes, limits: limits)
        guard !root.isNamed("feed", in: Namespace.atom) else { return nil }
        return try HubDescription(try AtomContent(root))
    }

    /// Reads a list of hubs.
    public static func read(feed bytes: [UInt8], limits: XMLLimits = .feed) throws(HubDocumentError) -> [HubDescription] {
        var hubs: [HubDescription] = []
        for content in try AtomContent.feed(bytes, limits: limits) { hubs.append(try HubDescription(content)) }
        return hubs
    }

    private init(_ content: AtomContent) throws(HubDocumentError) {
        guard let name = content.title else { throw .missing("title", in: "entry", content.element.position) }
        try self.init(content.element)
        self.name = name
        published = content.published ?? published
        updated = content.updated ?? published
    }

    private init(_ element: XMLElement) throws(HubDocumentError) {
        guard element.isNamed("NotificationHubDescription", in: Namespace.serviceBus) else {
            throw .unexpectedElement(element.name, expected: "NotificationHubDescription", element.position)
        }
        for kind in CredentialElement.allCases {
            if let credential = element.child(kind.rawValue) { credentials[kind] = try CredentialProperties(credential) }
        }
        registrationLifetime = try Self.lifetime(element)
        for rule in element.child("AuthorizationRules")?.children("AuthorizationRule") ?? [] {
            rules.append(try HubAccessRule(rule))
        }
        userMetadata = element.value("UserMetadata").flatMap { $0 == "null" ? nil : $0 }
    }

    private static func lifetime(_ element: XMLElement) throws(HubDocumentError) -> RegistrationLifetime? {
        guard let text = element.value("RegistrationTtl"), text != "null" else { return nil }
        guard let duration = DurationText.read(text) else {
            throw .invalid("RegistrationTtl", rule: "it is a duration such as P90D", element.position)
        }
        return duration.map(RegistrationLifetime.after) ?? .never
    }

    /// The answer to create, update and get; the location is the hub's own.
    public func answer(at location: LocationHeader) -> String {
        var writer = XMLWriter()
        write(to: &writer, location.collection, inFeed: false)
        return writer.text
    }

    /// The list of hubs; the location is that of the list.
    public static func feed(_ hubs: [HubDescription], at location: LocationHeader, updated: Timestamp) -> String {
        var writer = XMLWriter()
        AtomEnvelope.feed(title: "NotificationHubs", url: location.collection, updated: updated, to: &writer) { writer in
            for hub in hubs { hub.write(to: &writer, location.member(hub.name), inFeed: true) }
        }
        return writer.text
    }

    /// What the service answers with 200 for a hub that does not exist: an empty feed, from which .NET concludes just that
    /// (Reference/AzureNotificationHubs.md#2-13).
    public static func unknownHub(at location: LocationHeader, updated: Timestamp) -> String {
        var writer = XMLWriter()
        AtomEnvelope.feed(title: "Publicly Listed Services", url: location.collection, updated: updated, to: &writer) { _ in }
        return writer.text
    }

    /// Writes the entry, children of the element in the order in which .NET reads them.
    private func write(to writer: inout XMLWriter, _ url: String, inFeed: Bool) {
        let envelope = AtomEnvelope(url: url, title: name, published: published, updated: updated, tag: nil)
        envelope.write(to: &writer, inFeed: inFeed) { writer in
            writer.open("NotificationHubDescription", ["xmlns": Namespace.serviceBus, "xmlns:i": Namespace.schemaInstance])
            switch registrationLifetime {
            case .never: writer.element("RegistrationTtl", DurationText.never)
            case .after(let duration): writer.element("RegistrationTtl", DurationText.write(duration))
            case nil: break
            }
            if !rules.isEmpty {
                writer.open("AuthorizationRules")
                for rule in rules { rule.write(to: &writer, created: published, modified: updated) }
                writer.close("AuthorizationRules")
            }
            writer.element("UserMetadata", userMetadata)
            writer.close("NotificationHubDescription")
        }
    }
}

/// The credentials that a description may have, by their elements (Reference/AzureNotificationHubs.md#2-13).
public enum CredentialElement: String, Sendable, CaseIterable {
    case apns = "ApnsCredential"
    case browser = "BrowserCredential"
    case fcm = "FcmV1Credential"
}

/// What a hub shows to a push service, as names and values (Reference/AzureNotificationHubs.md#2-13).
public struct CredentialProperties: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// Of two values of one name, the first.
    let values: [String: String]

    /// Whether the request takes the credential away.
    public var isEmpty: Bool { values.isEmpty }

    /// The value of a property.
    public subscript(name: String) -> String? { values[name] }

    /// Names only: values are secrets.
    public var description: String { "Credential(\(values.keys.sorted().joined(separator: ", ")))" }

    public var customMirror: Mirror { Mirror(self, children: ["names": values.keys.sorted()]) }
}

extension CredentialProperties {
    /// Reads a credential. Java writes unset values as the text `null` (Reference/AzureNotificationHubs.md#2-13): those are
    /// absent.
    fileprivate init(_ element: XMLElement) throws(HubDocumentError) {
        var values: [String: String] = [:]
        for property in element.child("Properties")?.children("Property") ?? [] {
            let name = try property.required("Name")
            guard let value = property.value("Value"), value != "null", values[name] == nil else { continue }
            values[name] = value
        }
        self.values = values
    }
}

/// A rule under which clients sign: a name, rights and two keys (Reference/AzureNotificationHubs.md#1-1 and #2-13). Its times are
/// those of the hub.
public struct HubAccessRule: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// What a key allows.
    public enum Right: String, Sendable, CaseIterable {
        case listen = "Listen"
        case manage = "Manage"
        case send = "Send"
    }

    public var name: String
    public var rights: [Right]
    /// Absent where the rule asks the hub for a new key.
    public var primaryKey: String?
    public var secondaryKey: String?

    public init(name: String, rights: [Right], primaryKey: String?, secondaryKey: String?) {
        self.name = name
        self.rights = rights
        self.primaryKey = primaryKey
        self.secondaryKey = secondaryKey
    }

    fileprivate init(_ element: XMLElement) throws(HubDocumentError) {
        var rights: [Right] = []
        for word in element.child("Rights")?.children("AccessRights") ?? [] {
            guard let right = Right(rawValue: word.trimmed) else {
                throw .invalid("AccessRights", rule: "it is Listen, Send or Manage", word.position)
            }
            if !rights.contains(right) { rights.append(right) }
        }
        func key(_ name: String) -> String? { element.value(name).flatMap { $0 == "null" ? nil : $0 } }
        self.init(
            name: try element.required("KeyName"), rights: rights, primaryKey: key("PrimaryKey"),
            secondaryKey: key("SecondaryKey"))
    }

    /// Without the keys.
    public var description: String { "\(name)(\(rights.map(\.rawValue).joined(separator: ", ")))" }

    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }

    fileprivate func write(to writer: inout XMLWriter, created: Timestamp, modified: Timestamp) {
        writer.open("AuthorizationRule", ["i:type": "SharedAccessAuthorizationRule"])
        writer.element("ClaimType", "SharedAccessKey")
        writer.element("ClaimValue", "None")
        writer.open("Rights")
        for right in rights { writer.element("AccessRights", right.rawValue) }
        writer.close("Rights")
        writer.element("CreatedTime", DateText.shortest(created))
        writer.element("ModifiedTime", DateText.shortest(modified))
        writer.element("KeyName", name)
        writer.element("PrimaryKey", primaryKey)
        writer.element("SecondaryKey", secondaryKey)
        writer.close("AuthorizationRule")
    }
}

/// Durations as .NET writes them, `P90D`, `PT1H30M`, `P1DT0.5S`; a year is 365 days and a month 30.
enum DurationText {
    /// What .NET calls the longest duration: never (Reference/AzureNotificationHubs.md#2-1).
    static let never = "P10675199DT2H48M5.4775807S"
    private static let daysOfNever: Int64 = 10_675_199

    /// The duration in a text. `.some(nil)` is never, `nil` is no duration. Parts smaller than a second are cut off.
    static func read(_ text: String) -> Duration?? {
        guard text.hasPrefix("P"), text.utf8.count <= 64 else { return nil }
        var seconds: Int64 = 0
        var isTime = false
        var units = "YMD"[...]
        var rest = text.dropFirst()
        var parts = 0
        while let first = rest.first {
            if first == "T", !isTime {
                isTime = true
                units = "HMS"[...]
                rest = rest.dropFirst()
                continue
            }
            guard let (value, unit, after) = part(rest), let place = units.firstIndex(of: unit) else { return nil }
            units = units[units.index(after: place)...]
            guard let factor = factor(unit, isTime), let sum = sum(seconds, value, factor) else { return nil }
            seconds = sum
            rest = after
            parts += 1
        }
        guard parts > 0, !text.hasSuffix("T") else { return nil }
        return .some(seconds >= daysOfNever * 86_400 ? nil : .seconds(seconds))
    }

    /// The text of a duration, in days, hours, minutes and seconds; `nil` is never.
    static func write(_ duration: Duration?) -> String {
        guard let seconds = duration?.components.seconds, seconds < daysOfNever * 86_400 else { return never }
        guard seconds > 0 else { return "PT0S" }
        let day = seconds % 86_400
        let days = seconds >= 86_400 ? "\(seconds / 86_400)D" : ""
        let parts = [(day / 3600, "H"), (day / 60 % 60, "M"), (day % 60, "S")].filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }
        return "P" + days + (parts.isEmpty ? "" : "T" + parts.joined())
    }

    /// A number and its unit; only seconds may have a fraction.
    private static func part(_ text: Substring) -> (value: Int64, unit: Character, rest: Substring)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, digits.count <= 12, let value = Int64(digits) else { return nil }
        var rest = text[digits.endIndex...]
        if rest.first == "." {
            let fraction = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
            rest = rest[fraction.endIndex...]
            guard !fraction.isEmpty, rest.first == "S" else { return nil }
        }
        return rest.first.map { (value, $0, rest.dropFirst()) }
    }

    private static func factor(_ unit: Character, _ isTime: Bool) -> Int64? {
        switch (unit, isTime) {
        case ("Y", false): 365 * 86_400
        case ("M", false): 30 * 86_400
        case ("D", false): 86_400
        case ("H", true): 3600
        case ("M", true): 60
        case ("S", true): 1
        default: nil
        }
    }

    private static func sum(_ seconds: Int64, _ value: Int64, _ factor: Int64) -> Int64? {
        let (product, overflow) = value.multipliedReportingOverflow(by: factor)
        guard !overflow else { return nil }
        let (sum, carry) = seconds.addingReportingOverflow(product)
        return carry ? nil : sum
    }
}
