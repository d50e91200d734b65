import RichPushModel
import ServiceErrors
import SharedAccess

/// Says whose a session of the console is. Costs one read at most every five seconds for each session, as for installation credentials,
/// so that one that was ended holds no longer than that on the other nodes.
final class ConsoleAuthenticator: Sendable {
    private let store: any BackendStore
    private let clock: any ServiceClock
    private let idle: Duration
    private let cache = VerifiedCredentials<Principal>(lifetime: BearerAuthenticator.recheckInterval)
    private let uses = UseNotes<[UInt8]>()

    /// - Parameter idle: how long a session holds without being used.
    init(store: any BackendStore, clock: any ServiceClock, idle: Duration) {
        self.store = store
        self.clock = clock
        self.idle = idle
    }

    /// Throws `unauthenticated` for a secret that is malformed (`nil`), and for a session that is unknown, ended or expired: one answer for
    /// all.
    func authenticate(_ secret: PrefixedSecret?) async throws -> Principal {
        guard let secret, secret.kind == .consoleSession else { throw Self.notValid }
        let digest = secret.digest
        if let known = cache.value(for: digest, at: clock.uptime) { return known }
        guard let (session, user) = try await store.consoleSession(.session, digest: digest),
            session.holds(for: user, at: clock.now)
        else { throw Self.notValid }
        try await noteUse(of: session)
        var principal = Principal(user: user)
        principal.consoleSession = digest
        cache.store(principal, for: digest, at: clock.uptime)
        return principal
    }

    static let notValid = ServiceError(.unauthenticated, "the session of the console has ended")

    /// Forgets what was verified before.
    func forget() { cache.forget() }

    private func noteUse(of session: ConsoleSession) async throws {
        guard uses.isDue(session.digest, at: clock.uptime) else { return }
        try await store.extendConsoleSession(session.digest, until: min(clock.now + idle, session.endsAt))
    }
}
