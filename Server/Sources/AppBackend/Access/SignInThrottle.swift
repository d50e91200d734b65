import RichPushModel

/// Slows down guessing: after five failures for a user from one source every further one doubles the wait. A value without
/// I/O; an attempt counts as a failure until it is known to have succeeded, so that attempts at the same time gain nothing.
struct SignInThrottle: Sendable {
    struct Key: Hashable, Sendable {
        var user: String
        var source: SourceAddress
    }

    enum Decision: Hashable, Sendable {
        case proceed
        /// Whole seconds, rounded up.
        case wait(seconds: Int)
    }

    private struct Record: Sendable {
        var failures = 0
        var last: Duration = .zero
        var blockedUntil: Duration = .zero
    }

    /// Failures that cost nothing.
    static let freeFailures = 5
    /// The longest wait.
    static let longestWait: Duration = .seconds(900)
    /// After this long without an attempt everything is forgotten.
    static let memory: Duration = .seconds(3600)

    private var records: [Key: Record] = [:]
    private let capacity: Int

    init(capacity: Int = 50_000) { self.capacity = capacity }

    /// How many pairs are remembered.
    var count: Int { records.count }

    /// Begins an attempt.
    mutating func begin(_ key: Key, at uptime: Duration) -> Decision {
        var record = records[key] ?? Record()
        if uptime - record.last > Self.memory { record = Record() }
        guard uptime >= record.blockedUntil else {
            let left = (record.blockedUntil - uptime).wholeMilliseconds
            return .wait(seconds: Int((left + 999) / 1000))
        }
        makeRoom(at: uptime)
        record.failures += 1
        record.last = uptime
        record.blockedUntil = uptime + Self.wait(after: record.failures)
        records[key] = record
        return .proceed
    }

    /// The attempt succeeded: the pair starts afresh.
    mutating func succeed(_ key: Key) { records[key] = nil }

    /// The attempt was never decided (a full queue, for example): it does not count.
    mutating func withdraw(_ key: Key) {
        guard var record = records[key] else { return }
        record.failures -= 1
        record.blockedUntil = .zero
        records[key] = record.failures > 0 ? record : nil
    }

    private static func wait(after failures: Int) -> Duration {
        guard failures >= freeFailures else { return .zero }
        return min(longestWait, .seconds(1 << min(failures - freeFailures, 10)))
    }

    /// Forgets what is old; if that is not enough, those who are not blocked; then the oldest half.
    private mutating func makeRoom(at uptime: Duration) {
        guard records.count >= capacity else { return }
        records = records.filter { uptime - $0.value.last <= Self.memory }
        if records.count >= capacity { records = records.filter { $0.value.blockedUntil > uptime } }
        if records.count >= capacity {
            let oldest = records.sorted { $0.value.last < $1.value.last }.prefix(capacity / 2)
            for (key, _) in oldest { records[key] = nil }
        }
    }
}
