/// How a hub elsewhere is spoken to.
public struct RemoteHubOptions: Hashable, Sendable {
    /// How long one call may take with all its repetitions.
    public var deadline: Duration
    /// How long one attempt may take.
    public var attemptDeadline: Duration
    /// How often a call is repeated after 408, 429, 500, 503, 504 or a broken connection.
    public var retries: Int
    /// The wait before the first repetition; it doubles each time.
    public var firstPause: Duration
    /// The longest wait between two attempts, a hub's `Retry-After` included; what asks for more ends the call.
    public var longestPause: Duration
    /// Certificates (PEM) that vouch for the hub besides the system's; for a hub with a certificate of its own authority.
    public var trustRootsPath: String?
    /// The `api-version` of every request.
    public var apiVersion: String
    /// The largest answer that is read, in bytes.
    public var answerBytes: Int
    /// Connections at most.
    public var connections: Int

    /// Creates options; the defaults are those of the JavaScript client where it has any
    /// (Reference/AzureNotificationHubs.md#6-3).
    public init(
        deadline: Duration = .seconds(60), attemptDeadline: Duration = .seconds(20), retries: Int = 3,
        firstPause: Duration = .seconds(1), longestPause: Duration = .seconds(30), trustRootsPath: String? = nil,
        apiVersion: String = "2020-06", answerBytes: Int = 32 * 1024 * 1024, connections: Int = 8
    ) {
        self.deadline = deadline
        self.attemptDeadline = attemptDeadline
        self.retries = retries
        self.firstPause = firstPause
        self.longestPause = longestPause
        self.trustRootsPath = trustRootsPath
        self.apiVersion = apiVersion
        self.answerBytes = answerBytes
        self.connections = connections
    }
}
