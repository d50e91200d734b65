import APNsProtocol
import RichPushModel

/// One request as received, before any check.
struct APNsRequest: Sendable {
    /// The headers that APNs looks at, taken out in one pass.
    struct Head: Sendable {
        var method = ""
        var path = ""
        var authorization: String?
        var apnsID: String?
        var expiration: String?
        var priority: String?
        var collapseID: String?
        var pushType: String?
        var topic: String?
        var channelID: String?
        var requestID: String?
        /// Whether an `apns-…` header or `authorization` came twice.
        var hasDuplicates = false
        /// Every field but the pseudo fields and `authorization`, for the record.
        var fields: [APNsExchange.Field] = []

        /// Takes in one field.
        mutating func add(name: String, value: String) {
            switch name {
            case ":method": method = value
            case ":path": path = value
            case "authorization": set(\.authorization, value)
            case "apns-id": set(\.apnsID, value)
            case "apns-expiration": set(\.expiration, value)
            case "apns-priority": set(\.priority, value)
            case "apns-collapse-id": set(\.collapseID, value)
            case "apns-push-type": set(\.pushType, value)
            case "apns-topic": set(\.topic, value)
            case "apns-channel-id": set(\.channelID, value)
            case "apns-request-id": set(\.requestID, value)
            default:
                if name.hasPrefix("apns-"), fields.contains(where: { $0.name == name }) { hasDuplicates = true }
            }
            if !name.hasPrefix(":"), name != "authorization" { fields.append(.init(name: name, value: value)) }
        }

        /// The first value counts.
        private mutating func set(_ field: WritableKeyPath<Head, String?>, _ value: String) {
            if self[keyPath: field] == nil { self[keyPath: field] = value } else { hasDuplicates = true }
        }
    }

    /// More of a body is counted, not kept.
    static let keptBody = 8_192

    var head: Head
    /// The body, cut at `keptBody`.
    var body: [UInt8]
    /// How long the body was.
    var bodySize: Int
    var connection: Int
    var stream: Int
    /// The service that received it.
    var service: APNsService

    init(
        head: Head, body: [UInt8] = [], bodySize: Int? = nil, connection: Int = 0, stream: Int = 1,
        service: APNsService = .provider
    ) {
        self.head = head
        self.service = service
        self.body = body
        self.bodySize = bodySize ?? body.count
        self.connection = connection
        self.stream = stream
    }
}

/// The two services of APNs, each on its own port (Reference/APNs.md#1-1).
enum APNsService: Sendable, Hashable {
    /// Device pushes and broadcasts.
    case provider
    /// The management of broadcast channels.
    case channelManagement
}

/// Where a request goes.
enum RequestPath: Sendable, Hashable {
    /// `/3/device/` and something behind it that may or may not be a device token.
    case device(token: String)
    /// `/3/device/` and nothing behind it.
    case deviceWithoutToken
    /// `/4/broadcasts/apps/` and something behind it that may or may not be a bundle id.
    case broadcast(bundleID: String)
    /// `/1/apps/…/channels`, on the port of the management.
    case channels(bundleID: String)
    /// `/1/apps/…/all-channels`, on the port of the management.
    case allChannels(bundleID: String)
    case unknown

    init(_ text: String, service: APNsService = .provider) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        guard text.hasPrefix("/") else {
            self = .unknown
            return
        }
        switch service {
        case .provider: self = Self.provider(parts)
        case .channelManagement: self = Self.management(parts)
        }
    }

    private static func provider(_ parts: [String]) -> RequestPath {
        if parts.count == 3, parts[0] == "3", parts[1] == "device" {
            return parts[2].isEmpty ? .deviceWithoutToken : .device(token: parts[2])
        }
        if parts.count == 4, Array(parts.prefix(3)) == ["4", "broadcasts", "apps"], !parts[3].isEmpty {
            return .broadcast(bundleID: parts[3])
        }
        return .unknown
    }

    private static func management(_ parts: [String]) -> RequestPath {
        guard parts.count == 4, parts[0] == "1", parts[1] == "apps", !parts[2].isEmpty else { return .unknown }
        switch parts[3] {
        case "channels": return .channels(bundleID: parts[2])
        case "all-channels": return .allChannels(bundleID: parts[2])
        default: return .unknown
        }
    }

    /// The token as sent.
    var token: String? {
        guard case .device(let token) = self else { return nil }
        return token
    }

    /// The bundle id of a broadcast or of the management.
    var bundleID: String? {
        switch self {
        case .broadcast(let bundleID), .channels(let bundleID), .allChannels(let bundleID): bundleID
        case .device, .deviceWithoutToken, .unknown: nil
        }
    }
}

/// Everything that the checks may look at, gathered before the first of them runs. A value: no check can change anything.
struct RequestEvidence: Sendable {
    /// What is known of the device token in the path.
    struct Target: Sendable, Hashable {
        enum Life: Sendable, Hashable {
            case alive
            case unregistered(since: Timestamp)
            case expired(since: Timestamp)
        }

        var topic: String
        var life: Life
        /// Accepted pushes to this token within the present rate window.
        var recentPushes: Int
    }

    var environment: APNsEnvironment
    var rules: EmulationRules
    var now: Timestamp
    var uptime: Duration
    var request: APNsRequest
    var path: RequestPath
    var credential: Credential
    var binding: ConnectionCredentials.Binding?
    /// The token in use of the key that signed this one; `nil` if that token has expired, since it then counts for no interval.
    var currentToken: ConnectionCredentials.Current?
    /// An injected fault has answered this request's token with `ExpiredProviderToken` before.
    var tokenCalledExpired = false
    /// Provider tokens minted before this second count as expired, whatever their age.
    var recalledBefore: Int64?
    /// The app that the topic names, with its owner; `nil` if it is not registered.
    var app: ProviderRegistry.App?
    /// `nil` if the token was never issued in this environment.
    var target: Target?
    /// The channel that the header names, if the app of the path has it.
    var channel: BroadcastChannel?
    /// How many channels the app of the path has.
    var channelCount = 0
    /// The body with which a channel is created; `nil` for every other request.
    var creation: ChannelCreation?
    /// Broadcasts and requests of the management for the app of the path within the present rate window.
    var recentRequests = 0

    /// The push type as sent.
    var pushType: APNsPushType? { request.head.pushType.map(APNsPushType.init(rawValue:)) }

    /// The signed credential; `nil` while it is missing or invalid.
    var signed: (key: Credential.Key, issuedAt: Int64)? {
        guard case .signed(let key, let issuedAt) = credential else { return nil }
        return (key, issuedAt)
    }

    /// The client certificate of the connection.
    var certificate: ClientCertificate? {
        guard case .certificate(let certificate) = credential else { return nil }
        return certificate
    }

    /// The topic as sent, or the only one that the client certificate has.
    var topic: String? { request.head.topic ?? certificate?.onlyTopic }
}
