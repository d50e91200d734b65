import RichPushModel
import ServiceEmulation
import WireText

/// What a project at Google has switched on.
public struct LocalFCMProjectSettings: Sendable, Hashable, Codable {
    /// The Firebase Cloud Messaging API.
    public var isAPIEnabled = true
    /// The project's keys for APNs and for web push are good.
    public var hasAPNsKey = true
    public var hasWebPushKey = true
}

/// A project as its operator sees it.
public struct LocalFCMProjectStatus: Sendable, Hashable, Codable {
    public let id: String
    /// The sender id of its apps.
    public let number: String
    public let settings: LocalFCMProjectSettings
}

/// A project with its service accounts.
struct LocalFCMProject: Sendable, Hashable, Codable {
    struct Account: Sendable, Hashable, Codable {
        /// `cloudmessaging.messages.create`.
        var maySend: Bool
        /// Public keys in PEM, by their ids.
        var keys: [String: String] = [:]
    }

    var id: String
    /// Twelve digits, which are the sender id of its apps.
    var number: String
    var settings = LocalFCMProjectSettings()
    /// By their addresses.
    var accounts: [String: Account] = [:]

    /// 4 to 30 small letters, digits and hyphens.
    static func isID(_ text: String) -> Bool {
        (4...30).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIILowercaseLetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") }
            && text.first?.isLetter == true && !text.hasSuffix("-")
    }
}

/// What was handed out for an assertion.
struct IssuedAccessToken: Sendable {
    let account, project: String
    let scopes: [String]
    var expiresAt: Timestamp
    var isRevoked = false
}

/// What came for one device of late (Reference/FCM.md#4).
struct DeviceLoad: Sendable {
    private var minute = RateWindow()
    private var hour = RateWindow()
    /// How many collapsible ones of the burst are used up, as of a moment.
    private var burst = (used: 0.0, at: Duration.zero)

    private func used(_ quotas: LocalFCMQuotas, _ uptime: Duration) -> Double {
        let refilled = Double((uptime - burst.at).wholeMilliseconds) / Double(max(1, quotas.collapsibleRefillSeconds) * 1_000)
        return max(0, burst.used - refilled)
    }

    func violations(isCollapsible: Bool, _ quotas: LocalFCMQuotas, uptime: Duration) -> [FCMViolation] {
        var found: [FCMViolation] = []
        found.note(.deviceMinuteQuota, if: minute.recent(seconds: 60, uptime: uptime) >= quotas.devicePerMinute)
        found.note(.deviceHourQuota, if: hour.recent(seconds: 3_600, uptime: uptime) >= quotas.devicePerHour)
        found.note(.collapsibleQuota, if: isCollapsible && used(quotas, uptime) + 1 > Double(quotas.collapsibleBurst))
        return found
    }

    mutating func count(isCollapsible: Bool, _ quotas: LocalFCMQuotas, uptime: Duration) {
        minute.add(seconds: 60, uptime: uptime)
        hour.add(seconds: 3_600, uptime: uptime)
        if isCollapsible { burst = (used(quotas, uptime) + 1, uptime) }
    }
}
