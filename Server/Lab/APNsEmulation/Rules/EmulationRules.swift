import APNsProtocol

/// The rules that Apple does not document or that a test wants otherwise; the defaults are what was observed
/// (Reference/APNs.md#1-4, #2, #4 and #7-2). They may change while the emulator runs; what is said of new connections holds for
/// those.
public struct EmulationRules: Sendable, Hashable {
    // MARK: Streams and windows

    /// MAX_CONCURRENT_STREAMS before the first accepted push and, if `lowersLimitAfterRejection`, after a rejected one.
    public var firstConcurrentStreams = 1
    /// MAX_CONCURRENT_STREAMS after an accepted push.
    public var concurrentStreams = 1_000
    /// A connection with a client certificate gets the real limit right after the handshake (seen once, Reference/APNs.md#1-4).
    public var raisesLimitForCertificates = true
    /// Lower the limit after a 4xx other than 410 until the next accepted push (Reference/APNs.md#7-2-22).
    public var lowersLimitAfterRejection = true
    public var limitEnforcement = LimitEnforcement.whenAcknowledged
    public var overLimit = OverLimit.refuseStream
    /// Follow a refused stream with a second RST_STREAM, STREAM_CLOSED, as Apple does for its DATA frame.
    public var resetsRefusedStreamsTwice = true
    /// INITIAL_WINDOW_SIZE of new connections; the window of the connection itself is 65,535 bytes always.
    public var initialWindowSize = 65_535
    /// HEADER_TABLE_SIZE of new connections.
    public var headerTableSize = 4_096
    public var credit = CreditPattern.halfWindow
    /// Credit leaves this much later than it was earned. With `answerDelay` this makes the distance to Apple complete, and a client
    /// that spends credit before it can have it overruns its window.
    public var creditDelay = Duration.zero

    // MARK: Credentials

    /// The oldest provider token in seconds (Reference/APNs.md#7-2-13).
    public var providerTokenLifetime: Int64 = 3_600
    /// How far ahead of the clock a provider token may be minted, in seconds. Apple writes "no more than one hour from the
    /// current time".
    public var providerTokenLead: Int64 = 3_600
    /// The answer to a token from further ahead; clients with wrong clocks report this or `ExpiredProviderToken`.
    public var futureTokenReason = APNsReason.invalidProviderToken
    /// How soon after one provider token another of the same key may follow on a connection, in seconds
    /// (Reference/APNs.md#7-2-13).
    public var providerTokenInterval: Int64 = 1_200
    /// Apple's page and Apple's servers spell this reason differently; this is the servers' spelling.
    public var environmentKeyReason = APNsReason.badEnvironmentKeyInToken
    /// A connection serves only apps that the team had when its first push was accepted (Reference/APNs.md#2-3).
    public var bindsAppsToConnection = true
    /// After `ExpiredProviderToken` or `TooManyProviderTokenUpdates` the connection answers nothing more
    /// (Reference/APNs.md#7-2-24).
    public var wedgesAfterTokenError = false
    /// A client certificate outside its dates.
    public var expiredCertificate = CertificateComplaint.answer
    /// A client certificate of the other environment.
    public var certificateEnvironment = CertificateComplaint.goAway
    /// The answer to a topic that the client certificate does not list; `BadTopic` or `TopicDisallowed`.
    public var certificateTopicReason = APNsReason.badTopic

    // MARK: Requests

    /// `background` with priority 10 (Reference/APNs.md#7-2-16).
    public var backgroundAtPriorityTen = Leniency.refuse
    /// The reason for it; which one Apple uses is not known.
    public var backgroundPriorityReason = APNsReason.badPriority
    /// A push without `apns-push-type`.
    public var missingPushType = Leniency.accept
    /// A body that is not a JSON object (Reference/APNs.md#7-2-17); refused as `PayloadEmpty`.
    public var bodyThatIsNotJSON = Leniency.accept
    /// `nil` sets no limit; more are answered 429 `TooManyRequests` (Reference/APNs.md#7-2-19).
    public var deviceRate: DeviceRate?
    /// The same for broadcasts and the management together, for each app.
    public var appRate: DeviceRate?
    /// `retry-after` in seconds with 429 `TooManyRequests` and 503; there is no evidence that Apple sends it.
    public var retryAfter: Int?
    /// Channels of an app in one environment (Reference/APNs.md#5-1).
    public var channelsPerApp = 10_000
    /// A device that follows a channel anew gets what the channel has stored.
    public var storedBroadcastReachesNewSubscriber = true

