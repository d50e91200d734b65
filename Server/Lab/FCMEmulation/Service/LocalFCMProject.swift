import Crypto
import CryptoExtras
import RichPushModel

/// What a project at Google has switched on.
public struct LocalFCMProjectSettings: Sendable, Hashable, Codable {
    /// The Firebase Cloud Messaging API.
    public var isAPIEnabled = true
    /// The key for APNs in the project is good.
    public var hasAPNsKey = true
    /// The key for web push in the project is good.
    public var hasWebPushKey = true

    /// Creates settings with everything switched on.
    public init() {}
}

/// A project as its operator sees it.
public struct LocalFCMProjectStatus: Sendable, Hashable, Codable {
    public let id: String
    /// The sender id of its apps.
    public let number: String
    public let settings: LocalFCMProjectSettings
}

/// A project with its service accounts.
struct LocalFCMProject: Sendable {
    struct Account: Sendable {
        /// `cloudmessaging.messages.create`.
        var maySend: Bool
        /// By their ids.
        var keys: [String: _RSA.Signing.PublicKey] = [:]
    }

    let id: String
    /// Twelve digits, which are the sender id of its apps.
    let number: String
    var settings = LocalFCMProjectSettings()
    /// By their addresses.
    var accounts: [String: Account] = [:]
    var requests = QuotaWindow()

    /// 4 to 30 small letters, digits and hyphens.
    static func isID(_ text: String) -> Bool {
        (4...30).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIILowercaseLetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") }
            && text.first?.isLetter == true && !text.hasSuffix("-")
    }
}

/// What was handed out for an assertion.
struct IssuedAccessToken: Sendable {
    let account: String
    let project: String
    let scopes: [String]
    var expiresAt: Timestamp
    var isRevoked = false
}

/// So many in a time that begins with the first, and then anew (Reference/FCM.md#4).
struct QuotaWindow: Sendable {
    private var start: Duration?
    private var used = 0

    func isFull(_ limit: Int, of length: Duration, uptime: Duration) -> Bool {
        used >= limit && start.map { uptime - $0 < length } ?? (limit <= 0)
    }

    /// How long until it begins anew.
    func rest(of length: Duration, uptime: Duration) -> Duration { start.map { max(.zero, $0 + length - uptime) } ?? .zero }

    mutating func count(_ length: Duration, uptime: Duration) {
        if start.map({ uptime - $0 >= length }) ?? true { (start, used) = (uptime, 0) }
        used += 1
    }
}

/// What came for one device of late.
struct DeviceLoad: Sendable {
    private var minute = QuotaWindow()
    private var hour = QuotaWindow()
    /// How many collapsible ones of the burst are used up, as of a moment.
    private var burst = (used: 0.0, at: Duration.zero)

    private func used(_ quotas: LocalFCMQuotas, _ uptime: Duration) -> Double {
        let refilled = Double((uptime - burst.at).wholeMilliseconds) / Double(max(1, quotas.collapsibleRefillSeconds) * 1_000)
        return max(0, burst.used - refilled)
    }

    func brokenRules(isCollapsible: Bool, _ quotas: LocalFCMQuotas, uptime: Duration) -> [FCMRule] {
        var broken: [FCMRule] = []
        if minute.isFull(quotas.devicePerMinute, of: .seconds(60), uptime: uptime) { broken.append(.deviceMinuteQuota) }
        if hour.isFull(quotas.devicePerHour, of: .seconds(3_600), uptime: uptime) { broken.append(.deviceHourQuota) }
        if isCollapsible, used(quotas, uptime) + 1 > Double(quotas.collapsibleBurst) { broken.append(.collapsibleQuota) }
        return broken
    }

    mutating func count(isCollapsible: Bool, _ quotas: LocalFCMQuotas, uptime: Duration) {
        minute.count(.seconds(60), uptime: uptime)
        hour.count(.seconds(3_600), uptime: uptime)
        if isCollapsible { burst = (used(quotas, uptime) + 1, uptime) }
    }
}
