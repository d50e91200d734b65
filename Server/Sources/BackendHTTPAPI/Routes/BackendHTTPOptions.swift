import HTTPService
import RichPushModel

/// Limits of the app backend's routes.
public struct BackendHTTPOptions: Sendable {
    /// The clock of the router that serves the routes.
    public var clock: any ServiceClock
    /// How long an upload may take in all.
    public var uploadDeadline: Duration
    /// The limits of JSON bodies.
    public var json: JSONLimits
    /// Whether an address is that of a proxy whose `X-Forwarded-For` is believed.
    public var isTrustedProxy: @Sendable (String) -> Bool

    /// Creates options.
    public init(
        clock: any ServiceClock = .system, uploadDeadline: Duration = .seconds(600), json: JSONLimits = JSONLimits(),
        isTrustedProxy: @escaping @Sendable (String) -> Bool = { _ in false }
    ) {
        self.clock = clock
        self.uploadDeadline = uploadDeadline
        self.json = json
        self.isTrustedProxy = isTrustedProxy
    }
}
