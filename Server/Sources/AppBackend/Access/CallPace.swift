import RichPushModel
import ServiceErrors
import Synchronization

/// What a caller has left of a limit of requests a minute.
public struct RequestAllowance: Hashable, Sendable {
    /// How many requests a minute there are.
    public var perMinute: Int
    /// How many may be made at once.
    public var left: Int
    /// After how many seconds there is one more.
    public var secondsToNext: Int

    /// Of an account that has so many requests left, with what has come back of the next one.
    fileprivate init(perMinute: Int, left: Double) {
        self.perMinute = perMinute
        self.left = Int(left)
        secondsToNext = max(1, Int((60 * (left.rounded(.down) + 1 - left) / Double(perMinute)).rounded(.up)))
    }

    /// Of a caller who has used up the limit.
    init(perMinute: Int, refusedFor seconds: Int) {
        (self.perMinute, left, secondsToNext) = (perMinute, 0, seconds)
    }
}

/// How often each caller may do something on this node: users send, keys ask, networks are refused. A minute's calls may come at
/// once; they come back evenly within a minute.
final class CallPace<Caller: Hashable & Sendable>: Sendable {
    /// The calls that are left at once, and when that was found out.
    private struct Account: Sendable {
        var left: Double
        var at: Duration
    }

    private let accounts = Mutex<[Caller: Account]>([:])
    private let capacity: Int

    /// Remembers at most `capacity` callers; beyond that the count of each starts afresh.
    init(capacity: Int = 50_000) { self.capacity = capacity }

    /// How many callers are remembered.
    var count: Int { accounts.withLock { $0.count } }

    /// Counts a call and says what is left. Throws `too-many-requests`, with the time until the next one, when the caller has had
    /// all of a minute.
    @discardableResult
    func take(_ caller: Caller, perMinute: Int, at uptime: Duration) throws(ServiceError) -> RequestAllowance {
        let most = Double(perMinute)
        let left = accounts.withLock { accounts in
            if accounts.count >= capacity { accounts = accounts.filter { uptime - $0.value.at < .seconds(60) } }
            if accounts.count >= capacity { accounts.removeAll(keepingCapacity: true) }
            var account = accounts[caller] ?? Account(left: most, at: uptime)
            let passed = max(.zero, uptime - account.at) / .seconds(60)
            let left = min(most, account.left + most * passed)
            account = Account(left: left >= 1 ? left - 1 : left, at: max(uptime, account.at))
            accounts[caller] = account
            return left
        }
        guard left < 1 else { return RequestAllowance(perMinute: perMinute, left: left - 1) }
        throw ServiceError(
            .tooManyRequests, "your account may send \(perMinute) times a minute",
            retryAfter: Int((60 * (1 - left) / most).rounded(.up)))
    }
}
