import AuditTrail
import RichPushModel
import ServiceErrors
import SharedAccess

/// Authenticates a user name and password. Local passwords are one implementation; others use the same port.
public protocol UserAuthenticator: Sendable {
    /// The user. Throws `ServiceError`: `unauthenticated`, `too-many-attempts`, `overloaded`.
    ///
    /// Calls `refused` once for each wrong password that it checked, for the audit; of requests that shared the check, one. What that throws
    /// is thrown instead.
    func authenticate(
        user: String, password: String, from source: SourceAddress, refused: () async throws -> Void
    ) async throws -> User

    /// Forgets all earlier verifications, after a password change on this node.
    func forget()
}

/// The rich push tutorial's sign-in: any well-formed name that equals its password. Creates the user, with role `sender`, at the
/// first sign-in. For the demonstration on loopback only; what `serve` composes never holds one.
public struct DemonstrationAuthenticator: UserAuthenticator {
    private let users: any BackendStore
    private let clock: any ServiceClock

    /// Creates an authenticator.
    public init(users: any BackendStore, clock: any ServiceClock) {
        self.users = users
        self.clock = clock
    }

    public func authenticate(
        user: String, password: String, from source: SourceAddress, refused: () async throws -> Void
    ) async throws -> User {
        // A user is one however the name is written, so the password is as well.
        guard let name = UserName(user), user.lowercased() == password.lowercased() else {
            try await refused()
            throw ServiceError(
                .unauthenticated,
                "in the demonstration any name of 1 to 64 English letters, digits and _ @ . - signs in with itself as the password"
            )
        }
        if let stored = try await users.user(named: name) { return stored.user }
        do {
            let now = clock.now
            let entry = AuditEntry(
                .userCreated, by: .user(name.text), from: source.prefix, at: now, subject: name.text, details: "role=sender")
            return try await users.createUser(NewUser(name: name, role: .sender, password: nil), at: now, audit: entry)
        } catch let error as ServiceError where error.code == .conflict {
            // Two first sign-ins at the same moment: the other one created the user.
            guard let stored = try await users.user(named: name) else { throw error }
            return stored.user
        }
    }

    public func forget() {}
}