    // MARK: Answers and connections

    /// Every answer comes this much later: the distance to Apple, simulated.
    public var answerDelay = Duration.zero
    /// A wrong credential is answered when the headers are here, before the body is read (Reference/APNs.md#1-4).
    public var answersBeforeBody = false
    /// The body of a refusal comes in this many DATA frames.
    public var answerPieces = 1
    /// Rejections that a connection may collect before it is closed with GOAWAY; `nil` sets no limit. `BadDeviceToken`
    /// counts `badDeviceTokenWeight` times, 410 not at all (Reference/APNs.md#7-2-23).
    public var errorBudget: Int?
    public var badDeviceTokenWeight = 5
    /// A connection that brought no frame for this long gets GOAWAY `IdleTimeout` (Reference/APNs.md#7-2-7); `nil` waits for
    /// ever. Apple's value is not documented; reports say one to two hours.
    public var idleLimit: Duration? = .seconds(3_600)
    /// Connections at a time; more are closed at once.
    public var maximumConnections = 1_000
    /// New connections within a time; more are closed at once (Reference/APNs.md#7-2-7). `nil` sets no limit.
    public var connectRate: DeviceRate?
    /// A new connection is left waiting for this long before anything of it is read.
    public var connectDelay = Duration.zero
    /// How long a connection stays open after GOAWAY, so that the client reads it before the connection ends.
    public var goAwayGrace = Duration.seconds(1)

    /// Creates the rules that were observed at Apple.
    public init() {}

    // MARK: The choices that the rules offer

    /// What happens to a stream above the announced limit.
    public enum OverLimit: String, CaseIterable, Sendable, Hashable, Codable {
        /// RST_STREAM with REFUSED_STREAM, seen since 2017.
        case refuseStream
        /// GOAWAY with REFUSED_STREAM and a text that is not JSON, seen in 2016.
        case goAway
    }

    /// From when a lowered limit is enforced.
    public enum LimitEnforcement: String, CaseIterable, Sendable, Hashable, Codable {
        /// When the client has acknowledged the SETTINGS frame, as RFC 9113 wants it.
        case whenAcknowledged
        /// At once: streams already on their way are refused, as some users of Apple's service saw.
        case immediately
    }

    /// At most `count` events within `seconds`.
    public struct DeviceRate: Sendable, Hashable, Codable {
        public var count: Int
        public var seconds: Int

        /// Creates a rate; both values are at least 1.
        public init(count: Int, seconds: Int) {
            self.count = max(1, count)
            self.seconds = max(1, seconds)
        }
    }

    /// Whether something doubtful is let through.
    public enum Leniency: String, CaseIterable, Sendable, Hashable, Codable {
        case accept
        case refuse
    }

    /// How a client learns that its certificate is no good (Reference/APNs.md#2-4).
    public enum CertificateComplaint: String, CaseIterable, Sendable, Hashable, Codable {
        /// 403 to every request.
        case answer
        /// GOAWAY NO_ERROR with last stream id 0 and the reason, right after the handshake.
        case goAway
    }

    /// When flow-control credit is given back.
    public enum CreditPattern: String, CaseIterable, Sendable, Hashable, Codable {
        /// After half of the window is used up, as seen at Apple (Reference/APNs.md#1-5).
        case halfWindow
        /// After every DATA frame.
        case everyFrame
        /// Never: what the first windows do not hold is never read.
        case never
    }
}
