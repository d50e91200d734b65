import APNsProtocol

/// The rules that Apple does not document or that a test wants otherwise; the defaults are what was observed
/// (APNs reference 1.4, 2, 4 and 7.2).
public struct EmulationRules: Sendable, Hashable {
    /// What happens to a stream above the announced limit.
    public enum OverLimit: Sendable, Hashable {
        /// RST_STREAM with REFUSED_STREAM, seen since 2017.
        case refuseStream
        /// GOAWAY with REFUSED_STREAM and a text that is not JSON, seen in 2016.
        case goAway
    }

    /// From when a lowered limit is enforced.
    public enum LimitEnforcement: Sendable, Hashable {
        /// When the client has acknowledged the SETTINGS frame, as RFC 9113 wants it.
        case whenAcknowledged
        /// At once: streams already on their way are refused, as some users of Apple's service saw.
        case immediately
    }

    /// At most `count` accepted pushes to one device token within `seconds`; more are answered 429 `TooManyRequests`.
    public struct DeviceRate: Sendable, Hashable {
        public var count: Int
        public var seconds: Int

        /// Creates a rate; both values are at least 1.
        public init(count: Int, seconds: Int) {
            self.count = max(1, count)
            self.seconds = max(1, seconds)
        }
    }

    /// Whether something doubtful is let through.
    public enum Leniency: Sendable, Hashable {
        case accept
        case refuse
    }

    /// MAX_CONCURRENT_STREAMS before the first accepted push and, if `lowersLimitAfterRejection`, after a rejected one.
    public var firstConcurrentStreams = 1
    /// MAX_CONCURRENT_STREAMS after an accepted push.
    public var concurrentStreams = 1_000
    /// Lower the limit after a 4xx other than 410 until the next accepted push (check 22).
    public var lowersLimitAfterRejection = true
    public var limitEnforcement = LimitEnforcement.whenAcknowledged
    public var overLimit = OverLimit.refuseStream
    /// Follow a refused stream with a second RST_STREAM, STREAM_CLOSED, as Apple does for its DATA frame.
    public var resetsRefusedStreamsTwice = true

    /// The oldest provider token in seconds (check 13).
    public var providerTokenLifetime: Int64 = 3_600
    /// How soon after one provider token another may follow on a connection, in seconds (check 13).
    public var providerTokenInterval: Int64 = 1_200
    /// Apple's page and Apple's servers spell this reason differently; this is the servers' spelling.
    public var environmentKeyReason = APNsReason.badEnvironmentKeyInToken
    /// A connection serves only apps that the team had when its first push was accepted (APNs reference 2.3).
    public var bindsAppsToConnection = true
    /// After `ExpiredProviderToken` or `TooManyProviderTokenUpdates` the connection answers nothing more (check 24).
    public var wedgesAfterTokenError = false

    /// `background` with priority 10 (check 16).
    public var backgroundAtPriorityTen = Leniency.refuse
    /// A body that is not a JSON object (check 17); refused as `PayloadEmpty`.
    public var bodyThatIsNotJSON = Leniency.accept
    /// `nil` sets no limit (check 19).
    public var deviceRate: DeviceRate?
    /// Rejections that a connection may collect before it is closed with GOAWAY; `nil` sets no limit. `BadDeviceToken`
    /// counts five times, 410 not at all (check 23).
    public var errorBudget: Int?
    /// A connection that brought no frame for this long gets GOAWAY `IdleTimeout` (check 7); `nil` waits for ever. Apple's
    /// value is not documented; reports say one to two hours.
    public var idleLimit: Duration? = .seconds(3_600)
    /// Connections at a time; more are closed at once.
    public var maximumConnections = 1_000
    /// How long a connection stays open after GOAWAY, so that the client reads it before the connection ends.
    public var goAwayGrace = Duration.seconds(1)

    /// Creates the rules that were observed at Apple.
    public init() {}
}
