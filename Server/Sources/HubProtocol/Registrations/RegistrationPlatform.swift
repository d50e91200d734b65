import RichPushModel

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

    /// The element that holds the device handle.
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
