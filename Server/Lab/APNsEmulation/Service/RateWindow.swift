/// Counts events in windows of fixed length: the first event after a window begins the next.
struct RateWindow: Sendable, Hashable {
    private var start: Duration?
    private var count = 0

    /// Events in the window that is open at `uptime`.
    func recent(seconds: Int, uptime: Duration) -> Int {
        guard let start, uptime - start < .seconds(seconds) else { return 0 }
        return count
    }

    /// Counts one more.
    mutating func add(seconds: Int, uptime: Duration) {
        if recent(seconds: seconds, uptime: uptime) > 0 {
            count += 1
        } else {
            start = uptime
            count = 1
        }
    }
}
