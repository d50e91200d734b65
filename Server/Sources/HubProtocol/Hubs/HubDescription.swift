import WireText

/// A hub as management sees it (Reference/AzureNotificationHubs.md#2-13). `nil` and empty parts are absent, which in a request
/// means: leave as is.
public struct HubDescription: Hashable, Sendable {
    /// How long a registration lives after its last upsert.
    public enum RegistrationLifetime: Hashable, Sendable {
        case never
        case after(Duration)
    }

    public var credentials: [HubCredential] = []
    public var registrationLifetime: RegistrationLifetime?
    public var rules: [HubAccessRule] = []
    /// Counters that the service shows; nobody requires them.
    public var dailyOperations: Int?
    public var dailyMaxActiveDevices: Int?
    public var dailyMaxActiveRegistrations: Int?
    /// At most 1024 characters (Reference/AzureNotificationHubs.md#6-1).
    public var userMetadata: String?

    /// Creates an empty description.
    public init() {}
}

extension HubDescription {
    /// Reads the element.
    init(_ element: XMLElement) throws(HubDocumentError) {
        guard element.isNamed("NotificationHubDescription", in: Namespace.serviceBus) else {
            throw .unexpectedElement(element.name, expected: "NotificationHubDescription", element.position)
        }
        self.init()
        for service in HubCredential.Service.allCases {
            if let child = element.child(service.rawValue) { credentials.append(try HubCredential(service, child)) }
        }
        registrationLifetime = try Self.lifetime(element)
        for rule in element.child("AuthorizationRules")?.children("AuthorizationRule") ?? [] {
            rules.append(try HubAccessRule(rule))
        }
        dailyOperations = try element.integer("DailyOperations")
        dailyMaxActiveDevices = try element.integer("DailyMaxActiveDevices")
        dailyMaxActiveRegistrations = try element.integer("DailyMaxActiveRegistrations")
        userMetadata = element.value("UserMetadata").flatMap { $0 == "null" ? nil : $0 }
    }

    private static func lifetime(_ element: XMLElement) throws(HubDocumentError) -> RegistrationLifetime? {
        guard let text = element.value("RegistrationTtl"), text != "null" else { return nil }
        guard let duration = DurationText.read(text) else {
            throw .invalid("RegistrationTtl", rule: "it is a duration such as P90D", element.position)
        }
        return duration.map(RegistrationLifetime.after) ?? .never
    }

    /// Writes the element, children in the order in which .NET reads them.
    func write(to writer: inout XMLWriter) {
        writer.open("NotificationHubDescription", ["xmlns": Namespace.serviceBus, "xmlns:i": Namespace.schemaInstance])
        write(.apns, to: &writer)
        switch registrationLifetime {
        case .never: writer.element("RegistrationTtl", DurationText.never)
        case .after(let duration): writer.element("RegistrationTtl", DurationText.write(duration))
        case nil: break
        }
        write(.wns, to: &writer)
        if !rules.isEmpty {
            writer.open("AuthorizationRules")
            for rule in rules { rule.write(to: &writer) }
            writer.close("AuthorizationRules")
        }
        write(.gcm, to: &writer)
        write(.mpns, to: &writer)
        writer.element("DailyOperations", dailyOperations.map { String($0) })
        writer.element("DailyMaxActiveDevices", dailyMaxActiveDevices.map { String($0) })
        writer.element("DailyMaxActiveRegistrations", dailyMaxActiveRegistrations.map { String($0) })
        writer.element("UserMetadata", userMetadata)
        for service in [HubCredential.Service.adm, .baidu, .fcmV1, .browser] { write(service, to: &writer) }
        writer.close("NotificationHubDescription")
    }

    private func write(_ service: HubCredential.Service, to writer: inout XMLWriter) {
        for credential in credentials where credential.service == service { credential.write(to: &writer) }
    }
}
