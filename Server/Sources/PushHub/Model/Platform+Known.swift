import RichPushModel

extension Platform {
    /// Firebase by its retired interface.
    public static let gcm = Platform(rawValue: "gcm")
    /// Firebase by its present interface.
    public static let fcmv1 = Platform(rawValue: "fcmv1")
    public static let wns = Platform(rawValue: "wns")
    public static let mpns = Platform(rawValue: "mpns")
    public static let adm = Platform(rawValue: "adm")
    public static let baidu = Platform(rawValue: "baidu")
    public static let browser = Platform(rawValue: "browser")
    public static let xiaomi = Platform(rawValue: "xiaomi")

    /// Every platform whose registrations a hub keeps (Reference/AzureNotificationHubs.md#5-1). Only `apns` has a transport.
    public static let known: [Platform] = [.apns, .gcm, .fcmv1, .wns, .mpns, .adm, .baidu, .browser, .xiaomi]
}

extension Platform {
    /// Whether this version can push to it. What is sent to another is counted as skipped.
    public var hasTransport: Bool { self == .apns }
}
