/// When a provider token is renewed (Reference/APNs.md#2-1): by the age of the token in use, at about 45 minutes, and never
/// more often than every 20 minutes, because APNs answers a faster change with `TooManyProviderTokenUpdates`.
public struct ProviderTokenPolicy: Hashable, Sendable {
    /// No token is used for longer, whatever the jitter: APNs refuses those older than one hour.
    public static let maximumAge: Duration = .seconds(58 * 60)
    private static let latestRenewal: Duration = .seconds(55 * 60)

    /// The age at which a token is renewed, before jitter.
    public let renewalAge: Duration
    /// At most this much is added to `renewalAge`, chosen anew for each token.
    public let jitter: Duration
    /// Two tokens are never closer than this.
    public let minimumInterval: Duration

    /// Creates a policy. What cannot work is moved to what can: the minimum interval to at most 55 minutes, the renewal age between
    /// it and 55 minutes, and the jitter so that both together are at most `maximumAge`.
    public init(
        renewalAge: Duration = .seconds(43 * 60), jitter: Duration = .seconds(4 * 60),
        minimumInterval: Duration = .seconds(20 * 60)
    ) {
        self.minimumInterval = min(max(.zero, minimumInterval), Self.latestRenewal)
        self.renewalAge = max(self.minimumInterval, min(renewalAge, Self.latestRenewal))
        self.jitter = min(max(.zero, jitter), Self.maximumAge - self.renewalAge)
    }
}

/// The decisions about renewal, as a value without time or keys of its own. All moments are on a clock that never jumps.
struct ProviderTokenSchedule {
    private let policy: ProviderTokenPolicy
    private var signedAt: Duration?
    private var dueAt: Duration = .zero

    init(policy: ProviderTokenPolicy) { self.policy = policy }

    /// Whether a new token is to be signed now.
    func isDue(at uptime: Duration) -> Bool { signedAt == nil || uptime >= dueAt }

    func age(at uptime: Duration) -> Duration? { signedAt.map { uptime - $0 } }

    /// Notes that a token was signed. `chance` is between 0 and 1 and places the renewal inside the jitter.
    mutating func signed(at uptime: Duration, chance: Double) {
        signedAt = uptime
        dueAt = uptime + policy.renewalAge + policy.jitter * min(max(chance, 0), 1)
    }

    /// APNs called the token in use expired: renew now if that is allowed yet.
    mutating func expired(at uptime: Duration) -> Bool {
        guard let signedAt, uptime - signedAt >= policy.minimumInterval else { return false }
        dueAt = uptime
        return true
    }
}
