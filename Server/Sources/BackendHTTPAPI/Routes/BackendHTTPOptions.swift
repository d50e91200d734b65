import HTTPService
import RichPushModel

/// Limits of the app backend's routes.
public struct BackendHTTPOptions: Sendable {
    /// The clock of the router that serves the routes.
    public var clock: any ServiceClock
    /// How long an upload may take in all.
    public var uploadDeadline: Duration
    /// How many requests may be under way at once; more are answered 503. One user may have a quarter of them, then 429.
    public var requestLimit: Int
    /// The limits of JSON bodies.
    public var json: JSONLimits
    /// Whether an address is that of a proxy whose `X-Forwarded-For` is believed.
    public var isTrustedProxy: @Sendable (String) -> Bool

    /// Is called when a request that came over a peer that is no trusted proxy says for whom it was forwarded. With the peer's address,
    /// and more than once.
    public var onUntrustedForwarding: @Sendable (String) -> Void

    /// The largest body that makes sense when a content has at most `contentLimit` bytes: content and thumb in one form, with
    /// room for the words. Each of the two is held to its own limit before the body comes to this one.
    public static func bodyLimit(contentLimit: Int64) -> Int {
        Int(clamping: contentLimit.multipliedReportingOverflow(by: 2).partialValue) + (1 << 20)
    }

    /// Creates options.
    public init(
        clock: any ServiceClock = .system, uploadDeadline: Duration = .seconds(600), requestLimit: Int = 2_000,
        json: JSONLimits = JSONLimits(), isTrustedProxy: @escaping @Sendable (String) -> Bool = { _ in false },
        onUntrustedForwarding: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.clock = clock
        self.uploadDeadline = uploadDeadline
        self.requestLimit = requestLimit
        self.json = json
        self.isTrustedProxy = isTrustedProxy
        self.onUntrustedForwarding = onUntrustedForwarding
    }
}
