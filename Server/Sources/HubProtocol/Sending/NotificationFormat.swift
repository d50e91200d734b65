import RichPushModel

/// What a send carries, `ServiceBusNotification-Format` (Reference/AzureNotificationHubs.md#2-7).
public enum NotificationFormat: String, Sendable, CaseIterable {
    case apple, gcm, fcmv1, template, windows, windowsphone, adm, browser, baidu, xiaomi, nokiax

    /// The header's name.
    public static let headerName = "ServiceBusNotification-Format"

    /// Reads the header's value without regard to case; `fcm` is `gcm`, as one client maps it.
    public init?(header: String) {
        let word = header.lowercased()
        guard let format = NotificationFormat(rawValue: word == "fcm" ? "gcm" : word) else { return nil }
        self = format
    }

    /// The push service whose native devices get the send; `nil` for a template send, which goes to the templates of all.
    public var platform: Platform? {
        switch self {
        case .template: nil
        case .apple: .apns
        case .windows: Platform(rawValue: "wns")
        case .windowsphone: Platform(rawValue: "mpns")
        case .gcm, .fcmv1, .adm, .browser, .baidu, .xiaomi, .nokiax: Platform(rawValue: rawValue)
        }
    }

    /// The format of a native send to a platform.
    public init?(platform: Platform) {
        guard let format = Self.allCases.first(where: { $0.platform == platform }) else { return nil }
        self = format
    }

    /// The content type that goes with the body when this product's client sends it.
    public func contentType(headers: HeaderList = []) -> String {
        guard self == .windows || self == .windowsphone else { return "application/json;charset=utf-8" }
        return headers["X-WNS-Type"]?.lowercased() == "wns/raw" ? "application/octet-stream" : "application/xml"
    }
}
