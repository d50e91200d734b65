import RichPushModel
import ServiceErrors
import SharedAccess

/// Says who an installation credential belongs to. Costs one read at most every five seconds for each credential, and no
/// password hash, so that a storm of fetches is cheap.
final class BearerAuthenticator: Sendable {
    private let store: any CredentialStore
    private let clock: any ServiceClock
    private let lifetime: Duration
    private let cache: VerifiedCredentials<Principal>

    init(store: any CredentialStore, clock: any ServiceClock, lifetime: Duration) {
        self.store = store
        self.clock = clock
        self.lifetime = lifetime
        cache = VerifiedCredentials(lifetime: Self.recheckInterval)
    }

    /// Revocation takes at most this long.
    static let recheckInterval: Duration = .seconds(5)

    /// Throws `unauthenticated` for a credential that is malformed, unknown, revoked or expired: one answer for all.
    func authenticate(_ text: String) async throws -> Principal {
        let key = cache.key(of: [text])
        if let principal = cache.value(for: key, at: clock.uptime) { return principal }
        guard let presented = InstallationCredential(text: text),
            let (stored, user) = try await store.credential(of: presented.installation),
            presented.matches(digest: stored.digest), stored.user == user.id,
            stored.credentialVersion == user.credentialVersion, clock.now < stored.expiresAt
        else { throw ServiceError(.unauthenticated, "the installation credential is not valid") }
        try await slide(stored)
        let principal = Principal(user: user, installation: presented.installation)
        cache.store(principal, for: key, at: clock.uptime)
        return principal
    }

    /// Forgets what was verified before.
    func forget() { cache.forget() }

    /// Written at most once a day, so that fetching does not write.
    private func slide(_ stored: StoredInstallationCredential) async throws {
        let expiry = clock.now + lifetime
        guard expiry - stored.expiresAt > .seconds(24 * 3600) else { return }
        try await store.extend(stored, until: expiry)
    }
}
