import RichPushModel
import ServiceErrors
import SharedAccess

/// The rich push tutorial's sign-in: any well-formed name that equals its password. Creates the user, with role `sender`, at the
/// first sign-in. For the demonstration on loopback only; what `serve` composes never holds one.
public struct DemonstrationAuthenticator: UserAuthenticator {
    private let users: any UserStore
    private let clock: any ServiceClock

    /// Creates an authenticator.
    public init(users: any UserStore, clock: any ServiceClock) {
        self.users = users
        self.clock = clock
    }

    public func authenticate(user: String, password: String, from source: SourceAddress) async throws -> User {
        // A user is one however the name is written, so the password is as well.
        guard let name = UserName(user), user.lowercased() == password.lowercased() else {
            throw ServiceError(
                .unauthenticated,
                "in the demonstration any name of 1 to 64 English letters, digits and _ @ . - signs in with itself as the password"
            )
        }
        if let stored = try await users.user(named: name) { return stored.user }
        do {
            return try await users.create(name: name, role: .sender, password: nil, at: clock.now)
        } catch let error as ServiceError where error.code == .conflict {
            // Two first sign-ins at the same moment: the other one created the user.
            guard let stored = try await users.user(named: name) else { throw error }
            return stored.user
        }
    }

    public func forget() {}
}
