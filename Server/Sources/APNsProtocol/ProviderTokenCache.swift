import RichPushModel
import Synchronization

/// The one holder of the provider token of a key: every connection of the process takes its token here.
///
/// Renewal is by age on the clock that never jumps; the wall clock only writes `iat`. Signing happens under the lock, so
/// it is single-flight, and takes well below a millisecond every 45 minutes. Several processes that send for one team share a
/// token through `init(source:)`, because APNs counts the changes of all of them (Reference/APNs.md#2-1).
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
        /// When the token was last asked for.
        var usedAt: Duration = .zero
        /// A source that has nothing newer is not asked again before then.
        var nextQuestion: Duration = .zero
    }

    /// Makes a token for this moment, or hands over the one that is shared.
    private let make: @Sendable (Timestamp) throws -> SharedProviderToken
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
        make = { now in
            let token = try ProviderToken(signedBy: key, issuedAt: now)
            return SharedProviderToken(text: token.text, issuedAt: now)
        }
        self.clock = clock
        self.chance = chance
        state = Mutex(State(schedule: ProviderTokenSchedule(policy: policy)))
    }

    /// Creates a cache of a token that is made elsewhere, for example one that several processes share.
    ///
    /// - Parameter source: the token in use everywhere. Called on an event loop when there is no token or the one in use is
    ///   old, at most once a minute then: it must return at once, so it hands over what something else keeps fresh.
    public init(
        source: @escaping @Sendable () throws -> SharedProviderToken, policy: ProviderTokenPolicy = ProviderTokenPolicy(),
        clock: any ServiceClock
    ) {
        make = { _ in try source() }
        self.clock = clock
        chance = { 0 }
        state = Mutex(State(schedule: ProviderTokenSchedule(policy: policy)))
    }

    /// The token to send now; signs one when there is none or the one in use is old enough.
    ///
    /// - Throws: the error of the signing library, and only when there is no older token to go on with.
    public func current() throws -> ProviderToken {
        try state.withLock { state in
            let uptime = clock.uptime
            state.usedAt = uptime
            if let token = state.token, !state.schedule.isDue(at: uptime) || uptime < state.nextQuestion { return token }
            do {
                return accept(try make(clock.now), &state)
            } catch {
                guard let token = state.token else { throw error }
                state.nextQuestion = uptime + .seconds(60)
                return token
            }
        }
    }

    /// How old the token in use is; `nil` before the first.
    public var age: Duration? { state.withLock { $0.schedule.age(at: clock.uptime) } }

    /// The same for a token that was asked for not longer ago than this; `nil` for one that nobody uses, which may grow old.
    public func age(ifUsedWithin duration: Duration) -> Duration? {
        state.withLock { state in
            let uptime = clock.uptime
            return uptime - state.usedAt <= duration ? state.schedule.age(at: uptime) : nil
        }
    }

    /// Takes a token into use. The same text again is the same token to APNs, so it stays the same here.
    private func accept(_ made: SharedProviderToken, _ state: inout State) -> ProviderToken {
        let uptime = clock.uptime
        if let token = state.token, token.text == made.text {
            state.nextQuestion = uptime + .seconds(60)
            return token
        }
        state.generation += 1
        let token = ProviderToken(text: made.text, issuedAt: made.issuedAt, generation: state.generation)
        state.token = token
        // A shared token may be old already. Only here the wall clock is compared, once per token.
        let age = max(.zero, min(clock.now - made.issuedAt, .seconds(3600)))
        state.schedule.signed(at: uptime - age, chance: chance())
        return token
    }

    /// How far a server's clock is ahead of this machine's; negative when it is behind.
    public func skew(ofServerDate date: Timestamp) -> Duration { date - clock.now }

    /// Tells that APNs answered `ExpiredProviderToken` to the token of this generation.
    public func reportExpired(generation: UInt64) -> Renewal {
        state.withLock { state in
            if state.generation > generation { return .renewed }
            // A source that has just had nothing newer: asking APNs again with the same token leads nowhere.
            if clock.uptime < state.nextQuestion { return .tokenIsYoung }
            return state.schedule.expired(at: clock.uptime) ? .renewed : .tokenIsYoung
        }
    }
}
