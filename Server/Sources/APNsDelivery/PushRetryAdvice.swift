/// How long to wait before one push is tried again (Reference/APNs.md#4). The hub adds its own back-off and jitter.
public struct PushRetryAdvice: Sendable, Hashable {
    /// After `TooManyRequests`: this one device gets too much.
    public var afterTooManyRequests: Duration
    /// After a 500 without `retry-after`: 15 minutes, as Apple asks.
    public var afterServerError: Duration
    /// The most that a `retry-after` of the server is believed.
    public var maximum: Duration

    /// Creates advice.
    public init(
        afterTooManyRequests: Duration = .seconds(60), afterServerError: Duration = .seconds(15 * 60),
        maximum: Duration = .seconds(3600)
    ) {
        self.afterTooManyRequests = afterTooManyRequests
        self.afterServerError = afterServerError
        self.maximum = maximum
    }
}
