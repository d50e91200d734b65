import RichPushModel
import ServiceErrors
import SharedAccess
import Synchronization

/// Says who an installation credential belongs to. Costs one read at most every five seconds for each credential, and no
/// password hash, so that a storm of fetches is cheap.
final class BearerAuthenticator: Sendable {
    private let store: any BackendStore
    private let clock: any ServiceClock
    private let lifetime: Duration
    private let cache: VerifiedCredentials<Principal>

    init(store: any BackendStore, clock: any ServiceClock, lifetime: Duration) {
        self.store = store
        self.clock = clock
        self.lifetime = lifetime
        cache = VerifiedCredentials(lifetime: Self.recheckInterval)
    }

    /// Revocation takes at most this long.
    static let recheckInterval: Duration = .seconds(5)

    /// Throws `unauthenticated` for a credential that is malformed, unknown, revoked or expired: one answer for all.
    func authenticate(_ text: String) async throws -> Principal {
        guard let presented = InstallationCredential(text: text) else { throw Self.notValid }
        // By installation, so that a new credential takes the place of the one before.
        let key = cache.key(of: [presented.installation.text])
        if let known = cache.value(for: key, at: clock.uptime), known.credentialDigest.map(presented.matches) == true {
            return known
        }
        guard let (stored, user) = try await store.credential(of: presented.installation),
            presented.matches(digest: stored.digest), stored.user == user.id,
            stored.credentialVersion == user.credentialVersion, clock.now < stored.expiresAt, user.disabledAt == nil
        else { throw Self.notValid }
        try await slide(stored)
        let principal = Principal(user: user, installation: presented.installation, credentialDigest: stored.digest)
        cache.store(principal, for: key, at: clock.uptime)
        return principal
    }

    static let notValid = ServiceError(.unauthenticated, "the installation credential is not valid")

    /// Forgets what was verified before.
    func forget() { cache.forget() }

    /// Forgets what was verified for one installation, since its credential was replaced or is gone.
    func forget(_ installation: String) { cache.remove(cache.key(of: [installation])) }

    /// Written at most once a day, so that fetching does not write.
    private func slide(_ stored: StoredInstallationCredential) async throws {
        let expiry = clock.now + lifetime
        guard expiry - stored.expiresAt > .seconds(24 * 3600) else { return }
        try await store.extend(stored, until: expiry)
    }
}

/// A bounded memory of credentials that were verified a short while ago, under a keyed digest.
final class VerifiedCredentials<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        var until: Duration
    }

    private let digest = KeyedDigest()
    private let lifetime: Duration
    private let capacity: Int
    private let entries = Mutex<[[UInt8]: Entry]>([:])

    init(lifetime: Duration, capacity: Int = 20_000) {
        self.lifetime = lifetime
        self.capacity = capacity
    }

    /// The name of a credential in this memory.
    func key(of parts: [String]) -> [UInt8] { digest.digest(of: parts) }

    func value(for key: [UInt8], at uptime: Duration) -> Value? {
        entries.withLock { entries in
            guard let entry = entries[key], uptime < entry.until else { return nil }
            return entry.value
        }
    }

    func store(_ value: Value, for key: [UInt8], at uptime: Duration) {
        entries.withLock { entries in
            if entries.count >= capacity { entries = entries.filter { uptime < $0.value.until } }
            if entries.count >= capacity { entries.removeAll(keepingCapacity: true) }
            entries[key] = Entry(value: value, until: uptime + lifetime)
        }
    }

    /// Forgets one.
    func remove(_ key: [UInt8]) { entries.withLock { $0[key] = nil } }

    /// Forgets all.
    func forget() { entries.withLock { $0.removeAll() } }
}

/// When the use of each credential was noted last, so that each node writes it at most once a minute. Bounded.
final class UseNotes<ID: Hashable & Sendable>: Sendable {
    private static var capacity: Int { 10_000 }

    private let noted = Mutex<[ID: Duration]>([:])

    /// Whether a use is to be noted now; it counts as noted then.
    func isDue(_ id: ID, at uptime: Duration) -> Bool {
        noted.withLock { noted in
            if let last = noted[id], uptime - last < .seconds(60) { return false }
            if noted.count >= Self.capacity { noted.removeAll(keepingCapacity: true) }
            noted[id] = uptime
            return true
        }
    }
}
