import RichPushModel
import WireText

/// `$filter` of a list: the registrations of one device handle (Reference/AzureNotificationHubs.md#2-5).
///
/// The grammar is `{Property} eq '{value}'`, joined by `and`. Property names compare without regard to case. One client omits
/// an opening quote.
public struct RegistrationFilter: Hashable, Sendable {
    /// The property that a condition names.
    public enum Property: String, Sendable, CaseIterable {
        /// The handle of any platform: two clients filter by it whatever the device is.
        case channelURI = "ChannelUri"
        case deviceToken = "DeviceToken"
        case gcmRegistrationID = "GcmRegistrationId"
        case fcmRegistrationID = "FcmRegistrationId"
        case fcmV1RegistrationID = "FcmV1RegistrationId"
        case admRegistrationID = "AdmRegistrationId"
        case xiaomiRegistrationID = "XiaomiRegistrationId"
        case baiduUserID = "BaiduUserId"
        case baiduChannelID = "BaiduChannelId"
        case endpoint = "Endpoint"
        case p256dh = "P256DH"
        case auth = "Auth"

        /// Whether the property is what a platform calls a device, rather than an addition to it.
        public var isHandle: Bool { self != .baiduChannelID && self != .p256dh && self != .auth }

        /// The platforms whose devices have the property; `nil` means all.
        public var platforms: [Platform]? {
            switch self {
            case .channelURI: nil
            case .deviceToken: [.apns]
            case .gcmRegistrationID, .fcmRegistrationID: [Platform(rawValue: "gcm")]
            case .fcmV1RegistrationID: [Platform(rawValue: "fcmv1")]
            case .admRegistrationID: [Platform(rawValue: "adm")]
            case .xiaomiRegistrationID: [Platform(rawValue: "xiaomi")]
            case .baiduUserID, .baiduChannelID: [Platform(rawValue: "baidu")]
            case .endpoint, .p256dh, .auth: [Platform(rawValue: "browser")]
            }
        }
    }

    /// One `{Property} eq '{value}'`.
    public struct Condition: Hashable, Sendable {
        public var property: Property
        /// The value as given, and once more percent-decoded where that differs: some clients encode it twice.
        public var values: [String]

        /// Creates a condition.
        public init(_ property: Property, _ value: String) {
            self.property = property
            let decoded = PercentEncoding.decodeLeniently(value)
            values = decoded == value ? [value] : [value, decoded]
        }
    }

    /// The condition on the device handle.
    public let handle: Condition
    /// Further conditions, on additions to the handle.
    public let details: [Condition]

    /// Creates a filter.
    public init(handle: Condition, details: [Condition] = []) {
        self.handle = handle
        self.details = details
    }

    /// Reads a filter after the query was decoded once.
    public init(_ text: String, limits: HubLimits = HubLimits()) throws(HubRequestFault) {
        guard text.utf8.count <= 3 * (limits.handleBytes * 3 + 64) else {
            throw HubRequestFault(at: "$filter", "the filter is too long")
        }
        var scanner = FilterScanner(text)
        var conditions: [Condition] = []
        repeat {
            guard conditions.count < 4 else { throw HubRequestFault(at: "$filter", "there are too many conditions") }
            conditions.append(try scanner.condition())
        } while try scanner.skipAnd()
        let handles = conditions.filter(\.property.isHandle)
        guard let handle = handles.first, handles.count == 1 else {
            throw HubRequestFault(at: "$filter", "exactly one condition names a device handle, such as ChannelUri or DeviceToken")
        }
        self.init(handle: handle, details: conditions.filter { !$0.property.isHandle })
    }

    /// The filter as text, for a client.
    public var text: String {
        ([handle] + details).map { condition in
            let quoted = (condition.values.first ?? "").split(separator: "'", omittingEmptySubsequences: false).joined(
                separator: "''")
            return "\(condition.property.rawValue) eq '\(quoted)'"
        }.joined(separator: " and ")
    }
}
