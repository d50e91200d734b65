import RichPushModel
import ServiceErrors
import SharedAccess
import Synchronization

/// Local passwords.
///
/// - A verified pair is remembered for five minutes under a keyed digest; the user is read again at most every five seconds,
///   so a password change, a new role or a removal counts on every node within that time.
/// - Failures are throttled by (user, source prefix); a remembered success is never blocked.
/// - An unknown user costs the same hash as a known one.
/// - The queue of hashes is bounded, and of what waits in it one network may have half and one user an eighth: a flood from one place
///   is refused with `overloaded` and leaves room for others.
public final class PasswordAuthenticator: UserAuthenticator {
    private let users: any UserStore
    private let hasher: PasswordHasher
    private let clock: any ServiceClock
    private let decoy: PasswordHash
    private let verified = VerifiedCredentials<User>(lifetime: .seconds(300))
    private let fresh = VerifiedCredentials<User>(lifetime: .seconds(5))
    private let throttle: Mutex<SignInThrottle>
    private let shares: Mutex<HashingShares>
    private let verification = SharedVerification<User>()

    /// Creates an authenticator. Hashes one random password, for users that do not exist.
    public init(users: any UserStore, hasher: PasswordHasher, clock: any ServiceClock) async throws {
        self.users = users
        self.hasher = hasher
        self.clock = clock
        throttle = Mutex(SignInThrottle())
        shares = Mutex(HashingShares(capacity: hasher.capacity))
        decoy = try await hasher.hash(Hexadecimal.random(byteCount: 16))
    }

    public func authenticate(user: String, password: String, from source: SourceAddress) async throws -> User {
        let key = verified.key(of: [user.lowercased(), password])
        if let user = fresh.value(for: key, at: clock.uptime) { return user }
        if let user = try await recheck(key) { return user }
        return try await verification.run(key) {
            try await self.attempt(user: user, password: password, key: key, source: source)
        }
    }

    public func forget() {
        verified.forget()
        fresh.forget()
    }

    /// The user of a pair that was verified a short while ago, if nothing changed since.
    private func recheck(_ key: [UInt8]) async throws -> User? {
        guard let known = verified.value(for: key, at: clock.uptime) else { return nil }
        guard let user = try await users.user(known.id), user.credentialVersion == known.credentialVersion else {
            verified.remove(key)
            return nil
        }
        fresh.store(user, for: key, at: clock.uptime)
        return user
    }

    private func attempt(user: String, password: String, key: [UInt8], source: SourceAddress) async throws -> User {
        let pair = SignInThrottle.Key(user: String(user.lowercased().prefix(64)), source: source)
        if case .wait(let seconds) = throttle.withLock({ $0.begin(pair, at: clock.uptime) }) {
            throw ServiceError(.tooManyAttempts, "too many failed sign-ins for this user from here", retryAfter: seconds)
        }
        do {
            guard let found = try await verifyInTurn(pair, user: user, password: password) else {
                throw ServiceError(.unauthenticated, "user name or password is wrong")
            }
            throttle.withLock { $0.succeed(pair) }
            verified.store(found, for: key, at: clock.uptime)
            fresh.store(found, for: key, at: clock.uptime)
            return found
        } catch let error as ServiceError where error.code == .unauthenticated {
            throw error
        } catch {
            throttle.withLock { $0.withdraw(pair) }
            throw error
        }
    }

    private func verifyInTurn(_ pair: SignInThrottle.Key, user: String, password: String) async throws -> User? {
        guard shares.withLock({ $0.take(pair) }) else { throw PasswordHashFault.queueFull.serviceError }
        defer { shares.withLock { $0.giveBack(pair) } }
        return try await verify(user: user, password: password)
    }

    private func verify(user: String, password: String) async throws -> User? {
        let stored: StoredUser? =
            if let name = UserName(user) { try await users.user(named: name) } else { nil }
        do {
            let isRight = try await hasher.verify(password, against: stored?.password ?? decoy)
            return isRight && stored?.password != nil ? stored?.user : nil
        } catch {
            throw error.serviceError
        }
    }
}

extension PasswordHashFault {
    /// What a caller is told.
    var serviceError: ServiceError {
        switch self {
        case .queueFull:
            ServiceError(
                .overloaded, "too many sign-ins are waiting to be checked", retryAfter: PasswordHasher.retryAfter)
        case .stopped: ServiceError(.notReady, "the server is stopping", retryAfter: PasswordHasher.retryAfter)
        case .derivationFailed: ServiceError(.internal, "a password could not be hashed")
        }
    }
}
