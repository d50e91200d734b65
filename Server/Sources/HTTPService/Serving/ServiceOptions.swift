import Logging
import Metrics
import RichPushModel

/// How a `ServiceRouter` serves: limits, clock and logging. Sizes in bytes.
public struct ServiceOptions: Sendable {
    /// The source of time for deadlines and durations.
    public var clock: any ServiceClock
    /// How long a handler may take to the head of its answer, reading the body included; routes with uploads extend it.
    public var requestDeadline: Duration
    /// The largest body that any route may read. A longer one is refused when it is read so far, not by its head: a route knows
    /// a smaller limit and the better words for it.
    public var maximumBodyBytes: Int
    /// The most that the names and values of a request's header fields may have together. HTTP/1.1 itself is cut off at 80 KiB.
    public var maximumHeaderBytes = 64 << 10
    /// The level of the access log's line for a request that succeeded; failures have the level of the error table.
    public var accessLogLevel: Logger.Level
    /// How long a connection stays open for the rest of a body that nobody will read, so that its answer can be read first.
    public var lingerTime: Duration
    /// Names of this server besides the loopback ones that `Host` may have; `nil` accepts every name. Set on a listener for
    /// loopback only, it keeps pages of other sites out that point a name of theirs at it.
    public var allowedHosts: Set<String>?
    /// Whether answers over TLS tell browsers to use nothing else for this host, for a year (RFC 6797). It holds for all ports of the
    /// host, so it is for certificates of a real authority only.
    public var requiresTLS = false
    /// The form of error bodies by path prefix (whole segments); the longest one counts, and problem documents for the rest.
    public var errorRenderers: [String: any ErrorRenderer]
    /// Where requests are counted.
    public var metrics: any MetricsFactory

    /// Creates options; the defaults suit a small server.
    public init(
        clock: any ServiceClock = .system, requestDeadline: Duration = .seconds(30), maximumBodyBytes: Int = 128 << 20,
        accessLogLevel: Logger.Level = .debug, lingerTime: Duration = .seconds(2), allowedHosts: Set<String>? = nil,
        errorRenderers: [String: any ErrorRenderer] = [:], metrics: any MetricsFactory = MetricsSystem.factory
    ) {
        self.clock = clock
        self.requestDeadline = requestDeadline
        self.maximumBodyBytes = maximumBodyBytes
        self.accessLogLevel = accessLogLevel
        self.lingerTime = lingerTime
        self.allowedHosts = allowedHosts
        self.errorRenderers = errorRenderers
        self.metrics = metrics
    }
}
