import RichPushModel
import Synchronization

/// The one holder of the provider token of a key: every connection of the process takes its token here.
///
/// Renewal is by age on the clock that never jumps; the wall clock only writes `iat`. Signing happens under the lock, so
/// it is single-flight, and takes well below a millisecond every 45 minutes.
public final class ProviderTokenCache: Sendable {
    /// What APNs' complaint about an expired token led to.
    public enum Renewal: Hashable, Sendable {
        /// There is a newer token, or there will be one at the next call of `current()`.
        case renewed
        /// The token is too young to be expired or to be replaced: the clock of this machine is likely wrong.
        case tokenIsYoung
    }

    private struct State: Sendable {
        var schedule: ProviderTokenSchedule
        var token: ProviderToken?
        var generation: UInt64 = 0
    }

    /// The key that signs.
    public let key: ProviderTokenKey
    private let clock: any ServiceClock
    private let chance: @Sendable () -> Double
    private let state: Mutex<State>

    /// Creates a cache.
    ///
    /// - Parameter chance: numbers between 0 and 1 that place each renewal inside the jitter.
    public init(
        key: ProviderTokenKey, policy: ProviderTokenPolicy = ProviderTokenPolicy(), clock: any ServiceClock,
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) {
        self.key = key
        self.clock = clock
        self.chance = chance
        state = Mutex(State(schedule: ProviderTokenSchedule(policy: policy)))
    }

    /// The token to send now; signs one when there is none or the one in use is old enough.
    ///
    /// - Throws: the error of the signing library, and only when there is no older token to go on with.
    public func current() throws -> ProviderToken {
        try state.withLock { state in
            let uptime = clock.uptime
            if let token = state.token, !state.schedule.isDue(at: uptime) { return token }
            do {
                let token = try ProviderToken(signedBy: key, issuedAt: clock.now, generation: state.generation + 1)
                state.generation += 1
                state.token = token
                state.schedule.signed(at: uptime, chance: chance())
                return token
            } catch {
                guard let token = state.token else { throw error }
                return token
            }
        }
    }

    /// How old the token in use is; `nil` before the first.
    public var age: Duration? { state.withLock { $0.schedule.age(at: clock.uptime) } }

    /// Tells that APNs answered `ExpiredProviderToken` to the token of this generation.
    public func reportExpired(generation: UInt64) -> Renewal {
        state.withLock { state in
            if state.generation > generation { return .renewed }
            return state.schedule.expired(at: clock.uptime) ? .renewed : .tokenIsYoung
        }
    }
}
