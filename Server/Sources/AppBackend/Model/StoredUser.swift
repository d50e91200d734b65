import SharedAccess

/// A user with what verifies their password. Stays inside the server.
public struct StoredUser: Sendable {
    public var user: User
    /// Absent for a user who cannot sign in with a password.
    public var password: PasswordHash?

    /// Creates a stored user.
    public init(user: User, password: PasswordHash?) {
        self.user = user
        self.password = password
    }
}
