import APNsProtocol
import RichPushModel

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
    /// The app that the topic names, with its owner; `nil` if nobody registered it.
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
