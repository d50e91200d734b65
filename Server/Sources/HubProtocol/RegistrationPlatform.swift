import RichPushModel
import WireText

/// The types of registrations by the word with which their element begins (Reference/AzureNotificationHubs.md#2-1).
///
/// `gcm` and `fcm` are two spellings for one push service, and both come back as they were registered.
public enum RegistrationPlatform: String, Sendable, CaseIterable {
    case apple = "Apple"
    case gcm = "Gcm"
    case fcm = "Fcm"
    case fcmV1 = "FcmV1"
    case windows = "Windows"
    case mpns = "Mpns"
    case adm = "Adm"
    case baidu = "Baidu"
    case browser = "Browser"
    case xiaomi = "Xiaomi"

    /// The push service, by the name that installations use (Reference/AzureNotificationHubs.md#5-1).
    public var platform: Platform {
        switch self {
        case .apple: .apns
        case .gcm, .fcm: Platform(rawValue: "gcm")
        case .fcmV1: Platform(rawValue: "fcmv1")
        case .windows: Platform(rawValue: "wns")
        case .mpns: Platform(rawValue: "mpns")
        case .adm: Platform(rawValue: "adm")
        case .baidu: Platform(rawValue: "baidu")
        case .browser: Platform(rawValue: "browser")
        case .xiaomi: Platform(rawValue: "xiaomi")
        }
    }

    /// The type with which a record is answered that another kind of request created; of two spellings the current one.
    public init?(_ platform: Platform) {
        guard let match = Self.allCases.first(where: { $0.platform == platform }) else { return nil }
        self = match
    }

    /// The name of the element.
    public func elementName(isTemplate: Bool) -> String {
        rawValue + (isTemplate ? "TemplateRegistrationDescription" : "RegistrationDescription")
    }

    /// Takes the name of an element apart.
    static func read(_ elementName: String) -> (platform: RegistrationPlatform, isTemplate: Bool)? {
        for platform in allCases {
            if elementName == platform.elementName(isTemplate: false) { return (platform, false) }
            if elementName == platform.elementName(isTemplate: true) { return (platform, true) }
        }
        return nil
    }

    /// The element that holds the device token.
    public var handleElement: String {
        switch self {
        case .apple: "DeviceToken"
        case .gcm: "GcmRegistrationId"
        case .fcm: "FcmRegistrationId"
        case .fcmV1: "FcmV1RegistrationId"
        case .windows, .mpns: "ChannelUri"
        case .adm: "AdmRegistrationId"
        case .baidu: "BaiduUserId"
        case .browser: "Endpoint"
        case .xiaomi: "XiaomiRegistrationId"
        }
    }

    /// The elements after the handle, in order.
    public var detailElements: [String] {
        switch self {
        case .windows, .mpns: ["SecondaryTileName"]
        case .baidu: ["BaiduChannelId"]
        case .browser: ["P256DH", "Auth"]
        case .apple, .gcm, .fcm, .fcmV1, .adm, .xiaomi: []
        }
    }
}

/// The template of a registration, every part as the client wrote it.
public struct RegistrationTemplate: Hashable, Sendable {
    public var body: String
    /// `TemplateName`.
    public var name: String?
    /// `ApnsHeaders`, `WnsHeaders` or `MpnsHeaders`, in order; other platforms have none.
    public var headers: [HeaderField]
    /// Apple's `Expiry`: an expression, a date or 0.
    public var expiry: String?
    /// Apple's `Priority`: an expression or a number.
    public var priority: String?
    /// Baidu's `MessageType`.
    public var messageType: String?

    public init(
        body: String, name: String? = nil, headers: [HeaderField] = [], expiry: String? = nil, priority: String? = nil,
        messageType: String? = nil
    ) {
        self.body = body
        self.name = name
        self.headers = headers
        self.expiry = expiry
        self.priority = priority
        self.messageType = messageType
    }

    /// The parts of a template in the order in which .NET reads them (Reference/AzureNotificationHubs.md#2-1).
    enum Part { case body, expiry, name, priority, messageType, headers(collection: String) }

    static func parts(of platform: RegistrationPlatform) -> [Part] {
        switch platform {
        case .apple: [.body, .expiry, .name, .priority, .headers(collection: "ApnsHeaders")]
        case .windows: [.body, .headers(collection: "WnsHeaders"), .name]
        case .mpns: [.body, .headers(collection: "MpnsHeaders"), .name]
        case .baidu: [.body, .name, .messageType]
        case .gcm, .fcm, .fcmV1, .adm, .browser, .xiaomi: [.body, .name]
        }
    }

    /// Reads the template of a description.
    init(_ element: XMLElement, _ platform: RegistrationPlatform) throws(HubDocumentError) {
        self.init(body: try element.required("BodyTemplate"), name: element.value("TemplateName"))
        for part in Self.parts(of: platform) {
            switch part {
            case .body, .name: break
            case .expiry: expiry = element.value("Expiry")
            case .priority: priority = element.value("Priority")
            case .messageType: messageType = element.value("MessageType")
            case .headers(let collection): headers = try Self.headers(collection, in: element)
            }
        }
    }

    private static func headers(_ collection: String, in element: XMLElement) throws(HubDocumentError) -> [HeaderField] {
        var headers: [HeaderField] = []
        guard let list = element.child(collection) else { return headers }
        for header in list.children(String(collection.dropLast())) {
            headers.append(HeaderField(try header.required("Header"), header.value("Value") ?? ""))
        }
        return headers
    }

    /// Writes the template's elements.
    func write(to writer: inout XMLWriter, _ platform: RegistrationPlatform, omitsSingleHeader: Bool) {
        for part in Self.parts(of: platform) {
            switch part {
            case .body: writer.literal("BodyTemplate", body)
            case .name: writer.element("TemplateName", name)
            case .expiry: writer.element("Expiry", expiry)
            case .priority: writer.element("Priority", priority)
            case .messageType: writer.element("MessageType", messageType)
            case .headers(let collection): write(collection, to: &writer, omitsSingleHeader)
            }
        }
    }

    private func write(_ collection: String, to writer: inout XMLWriter, _ omitsSingleHeader: Bool) {
        guard !headers.isEmpty, !(omitsSingleHeader && headers.count == 1) else { return }
        let item = String(collection.dropLast())
        writer.open(collection)
        for header in headers {
            writer.open(item)
            writer.element("Header", header.name)
            writer.element("Value", header.value)
            writer.close(item)
        }
        writer.close(collection)
    }
}
