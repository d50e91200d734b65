import RichPushModel
import ServiceErrors
import SharedAccess
import Synchronization
import WireText

/// Local passwords.
///
/// - A verified pair is remembered for five minutes under a keyed digest; the user is read again at most every five seconds,
///   so a password change, a new role or a removal counts on every node within that time.
/// - Failures are counted as `SignInCounts` says, for all nodes together; a remembered success is never blocked.
/// - An unknown user costs the same hash as a known one.
/// - A hash of another cost than new ones have is replaced after a right password.
/// - The queue of hashes is bounded, and of what waits in it one network may have half and one user an eighth: a flood from one place
///   is refused with `overloaded` and leaves room for others.
public final class PasswordAuthenticator: UserAuthenticator {
    private let users: any BackendStore
    private let counter: SignInCounter
    private let hasher: PasswordHasher
    private let clock: any ServiceClock
    private let decoy: PasswordHash
    private let verified = VerifiedCredentials<User>(lifetime: .seconds(300))
    private let fresh = VerifiedCredentials<User>(lifetime: .seconds(5))
    private let shares: Mutex<HashingShares>
    private let verification = SharedVerification<User>()

    /// Creates an authenticator. Hashes one random password, for users that do not exist.
    public init(
        users: any BackendStore, counts: any SignInCountStore, hasher: PasswordHasher, clock: any ServiceClock
    ) async throws {
        self.users = users
        counter = SignInCounter(store: counts, clock: clock)
        self.hasher = hasher
        self.clock = clock
        shares = Mutex(HashingShares(capacity: hasher.capacity))
        decoy = try await hasher.hash(Hexadecimal.random(byteCount: 16))
    }

    public func authenticate(
        user: String, password: String, from source: SourceAddress, refused: () async throws -> Void
    ) async throws -> User {
        let key = verified.key(of: [user.lowercased(), password])
        if let user = fresh.value(for: key, at: clock.uptime) { return user }
        if let user = try await recheck(key) { return user }
        return try await verification.run(key) {
            try await self.attempt(user: user, password: password, key: key, source: source, refused)
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

    private func attempt(
        user: String, password: String, key: [UInt8], source: SourceAddress, _ refused: () async throws -> Void
    ) async throws -> User {
        let attempt = SignInAttempt(user: user, source: source)
        // Before anything is asked of the database, which a flood must not keep busy.
        guard shares.withLock({ $0.take(attempt) }) else { throw PasswordHashFault.queueFull.serviceError }
        defer { shares.withLock { $0.giveBack(attempt) } }
        let charge = try await counter.begin(attempt)
        do {
            guard let found = try await verify(user: user, password: password) else {
                try await counter.fail(attempt, charge)
                throw ServiceError(.unauthenticated, "user name or password is wrong")
            }
            verified.store(found, for: key, at: clock.uptime)
            fresh.store(found, for: key, at: clock.uptime)
            await counter.succeed(attempt, charge)
            return found
        } catch let error as ServiceError where [.unauthenticated, .tooManyAttempts].contains(error.code) {
            if error.code == .unauthenticated { try await refused() }
            throw error
        } catch {
            await counter.withdraw(attempt, charge)
            throw error
        }
    }

    private func verify(user: String, password: String) async throws -> User? {
        let name = UserName(user)
        let stored = if let name { try await users.user(named: name) } else { nil as (user: User, password: PasswordHash?)? }
        do {
            guard let stored, let hash = stored.password, stored.user.disabledAt == nil else {
                _ = try await hasher.verify(password, against: decoy)
                return nil
            }
            let isRight = try await hasher.verify(password, against: hash)
            if hash.cost != hasher.cost { try await raise(hash, of: stored.user, password: isRight ? password : nil) }
            return isRight ? stored.user : nil
        } catch let fault as PasswordHashFault {
            throw fault.serviceError
        }
    }

    /// Replaces a hash of another cost after a right password. After a wrong one (`nil`) it only takes the time that an unknown user
    /// takes, so that the response time does not reveal whether the user exists.
    private func raise(_ old: PasswordHash, of user: User, password: String?) async throws {
        guard let password else {
            _ = try await hasher.verify("", against: decoy)
            return
        }
        // The old hash is as right as before, so nothing here keeps a user out; the next sign-in tries again.
        guard let new = try? await hasher.hash(password) else { return }
        _ = try? await users.replaceHash(old, with: new, of: user.id)
    }
}

extension PasswordHashFault {
    /// The error for the caller.
    var serviceError: ServiceError {
        switch self {
        case .queueFull:
            ServiceError(.overloaded, "too many sign-ins are waiting to be checked", retryAfter: PasswordHasher.retryAfter)
        case .stopped: ServiceError(.notReady, "the server is stopping", retryAfter: PasswordHasher.retryAfter)
        case .derivationFailed: ServiceError(.internal, "a password could not be hashed")
        }
    }
}

/// Lets requests that carry the same credential at the same time share one verification: a phone that fetches ten things
/// at once must not cost ten password hashes.
final class SharedVerification<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value?, any Error>

    private let waiting = Mutex<[[UInt8]: [Waiter]]>([:])

    /// The outcome of `work`. The first caller runs it and the others wait; it must end within a bounded time.
    func run(_ key: [UInt8], _ work: () async throws -> Value) async throws -> Value {
        do {
            if let shared = try await join(key) { return shared }
        } catch is CancellationError where !Task.isCancelled {
            // The caller that ran the verification was cancelled, but this one was not.
            return try await run(key, work)
        }
        let outcome: Result<Value, any Error>
        do { outcome = .success(try await work()) } catch { outcome = .failure(error) }
        let waiters = waiting.withLock { $0.removeValue(forKey: key) } ?? []
        for waiter in waiters { waiter.resume(with: outcome.map { $0 }) }
        return try outcome.get()
    }

    /// The outcome of another caller, or `nil` if this one has to do the work.
    private func join(_ key: [UInt8]) async throws -> Value? {
        try await withCheckedThrowingContinuation { continuation in
            let isFirst = waiting.withLock { waiting in
                guard waiting[key] != nil else {
                    waiting[key] = []
                    return true
                }
                waiting[key]?.append(continuation)
                return false
            }
            if isFirst { continuation.resume(returning: nil) }
        }
    }
}

/// The shares of networks and accounts in the queue of password hashes. A value without I/O.
struct HashingShares: Sendable {
    private let ofSource: Int
    private let ofAccount: Int
    private var bySource: [SourceAddress: Int] = [:]
    private var byAccount: [String: Int] = [:]

    /// Shares of a queue in which `capacity` hashes may wait.
    init(capacity: Int) {
        ofSource = max(1, capacity / 2)
        ofAccount = max(1, capacity / 8)
    }

    /// Takes a place for an attempt, unless its network or its account has as many as they may.
    mutating func take(_ attempt: SignInAttempt) -> Bool {
        guard bySource[attempt.source, default: 0] < ofSource, byAccount[attempt.account, default: 0] < ofAccount else {
            return false
        }
        bySource[attempt.source, default: 0] += 1
        byAccount[attempt.account, default: 0] += 1
        return true
    }

    /// Gives a place back that was taken.
    mutating func giveBack(_ attempt: SignInAttempt) {
        Self.decrease(&bySource, attempt.source)
        Self.decrease(&byAccount, attempt.account)
    }

    private static func decrease<Key>(_ counts: inout [Key: Int], _ key: Key) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }
}
