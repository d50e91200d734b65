/// Counts events in windows of fixed length: the first event after a window begins the next.
public struct RateWindow: Sendable, Hashable {
    private var start: Duration?
    private var count = 0

    /// Creates a window without events.
    public init() {}

    /// Events in the window that is open at `uptime`.
    public func recent(seconds: Int, uptime: Duration) -> Int { rest(seconds: seconds, uptime: uptime) > .zero ? count : 0 }

    /// How long the window is still open.
    public func rest(seconds: Int, uptime: Duration) -> Duration {
        start.map { max(.zero, $0 + .seconds(seconds) - uptime) } ?? .zero
    }

    /// Counts one more.
    public mutating func add(seconds: Int, uptime: Duration) {
        if recent(seconds: seconds, uptime: uptime) > 0 {
            count += 1
        } else {
            (start, count) = (uptime, 1)
        }
    }
}
