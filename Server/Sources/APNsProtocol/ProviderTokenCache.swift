import RichPushModel
import Synchronization
import WireText

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
    private let make: @Sendable (Timestamp) throws -> ProviderToken
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
        make = { now in try ProviderToken(signedBy: key, issuedAt: now) }
        self.clock = clock
        self.chance = chance
        state = Mutex(State(schedule: ProviderTokenSchedule(policy: policy)))
    }

    /// Creates a cache of a token that is made elsewhere, for example one that several processes share.
    ///
    /// - Parameter source: the token in use everywhere. Called on an event loop when there is no token or the one in use is
    ///   old, at most once a minute then: it must return at once, so it hands over what something else keeps fresh.
    public init(
        source: @escaping @Sendable () throws -> ProviderToken, policy: ProviderTokenPolicy = ProviderTokenPolicy(),
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

    /// The same for a token that was requested within this duration; `nil` for an unused one, whose age does not matter.
    public func age(ifUsedWithin duration: Duration) -> Duration? {
        state.withLock { state in
            let uptime = clock.uptime
            return uptime - state.usedAt <= duration ? state.schedule.age(at: uptime) : nil
        }
    }

    /// Takes a token into use. The same text again is the same token to APNs, so it stays the same here.
    private func accept(_ made: ProviderToken, _ state: inout State) -> ProviderToken {
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

    /// Reports that APNs answered `ExpiredProviderToken` to the token of this generation.
    public func reportExpired(generation: UInt64) -> Renewal {
        state.withLock { state in
            if state.generation > generation { return .renewed }
            // A source that has just had nothing newer: asking APNs again with the same token leads nowhere.
            if clock.uptime < state.nextQuestion { return .tokenIsYoung }
            return state.schedule.expired(at: clock.uptime) ? .renewed : .tokenIsYoung
        }
    }
}

/// A signed provider token: a JWT with `alg` and `kid`, `iss` and `iat`, ES256 (Reference/APNs.md#2-1).
///
/// Signing the same claims again gives other bytes, which APNs counts as a new token. So the text is what is kept and shared.
public struct ProviderToken: Sendable, Hashable {
    /// The compact form, without the word `bearer`. A secret: never log it.
    public let text: String
    /// The wall-clock moment in its `iat`.
    public let issuedAt: Timestamp
    /// Counts the tokens of one cache; a greater number is a younger token. 0 before a cache takes it.
    public let generation: UInt64

    /// Wraps a token that was signed elsewhere, for example one that several processes share.
    public init(text: String, issuedAt: Timestamp, generation: UInt64 = 0) {
        self.text = text
        self.issuedAt = issuedAt
        self.generation = generation
    }

    /// Signs a token.
    public init(signedBy key: ProviderTokenKey, issuedAt: Timestamp, generation: UInt64 = 0) throws {
        // Written by hand, because both ids are letters and digits only and the shortest form is wanted on the wire.
        let header = Base64URL.text(of: Array(#"{"alg":"ES256","kid":"\#(key.keyID)"}"#.utf8))
        let claims = Base64URL.text(of: Array(#"{"iss":"\#(key.teamID)","iat":\#(issuedAt.seconds)}"#.utf8))
        let message = header + "." + claims
        let signature = try key.signature(of: message.utf8)
        self.init(text: message + "." + Base64URL.text(of: signature), issuedAt: issuedAt, generation: generation)
    }

    /// The value of the `authorization` header.
    public var authorization: String { "bearer " + text }
}

extension ProviderToken: CustomStringConvertible {
    /// Never the token itself.
    public var description: String { "provider token \(generation), issued at \(issuedAt.seconds)" }
}

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
