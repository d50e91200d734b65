import RichPushModel
import ServiceErrors
import Synchronization

/// Keeps the calls of a hub below a rate: a bucket of tokens for each hub, filled evenly, that holds one second's worth.
///
/// A refused call is told in how many whole seconds there is room again, which every client takes for "retry later"
/// (Reference/AzureNotificationHubs.md#6-3). Bounded by the number of hubs.
final class RequestThrottle<Key: Hashable & Sendable>: Sendable {
    private struct Bucket {
        var tokens: Double
        var filledAt: Duration
    }

    /// Calls per second; `nil` lets everything through.
    private let rate: Double?
    private let clock: any ServiceClock
    private let buckets = Mutex<[Key: Bucket]>([:])

    init(perSecond rate: Int?, clock: any ServiceClock) {
        self.rate = rate.map(Double.init)
        self.clock = clock
    }

    /// Takes one token, or throws `too-many-requests` with the wait.
    func admit(_ key: Key) throws(ServiceError) {
        guard let rate else { return }
        let now = clock.uptime
        let wait: Double = buckets.withLock { buckets in
            var bucket = buckets[key] ?? Bucket(tokens: rate, filledAt: now)
            bucket.tokens = min(rate, bucket.tokens + (now - bucket.filledAt).inSeconds * rate)
            bucket.filledAt = now
            let isAdmitted = bucket.tokens >= 1
            if isAdmitted { bucket.tokens -= 1 }
            buckets[key] = bucket
            return isAdmitted ? 0 : (1 - bucket.tokens) / rate
        }
        if wait > 0 {
            throw ServiceError(
                .tooManyRequests, "this hub takes at most \(Int(rate)) of these calls in a second",
                retryAfter: max(1, Int(wait.rounded(.up))))
        }
    }
}

extension Duration {
    fileprivate var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
